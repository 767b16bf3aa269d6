// Redis with hiredis over its Unix socket: one hash per student. `redis SOCKET`.
#include "peer.h"
#include <hiredis/hiredis.h>
#include <sys/epoll.h>
#include <unistd.h>

static const char *socket_path;

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

static void append_read(redisContext *c, int64_t read, int64_t count) {
    redisAppendCommand(
        c, "HMGET s:%lld name birthOfYear score", (long long)key_of_read(read, count));
}

static int64_t reply_checksum(const redisReply *reply) {
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 3) fail("redis", "no such student");
    redisReply **part = reply->element;
    return student_checksum(part[0]->len, atoll(part[1]->str), atof(part[2]->str));
}

static sample load(int64_t count) {
    redisContext *c = open_connection();
    redisAppendCommand(c, "FLUSHALL");
    freeReplyObject(next_reply(c));
    for (int64_t number = 1; number <= count; number++) {
        student made = make_student(number);
        redisAppendCommand(
            c, "HSET s:%lld name %b birthOfYear %lld score %.1f", (long long)number, made.name,
            strlen(made.name), (long long)made.birth_of_year, made.score);
        freeReplyObject(next_reply(c));
    }
    redisFree(c);
    return (sample){0, count};
}

static sample latency(int64_t reads, int64_t count) {
    redisContext *c = open_connection();
    double *times = malloc(reads * sizeof *times);
    int64_t checksum = 0;
    for (int64_t read = 0; read < reads; read++) {
        double start = microseconds();
        append_read(c, read, count);
        redisReply *reply = next_reply(c);
        times[read] = microseconds() - start;
        checksum += reply_checksum(reply);
        freeReplyObject(reply);
    }
    sample got = {median(times, reads), checksum};
    free(times);
    redisFree(c);
    return got;
}

static void flush(redisContext *c) {
    for (int done = 0; !done;)
        if (redisBufferWrite(c, &done) != REDIS_OK) fail("redis", c->errstr);
}

static sample rate(int64_t connections, int64_t depth, int64_t reads, int64_t count) {
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    redisContext **all = malloc(connections * sizeof *all);
    for (int64_t i = 0; i < connections; i++) {
        all[i] = open_connection();
        struct epoll_event event = {EPOLLIN, {.ptr = all[i]}};
        epoll_ctl(epoll, EPOLL_CTL_ADD, all[i]->fd, &event);
    }
    int64_t sent = 0, answered = 0;
    double start = microseconds();
    for (int64_t i = 0; i < connections; i++) {
        for (int64_t k = 0; k < depth; k++) append_read(all[i], sent++, count);
        flush(all[i]);
    }
    while (answered < sent) {
        struct epoll_event events[64];
        int ready = epoll_wait(epoll, events, 64, -1);
        for (int i = 0; i < ready; i++) {
            redisContext *c = events[i].data.ptr;
            if (redisBufferRead(c) != REDIS_OK) fail("redis", c->errstr);
            void *reply;
            while (redisReaderGetReply(c->reader, &reply) == REDIS_OK && reply) {
                if (((redisReply *)reply)->type != REDIS_REPLY_ARRAY)
                    fail("redis", "a read failed");
                freeReplyObject(reply);
                answered++;
                if (sent < reads) append_read(c, sent++, count);
            }
            flush(c);
        }
    }
    double time = microseconds() - start;
    for (int64_t i = 0; i < connections; i++) redisFree(all[i]);
    free(all);
    close(epoll);
    return (sample){answered / time * 1e6, 0};
}

sample answer(const char *command, const int64_t n[5]) {
    if (!strcmp(command, "load")) return load(n[0]);
    if (!strcmp(command, "latency")) return latency(n[0], n[1]);
    if (!strcmp(command, "rate")) return rate(n[0], n[1], n[3], n[4]);
    fail("unknown command", command);
    return (sample){0, 0};
}

int main(int argc, char **argv) {
    if (argc != 2) fail("usage", "redis SOCKET");
    socket_path = argv[1];
    answer_commands();
}
