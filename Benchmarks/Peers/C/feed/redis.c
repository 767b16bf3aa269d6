// Redis with hiredis: one transaction stores a student as a hash, and publishes its number or adds
// it to a stream. `feed-redis publish|stream SOCKET FILE`.
//
// The server has `appendfsync always`: it syncs its log before it sends replies and messages, so an
// event is durable when it arrives. A published message is lost if its subscriber is not connected;
// a stream keeps its entries, and its subscribers ask for the next ones with XREAD BLOCK.
#include "feed.h"
#include <hiredis/hiredis.h>

static const char *socket_path;
static int is_stream;

typedef struct {
    redisContext *context;
    // The entries that XREAD has returned, the index of the next one, and the id of the last one.
    redisReply *reply;
    size_t next;
    char last[48];
} subscriber;

static redisContext *open_connection(void) {
    redisContext *c = redisConnectUnix(socket_path);
    if (!c || c->err) fail(socket_path, c ? c->errstr : "no memory");
    return c;
}

static redisReply *next_reply(redisContext *c) {
    redisReply *reply = NULL;
    if (redisGetReply(c, (void **)&reply) != REDIS_OK) fail("redis", c->errstr);
    if (reply->type == REDIS_REPLY_ERROR) fail("redis", reply->str);
    return reply;
}

void reset_store(void) {
    redisContext *c = open_connection();
    redisAppendCommand(c, "FLUSHALL");
    freeReplyObject(next_reply(c));
    redisFree(c);
}

void *open_writer(void) { return open_connection(); }

void commit_student(void *writer, int64_t number) {
    student made = make_student(number);
    long long key = number;
    redisAppendCommand(writer, "MULTI");
    redisAppendCommand(
        writer, "HSET s:%lld name %b birthOfYear %lld score %.1f", key, made.name,
        strlen(made.name), (long long)made.birth_of_year, made.score);
    redisAppendCommand(
        writer, is_stream ? "XADD feed * student %lld" : "PUBLISH feed %lld", key);
    redisAppendCommand(writer, "EXEC");
    for (int i = 0; i < 4; i++) {
        redisReply *reply = next_reply(writer);
        if (i == 3 && (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2))
            fail("redis", "a transaction was not executed");
        freeReplyObject(reply);
    }
}

void close_writer(void *writer) { redisFree(writer); }

void *open_subscriber(void) {
    subscriber *made = calloc(1, sizeof *made);
    made->context = open_connection();
    strcpy(made->last, "0-0");
    if (!is_stream) {
        redisAppendCommand(made->context, "SUBSCRIBE feed");
        freeReplyObject(next_reply(made->context));
    }
    return made;
}

static int64_t next_message(subscriber *own) {
    redisReply *reply = next_reply(own->context);
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 3) fail("redis", "no message");
    int64_t number = atoll(reply->element[2]->str);
    freeReplyObject(reply);
    return number;
}

// A reply is an array of streams, each with its name and its entries; an entry is an id and the
// list of its fields and values.
static int64_t next_entry(subscriber *own) {
    if (!own->reply) {
        redisAppendCommand(own->context, "XREAD BLOCK 0 STREAMS feed %s", own->last);
        own->reply = next_reply(own->context);
        own->next = 0;
        if (own->reply->type != REDIS_REPLY_ARRAY || own->reply->elements != 1)
            fail("redis", "no entries");
    }
    const redisReply *entries = own->reply->element[0]->element[1];
    const redisReply *entry = entries->element[own->next++];
    int64_t number = atoll(entry->element[1]->element[1]->str);
    if (own->next == entries->elements) {
        snprintf(own->last, sizeof own->last, "%s", entry->element[0]->str);
        freeReplyObject(own->reply);
        own->reply = NULL;
    }
    return number;
}

int64_t next_event(void *connection) {
    return is_stream ? next_entry(connection) : next_message(connection);
}

int main(int argc, char **argv) {
    if (argc != 4) fail("usage", "feed-redis publish|stream SOCKET FILE");
    is_stream = !strcmp(argv[1], "stream");
    socket_path = argv[2];
    measure_feed(argv[3]);
}
