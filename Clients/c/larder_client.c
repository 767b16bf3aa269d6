#include <stdlib.h>

#include "larder_connection.h"

// Reading

Envelope *larder_get(
    larder_client *client, Larder__V1__Identifier **identifiers, size_t count,
    larder_error *error) {
    Larder__V1__GetRequest body = LARDER__V1__GET_REQUEST__INIT;
    body.identifiers = identifiers;
    body.n_identifiers = count;
    Envelope request = LARDER__V1__ENVELOPE__INIT;
    request.body_case = LARDER__V1__ENVELOPE__BODY_GET;
    request.get = &body;
    Envelope *reply = larder_call(client, &request, LARDER__V1__ENVELOPE__BODY_BATCHES, error);
    if (reply && !larder_has_valid_batches(reply, error)) {
        larder__v1__envelope__free_unpacked(reply, NULL);
        return NULL;
    }
    return reply;
}

typedef struct {
    larder_batch_function *each;
    void *context;
} BatchesContext;

static bool pass_batches(void *context, const Envelope *reply, larder_error *error) {
    BatchesContext *batches = context;
    if (!larder_has_valid_batches(reply, error)) return false;
    for (size_t index = 0; index < reply->batches->n_batches; index++) {
        if (!batches->each(batches->context, reply->batches->batches[index])) return false;
    }
    return true;
}

bool larder_query(
    larder_client *client, const Larder__V1__Query *query, Larder__V1__Argument **arguments,
    size_t count, larder_batch_function *each, void *context, larder_error *error) {
    size_t length = larder__v1__query__get_packed_size(query);
    uint8_t *shape = malloc(length ? length : 1);
    if (!shape) return larder_fail_to_connect(error, "the query does not fit into memory");
    larder__v1__query__pack(query, shape);
    Larder__V1__QueryRequest body = LARDER__V1__QUERY_REQUEST__INIT;
    body.shape = (ProtobufCBinaryData){length, shape};
    body.arguments = arguments;
    body.n_arguments = count;
    body.credit = CREDIT;
    Envelope request = LARDER__V1__ENVELOPE__INIT;
    request.body_case = LARDER__V1__ENVELOPE__BODY_QUERY;
    request.query = &body;
    BatchesContext batches = {each, context};
    bool is_complete = larder_stream(
        client, &request, LARDER__V1__ENVELOPE__BODY_BATCHES, REQUEST_MILLISECONDS, pass_batches,
        &batches, error);
    free(shape);
    return is_complete;
}

// Writing

Envelope *larder_save(larder_client *client, Larder__V1__ChangeSet *set, larder_error *error) {
    Envelope request = LARDER__V1__ENVELOPE__INIT;
    request.body_case = LARDER__V1__ENVELOPE__BODY_SAVE;
    request.save = set;
    return larder_call(client, &request, LARDER__V1__ENVELOPE__BODY_SAVED, error);
}

Envelope *larder_save_repeatedly(
    larder_client *client, Larder__V1__ChangeSet *set, int milliseconds, larder_error *error) {
    if (!set->idempotency_key[0]) {
        larder_violate(error, "a set without an idempotency key cannot be sent again");
        return NULL;
    }
    int64_t deadline = larder_now() + milliseconds;
    for (;;) {
        Envelope *reply = larder_save(client, set, error);
        int64_t left = deadline - larder_now();
        if (reply || !larder_error_is_temporary(error) || left <= 0) return reply;
        larder_pause(PAUSE_MILLISECONDS_MIN);
        if (!larder_reconnect(client, (int)left, error)) return NULL;
    }
}

// The history

typedef struct {
    larder_history_function *each;
    void *context;
    Larder__V1__HistoryToken *position;
    bool is_stopped;
} HistoryContext;

static bool pass_history(void *context, const Envelope *reply, larder_error *error) {
    HistoryContext *history = context;
    const Larder__V1__HistoryReply *part = reply->transactions;
    if (!part->position) {
        return larder_violate(error, "the server sent a history without a position");
    }
    if (history->position) {
        history->position->epoch = part->position->epoch;
        history->position->number = part->position->number;
    }
    history->is_stopped = !history->each(history->context, part);
    return !history->is_stopped;
}

static bool read_history(
    larder_client *client, Larder__V1__HistoryRequest *body, HistoryContext *history,
    larder_error *error) {
    body->credit = CREDIT;
    Envelope request = LARDER__V1__ENVELOPE__INIT;
    request.body_case = LARDER__V1__ENVELOPE__BODY_HISTORY;
    request.history = body;
    return larder_stream(
        client, &request, LARDER__V1__ENVELOPE__BODY_TRANSACTIONS,
        body->follow ? UNLIMITED : REQUEST_MILLISECONDS, pass_history, history, error);
}

bool larder_history(
    larder_client *client, Larder__V1__HistoryRequest *request, larder_history_function *each,
    void *context, larder_error *error) {
    HistoryContext history = {each, context, NULL, false};
    return read_history(client, request, &history, error);
}

bool larder_follow(
    larder_client *client, Larder__V1__HistoryToken *position, int milliseconds,
    larder_history_function *each, void *context, larder_error *error) {
    HistoryContext history = {each, context, position, false};
    for (;;) {
        Larder__V1__HistoryRequest request = LARDER__V1__HISTORY_REQUEST__INIT;
        request.after = position;
        request.follow = true;
        bool is_complete = read_history(client, &request, &history, error);
        if (history.is_stopped || (!is_complete && !larder_error_is_temporary(error))) {
            return is_complete;
        }
        if (!larder_reconnect(client, milliseconds, error)) return false;
    }
}
