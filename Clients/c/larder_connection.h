// The connection of a client: frames, requests and streams. Only the files of the client use it.
#ifndef LARDER_CONNECTION_H
#define LARDER_CONNECTION_H

#include "larder_client.h"

enum {
    REQUEST_MILLISECONDS = 10000,
    // A time that never ends.
    UNLIMITED = -1,
    PAUSE_MILLISECONDS_MIN = 10,
    // The replies of a stream that may be on their way.
    CREDIT = 4,
};

typedef Larder__V1__Envelope Envelope;
typedef Larder__V1__Envelope__BodyCase BodyCase;

// Fill an error, and return false.
bool larder_fail_to_connect(larder_error *error, const char *what);
bool larder_violate(larder_error *error, const char *what);

// Milliseconds of a clock that never goes back.
int64_t larder_now(void);
void larder_pause(int milliseconds);

// Sends a request, and returns its only reply, which is of this kind.
Envelope *larder_call(
    larder_client *client, Envelope *request, BodyCase kind, larder_error *error);

// Called with each reply of a stream. Returns false to end the stream, with an error or without.
typedef bool larder_reply_function(void *context, const Envelope *reply, larder_error *error);

// Sends a request for `batches` or `transactions` with credit, and allows a reply for each one.
bool larder_stream(
    larder_client *client, Envelope *request, BodyCase kind, int milliseconds,
    larder_reply_function *each, void *context, larder_error *error);

// Whether the columns of all batches of a reply agree with each other; otherwise fills the error.
bool larder_has_valid_batches(const Envelope *reply, larder_error *error);

#endif
