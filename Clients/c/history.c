#include <stdlib.h>
#include <string.h>

#include "internal.h"

// The history: transactions, one after the other. With `follows`, a lost connection is opened again
// after the last complete transaction.

struct larder_feed {
    Follower follower;
    Arena arena;
    Larder__V1__HistoryRequest request;
    Larder__V1__HistoryToken after;
    uint8_t after_store[UUID_BYTES];
    // The current reply, and the index of its next transaction.
    Envelope *reply;
    size_t index;
    larder_token position;
    // The current transaction, and the memory of its lists.
    bool has_transaction;
    larder_transaction transaction;
    Arena lists;
};

// Requests

static char **copy_names(Arena *arena, const char *const *names, size_t count) {
    char **copies = larder_arena_take(arena, count * sizeof *copies);
    for (size_t index = 0; copies && index < count; index++) {
        copies[index] = larder_arena_text(arena, names[index]);
        if (!copies[index]) return NULL;
    }
    return copies;
}

static void set_after(larder_feed *feed, const larder_token *token) {
    larder__v1__history_token__init(&feed->after);
    memcpy(feed->after_store, token->store, UUID_BYTES);
    feed->after.store = (ProtobufCBinaryData){UUID_BYTES, feed->after_store};
    feed->after.epoch = token->epoch;
    feed->after.number = token->number;
    feed->request.after = &feed->after;
}

static bool build_request(
    larder_feed *feed, const larder_history_query *query, larder_error *error) {
    Larder__V1__HistoryRequest *request = &feed->request;
    Arena *arena = &feed->arena;
    larder__v1__history_request__init(request);
    request->credit = CREDIT;
    request->follow = feed->follower.follows;
    request->newest_first = query->newest_first;
    request->without_changes = query->without_changes;
    if (query->limit < 0) {
        return larder_fail(error, LARDER_ERROR_MALFORMED_VALUE, "a limit is negative");
    }
    if (query->limit > 0) {
        request->limit_presence_case = LARDER__V1__HISTORY_REQUEST__LIMIT_PRESENCE_LIMIT;
        request->limit = query->limit;
    }
    if (query->after) {
        feed->position = *query->after;
        set_after(feed, query->after);
    }
    request->authors = copy_names(arena, query->authors, query->author_count);
    request->excluded_authors =
        copy_names(arena, query->excluded_authors, query->excluded_author_count);
    request->entities = copy_names(arena, query->entities, query->entity_count);
    request->properties = copy_names(arena, query->properties, query->property_count);
    request->n_authors = query->author_count;
    request->n_excluded_authors = query->excluded_author_count;
    request->n_entities = query->entity_count;
    request->n_properties = query->property_count;
    bool is_built = request->authors && request->excluded_authors && request->entities &&
                    request->properties;
    return is_built || larder_fail_memory(error);
}

static Envelope request_of(larder_feed *feed) {
    Envelope request = LARDER__V1__ENVELOPE__INIT;
    request.body_case = LARDER__V1__ENVELOPE__BODY_HISTORY;
    request.history = &feed->request;
    return request;
}

static larder_feed *open_feed(
    larder_client *client, const larder_history_query *query, bool follows,
    larder_error *error) {
    static const larder_history_query standard;
    larder_feed *feed = calloc(1, sizeof *feed);
    if (!feed) {
        larder_fail_memory(error);
        return NULL;
    }
    larder_retain(client);
    feed->follower = (Follower){
        .client = client, .kind = LARDER__V1__ENVELOPE__BODY_TRANSACTIONS, .follows = follows};
    Envelope request = request_of(feed);
    if (!build_request(feed, query ? query : &standard, error) ||
        !larder_follower_start(&feed->follower, &request, error)) {
        larder_feed_free(feed);
        return NULL;
    }
    return feed;
}

larder_feed *larder_history(
    larder_client *client, const larder_history_query *query, larder_error *error) {
    return open_feed(client, query, false, error);
}

larder_feed *larder_follow(
    larder_client *client, const larder_history_query *query, larder_error *error) {
    return open_feed(client, query, true, error);
}

// Replies

static larder_token read_token(const Larder__V1__HistoryToken *from) {
    larder_token token = {.epoch = from->epoch, .number = from->number};
    memcpy(token.store, from->store.data, UUID_BYTES);
    return token;
}

bool larder_position(larder_client *client, larder_token *token, larder_error *error) {
    Larder__V1__HistoryRequest body = LARDER__V1__HISTORY_REQUEST__INIT;
    body.newest_first = true;
    body.limit_presence_case = LARDER__V1__HISTORY_REQUEST__LIMIT_PRESENCE_LIMIT;
    Envelope request = LARDER__V1__ENVELOPE__INIT;
    request.body_case = LARDER__V1__ENVELOPE__BODY_HISTORY;
    request.history = &body;
    Envelope *reply = larder_call(
        client, &request, LARDER__V1__ENVELOPE__BODY_TRANSACTIONS, REPEAT_ALWAYS, NULL, error);
    if (!reply) return false;
    *token = read_token(reply->transactions->position);
    larder__v1__envelope__free_unpacked(reply, NULL);
    return true;
}

// Transactions

static bool read_runs(Arena *arena, const Larder__V1__HistoryTransaction *from, larder_run **runs) {
    *runs = larder_arena_take(arena, from->n_runs * sizeof **runs);
    for (size_t index = 0; *runs && index < from->n_runs; index++) {
        const Larder__V1__HistoryRun *run = from->runs[index];
        (*runs)[index] = (larder_run){
            (larder_change_kind)run->kind,        run->entity,          run->first_key,
            run->last_key, (const char *const *)run->properties, run->n_properties};
    }
    return *runs != NULL;
}

static bool read_values(
    Arena *arena, const Larder__V1__HistoryTombstone *from, larder_property **values) {
    *values = larder_arena_take(arena, from->n_values * sizeof **values);
    for (size_t index = 0; *values && index < from->n_values; index++) {
        const Larder__V1__PreservedValue *value = from->values[index];
        (*values)[index] = (larder_property){
            value->name, value->value ? larder_read_value(value->value) : larder_nil()};
    }
    return *values != NULL;
}

static bool read_tombstones(
    Arena *arena, const Larder__V1__HistoryTransaction *from, larder_tombstone **tombstones) {
    *tombstones = larder_arena_take(arena, from->n_tombstones * sizeof **tombstones);
    for (size_t index = 0; *tombstones && index < from->n_tombstones; index++) {
        const Larder__V1__HistoryTombstone *each = from->tombstones[index];
        larder_property *values;
        if (!read_values(arena, each, &values)) return false;
        (*tombstones)[index] =
            (larder_tombstone){each->entity, each->key, values, each->n_values};
    }
    return *tombstones != NULL;
}

// Makes the next transaction of the reply the current one.
static bool read_transaction(larder_feed *feed, larder_error *error) {
    const Larder__V1__HistoryReply *reply = feed->reply->transactions;
    const Larder__V1__HistoryTransaction *from = reply->transactions[feed->index];
    larder_arena_free(&feed->lists);
    feed->has_transaction = false;
    larder_run *runs;
    larder_tombstone *tombstones;
    if (!read_runs(&feed->lists, from, &runs) ||
        !read_tombstones(&feed->lists, from, &tombstones)) {
        return larder_fail_memory(error);
    }
    bool is_last = ++feed->index == reply->n_transactions;
    bool has_user =
        from->user_presence_case == LARDER__V1__HISTORY_TRANSACTION__USER_PRESENCE_USER;
    bool has_process =
        from->process_presence_case == LARDER__V1__HISTORY_TRANSACTION__PROCESS_PRESENCE_PROCESS;
    feed->transaction = (larder_transaction){
        .number = from->number,
        .time = from->time + SECONDS_FROM_1970_TO_2001,
        .author = from->author,
        .client = from->client,
        .user = has_user ? (int64_t)from->user : -1,
        .process = has_process ? (int64_t)from->process : -1,
        .is_partial = is_last && reply->partial,
        .runs = runs,
        .run_count = from->n_runs,
        .tombstones = tombstones,
        .tombstone_count = from->n_tombstones,
    };
    feed->has_transaction = true;
    larder_token position = read_token(reply->position);
    if (is_last) {
        feed->position = position;
    } else if (!feed->request.newest_first) {
        position.number = from->number;
        feed->position = position;
    }
    return true;
}

static void free_reply(larder_feed *feed) {
    if (feed->reply) larder__v1__envelope__free_unpacked(feed->reply, NULL);
    feed->reply = NULL;
    feed->index = 0;
}

int larder_feed_next(larder_feed *feed, int timeout_milliseconds, larder_error *error) {
    for (;;) {
        larder_error failure;
        if (feed->reply && feed->index < feed->reply->transactions->n_transactions) {
            if (read_transaction(feed, &failure)) return 1;
            larder_copy_error(error, &failure);
            return -1;
        }
        feed->has_transaction = false;
        if (feed->reply) {
            feed->position = read_token(feed->reply->transactions->position);
            free_reply(feed);
            if (feed->follower.follows) set_after(feed, &feed->position);
            if (feed->follower.stream) larder_stream_credit(feed->follower.stream);
        }
        Envelope request = request_of(feed);
        Reply reply;
        int found = larder_follower_next(
            &feed->follower, &request, timeout_milliseconds, &reply, &failure);
        if (found < 0) larder_copy_error(error, &failure);
        if (found != 1) return found;
        feed->reply = reply.envelope;
    }
}

const larder_transaction *larder_feed_transaction(const larder_feed *feed) {
    return feed->has_transaction ? &feed->transaction : NULL;
}

larder_token larder_feed_position(const larder_feed *feed) { return feed->position; }

void larder_feed_free(larder_feed *feed) {
    if (!feed) return;
    free_reply(feed);
    larder_stream_release(feed->follower.stream);
    larder_arena_free(&feed->lists);
    larder_arena_free(&feed->arena);
    larder_unretain(feed->follower.client);
    free(feed);
}
