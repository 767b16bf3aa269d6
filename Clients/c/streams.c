#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

enum {
    // The server replies with TIMEOUT after the time of a request; a later reply never comes.
    SLACK_MILLISECONDS = 5000,
    // The replies that are still read after a time has passed.
    LATE_REPLIES_MAX = 64,
};

// Replies

// Removes a stream from its client after its last reply.
static void end(Stream *stream) {
    Stream **link = &stream->client->streams;
    while (*link != stream) link = &(*link)->next;
    *link = stream->next;
    stream->client = NULL;
    if (stream->is_abandoned) free(stream);
}

static void reject(larder_client *client, Envelope *envelope, uint32_t code, const char *what) {
    larder_error reason;
    larder_fail(&reason, code, "%s", what);
    larder__v1__envelope__free_unpacked(envelope, NULL);
    larder_disconnect(client, &reason);
}

static void pass(Stream *stream, Envelope *envelope, size_t length) {
    bool has_more = larder_has_more(envelope);
    if (stream->replaces && stream->reply_count > 0) {
        larder__v1__envelope__free_unpacked(stream->replies[--stream->reply_count].envelope, NULL);
    }
    if (stream->is_abandoned) {
        larder__v1__envelope__free_unpacked(envelope, NULL);
    } else {
        stream->replies[stream->reply_count++] = (Reply){envelope, length};
    }
    if (!stream->replaces) stream->credit--;
    if (!has_more) end(stream);
}

void larder_dispatch(larder_client *client, Envelope *envelope, size_t length) {
    bool is_failed = envelope->body_case == LARDER__V1__ENVELOPE__BODY_FAILED;
    if (is_failed && envelope->id == 0) {
        larder_error reason;
        larder_fail_reply(&reason, envelope->failed);
        larder__v1__envelope__free_unpacked(envelope, NULL);
        larder_disconnect(client, &reason);
        return;
    }
    if (envelope->body_case == LARDER__V1__ENVELOPE__BODY__NOT_SET) {
        reject(
            client, envelope, LARDER_ERROR_UNKNOWN_MESSAGE,
            "the server sent a message that is not a known reply");
        return;
    }
    Stream *stream = client->streams;
    while (stream && stream->id != envelope->id) stream = stream->next;
    const char *violation = NULL;
    larder_error error;
    if (!stream) {
        violation = "the server replied to another request";
    } else if (is_failed) {
        larder_fail_reply(&stream->error, envelope->failed);
        larder__v1__envelope__free_unpacked(envelope, NULL);
        end(stream);
        return;
    } else if (envelope->body_case != stream->kind) {
        violation = "the server replied with another message";
    } else if (stream->credit == 0) {
        violation = "the server sent more replies than the client allowed";
    } else if (!larder_is_valid_reply(envelope, &error)) {
        violation = error.message;
    }
    if (violation) {
        reject(client, envelope, LARDER_ERROR_MALFORMED_MESSAGE, violation);
    } else {
        pass(stream, envelope, length);
    }
}

// Streams

static bool has_room(const larder_client *client, bool *has_abandoned) {
    uint32_t count = 0;
    *has_abandoned = false;
    for (const Stream *stream = client->streams; stream; stream = stream->next) {
        if (stream->is_in_flight) count++;
        if (stream->is_in_flight && stream->is_abandoned) *has_abandoned = true;
    }
    // At the maximum the server would not read credit and cancellations.
    return count == 0 || count + 1 < client->requests_max;
}

// Waits until there are fewer requests than the server reads, if some of them were cancelled.
static bool make_room(larder_client *client, larder_error *error) {
    int64_t deadline = larder_reply_deadline(client);
    bool has_abandoned;
    while (!has_room(client, &has_abandoned)) {
        Wait wait = has_abandoned ? larder_wait(client, deadline) : WAIT_TIMEOUT;
        if (wait == WAIT_CANCELLED) {
            return larder_fail(error, LARDER_ERROR_CANCELLED, "the call was cancelled");
        }
        if (wait == WAIT_TIMEOUT) {
            return larder_fail(
                error, LARDER_ERROR_RESOURCE_EXHAUSTED,
                "a connection can have at most %u results at the same time; free some",
                client->requests_max - 1);
        }
        if (wait == WAIT_LOST) break;
    }
    if (client->socket >= 0) return true;
    larder_copy_error(error, &client->error);
    return false;
}

Stream *larder_stream_open(
    larder_client *client, Envelope *request, BodyCase kind, uint32_t credit, bool is_in_flight,
    larder_error *error) {
    if (is_in_flight && !make_room(client, error)) return NULL;
    Stream *stream = calloc(1, sizeof *stream);
    if (!stream) {
        larder_fail_memory(error);
        return NULL;
    }
    request->id = ++client->last_id;
    request->trace = client->trace ? client->trace : (char *)protobuf_c_empty_string;
    if (!larder_enqueue(client, request, error)) {
        free(stream);
        return NULL;
    }
    stream->next = client->streams;
    client->streams = stream;
    stream->client = client;
    stream->id = request->id;
    stream->kind = kind;
    stream->credit = credit;
    stream->is_in_flight = is_in_flight;
    stream->sent_at = client->queued_bytes;
    return stream;
}

int larder_stream_next(Stream *stream, int64_t deadline, Reply *reply, larder_error *error) {
    for (int late = 0;;) {
        if (stream->reply_count > 0) {
            *reply = stream->replies[0];
            stream->reply_count--;
            memmove(
                stream->replies, stream->replies + 1, stream->reply_count * sizeof *reply);
            return 1;
        }
        if (!stream->client) {
            if (stream->error.code == 0) return 0;
            larder_copy_error(error, &stream->error);
            return -1;
        }
        if (deadline != NEVER && larder_now() >= deadline && late++ > LATE_REPLIES_MAX) return 0;
        Wait wait = larder_wait(stream->client, deadline);
        if (wait == WAIT_TIMEOUT) return 0;
        if (wait == WAIT_CANCELLED) {
            larder_fail(error, LARDER_ERROR_CANCELLED, "the call was cancelled");
            return -1;
        }
    }
}

void larder_stream_credit(Stream *stream) {
    if (!stream->client) return;
    Larder__V1__CreditRequest body = LARDER__V1__CREDIT_REQUEST__INIT;
    body.request_id = stream->id;
    body.batches = 1;
    Envelope request = LARDER__V1__ENVELOPE__INIT;
    request.body_case = LARDER__V1__ENVELOPE__BODY_CREDIT;
    request.credit = &body;
    stream->credit++;
    larder_post(stream->client, &request);
}

void larder_stream_release(Stream *stream) {
    if (!stream) return;
    for (size_t index = 0; index < stream->reply_count; index++) {
        larder__v1__envelope__free_unpacked(stream->replies[index].envelope, NULL);
    }
    stream->reply_count = 0;
    if (!stream->client) {
        free(stream);
        return;
    }
    larder_client *client = stream->client;
    stream->is_abandoned = true;
    Larder__V1__CancelRequest body = LARDER__V1__CANCEL_REQUEST__INIT;
    body.request_id = stream->id;
    Envelope request = LARDER__V1__ENVELOPE__INIT;
    request.body_case = LARDER__V1__ENVELOPE__BODY_CANCEL;
    request.cancel = &body;
    larder_post(client, &request);
}

// Calls

int64_t larder_reply_deadline(const larder_client *client) {
    return larder_now() + client->timeout_milliseconds + SLACK_MILLISECONDS;
}

// Sends a request once. `was_sent` tells whether a lost reply leaves it unknown whether the server
// has executed it.
static Envelope *attempt(
    larder_client *client, Envelope *request, BodyCase kind, Stream **stream, bool *was_sent,
    larder_error *error) {
    *was_sent = false;
    uint32_t credit = stream ? CREDIT : 1;
    Stream *opened = larder_stream_open(client, request, kind, credit, true, error);
    if (!opened) return NULL;
    int64_t deadline = larder_reply_deadline(client);
    Reply reply;
    int found = -1;
    if (larder_flush(client, deadline, error)) {
        found = larder_stream_next(opened, deadline, &reply, error);
        if (found == 0) {
            larder_fail(
                error, LARDER_ERROR_CONNECTION_FAILED, "the server does not reply: %s",
                strerror(ETIMEDOUT));
            larder_disconnect(client, error);
        }
    }
    if (found == 1) {
        // The stream, if there is one, has the replies after the first.
        if (stream && (opened->client || opened->reply_count > 0 || opened->error.code != 0)) {
            *stream = opened;
        } else {
            larder_stream_release(opened);
        }
        return reply.envelope;
    }
    // Requests without a reply before UNAVAILABLE were not executed.
    *was_sent = opened->client || (opened->is_lost && opened->was_sent &&
                                   opened->error.code != LARDER_ERROR_UNAVAILABLE);
    larder_stream_release(opened);
    return NULL;
}

Envelope *larder_call(
    larder_client *client, Envelope *request, BodyCase kind, Repeat repeat, Stream **stream,
    larder_error *error) {
    int64_t deadline = larder_after(client->retry_milliseconds);
    larder_error failure = {0};
    bool is_uncertain = false;
    request->timeout_milliseconds = (uint32_t)client->timeout_milliseconds;
    for (int pause = PAUSE_MILLISECONDS_MIN;; pause *= 2) {
        bool was_sent = false;
        if (larder_ensure(client, deadline, &failure)) {
            Envelope *reply = attempt(client, request, kind, stream, &was_sent, &failure);
            if (reply) return reply;
        }
        if (was_sent && repeat != REPEAT_ALWAYS) is_uncertain = true;
        if (pause > PAUSE_MILLISECONDS_MAX) pause = PAUSE_MILLISECONDS_MAX;
        if (!larder_error_is_temporary(&failure) || (was_sent && repeat == REPEAT_NEVER) ||
            larder_now() + pause > deadline || !larder_pause(client, pause, &failure)) {
            break;
        }
    }
    // An error from 200 to 499 means that no attempt was applied.
    if (is_uncertain && (failure.code < 200 || failure.code >= 500)) {
        larder_fail(
            error, LARDER_ERROR_INDETERMINATE, "%s; the changes may have been applied",
            failure.message);
    } else {
        larder_copy_error(error, &failure);
    }
    return NULL;
}
