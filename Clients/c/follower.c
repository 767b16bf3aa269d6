#include "internal.h"

bool larder_follower_start(Follower *follower, Envelope *request, larder_error *error) {
    larder_client *client = follower->client;
    int64_t deadline = larder_after(client->retry_milliseconds);
    if (!larder_ensure(client, deadline, error)) return false;
    // A request that follows is not in flight.
    follower->stream = larder_stream_open(
        client, request, follower->kind, CREDIT, !follower->follows, error);
    if (!follower->stream) return false;
    if (larder_flush(client, larder_reply_deadline(client), error)) return true;
    larder_follower_stop(follower);
    return false;
}

void larder_follower_stop(Follower *follower) {
    larder_stream_release(follower->stream);
    follower->stream = NULL;
    follower->restart_count++;
}

// Sends the request again. Without a reply since the last time, it pauses before.
static bool restart(Follower *follower, Envelope *request, bool waits, larder_error *error) {
    larder_client *client = follower->client;
    if (!waits && client->socket < 0) {
        larder_copy_error(error, &client->error);
        return false;
    }
    if (follower->pause == 0) {
        follower->retry_deadline = larder_after(client->retry_milliseconds);
        follower->pause = PAUSE_MILLISECONDS_MIN;
    } else if (waits) {
        if (larder_now() + follower->pause > follower->retry_deadline) {
            follower->pause = 0;
            larder_copy_error(error, &follower->failure);
            return false;
        }
        if (!larder_pause(client, follower->pause, error)) return false;
        follower->pause *= 2;
        if (follower->pause > PAUSE_MILLISECONDS_MAX) follower->pause = PAUSE_MILLISECONDS_MAX;
    }
    return larder_follower_start(follower, request, error);
}

int larder_follower_next(
    Follower *follower, Envelope *request, int timeout_milliseconds, Reply *reply,
    larder_error *error) {
    int64_t deadline = larder_after(timeout_milliseconds);
    // A reply that does not depend on commits arrives in the time of a request.
    bool is_limited = deadline == NEVER && !follower->follows;
    if (is_limited) deadline = larder_reply_deadline(follower->client);
    bool waits = timeout_milliseconds != 0;
    for (;;) {
        if (follower->error.code != 0) {
            larder_copy_error(error, &follower->error);
            return -1;
        }
        if (!follower->stream && !restart(follower, request, waits, error)) return -1;
        int found = larder_stream_next(follower->stream, deadline, reply, error);
        if (found == 1) follower->pause = 0;
        if (found == 0 && is_limited && follower->stream->client) {
            larder_fail(
                error, LARDER_ERROR_CONNECTION_FAILED, "the server does not reply");
            larder_disconnect(follower->client, error);
            continue;
        }
        // Without a last reply, there was none in time, or the wait was cancelled.
        if (found == 1 || follower->stream->client) return found;
        if (found == 0 && !follower->follows) return 0;
        if (found == 0) {
            larder_fail(
                error, LARDER_ERROR_MALFORMED_MESSAGE,
                "the server ended a stream that has no end");
        }
        larder_follower_stop(follower);
        if (!follower->follows || !larder_error_is_temporary(error)) {
            follower->error = *error;
        } else if (waits) {
            follower->failure = *error;
        } else {
            return -1;
        }
    }
}
