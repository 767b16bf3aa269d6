// A client of larderd with blocking calls, after docs/protocol.md. It sends one request at a time;
// a client is for one thread. The *.pb-c.h are generated from Proto/; see ../README.md.
//
// Functions that can fail return false or NULL, and fill an error. After a CONNECTION_FAILED or a
// reply that violates the protocol, the connection is closed; larder_reconnect opens another one.
// An envelope that a function returns is freed with larder__v1__envelope__free_unpacked.
#ifndef LARDER_CLIENT_H
#define LARDER_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.pb-c.h"
#include "larder.pb-c.h"
#include "query.pb-c.h"

// A number of Proto/error.proto, 0 for none, with a message and a hint, which may be empty. Longer
// texts are cut.
typedef struct {
    uint32_t code;
    char message[1024];
    char hint[512];
} larder_error;

typedef struct larder_client larder_client;

// The number's name, as in UNKNOWN_ENTITY; "UNKNOWN_ERROR" for a number of a later server.
const char *larder_error_name(const larder_error *error);

// Whether the same request may succeed later: after a broken connection, TIMEOUT or UNAVAILABLE.
bool larder_error_is_temporary(const larder_error *error);

// Connects to the server at a socket's path. The name appears in the history.
larder_client *larder_connect(const char *path, const char *name, larder_error *error);

// Closes the connection and connects again, repeatedly for a time until there is a server.
bool larder_reconnect(larder_client *client, int milliseconds, larder_error *error);

void larder_close(larder_client *client);

// The store, and the limits of the connection; NULL while there is none.
const Larder__V1__WelcomeReply *larder_welcome(const larder_client *client);

// Reads objects. The reply has the valid batches of those that exist.
Larder__V1__Envelope *larder_get(
    larder_client *client, Larder__V1__Identifier **identifiers, size_t count,
    larder_error *error);

// Called with each valid batch of a result while they arrive; false cancels the rest.
typedef bool larder_batch_function(void *context, const Larder__V1__Batch *batch);

bool larder_query(
    larder_client *client, const Larder__V1__Query *query, Larder__V1__Argument **arguments,
    size_t count, larder_batch_function *each, void *context, larder_error *error);

// Saves changes as one transaction. If the connection breaks before the reply, they may or may not
// have been applied.
Larder__V1__Envelope *larder_save(
    larder_client *client, Larder__V1__ChangeSet *set, larder_error *error);

// Saves a set with an idempotency key, and sends it again for a time if its reply was lost. It is
// applied at most once. If the error is 200 to 499, it was not applied.
Larder__V1__Envelope *larder_save_repeatedly(
    larder_client *client, Larder__V1__ChangeSet *set, int milliseconds, larder_error *error);

// Called with each part of the history; false ends it. A large transaction has several parts, as in
// docs/protocol.md; after a lost connection it is sent from its beginning.
typedef bool larder_history_function(void *context, const Larder__V1__HistoryReply *part);

bool larder_history(
    larder_client *client, Larder__V1__HistoryRequest *request, larder_history_function *each,
    void *context, larder_error *error);

// Passes each transaction after a position, and then each new one, also over the end of a server.
// It ends if the function returns false, by an error, or after this time without a server. The
// position is changed to that of the last part.
bool larder_follow(
    larder_client *client, Larder__V1__HistoryToken *position, int milliseconds,
    larder_history_function *each, void *context, larder_error *error);

// A value of a column. `integer` is a number, a bool or the key of an object; `number` is a float,
// double or date; `bytes` and `length` are text in UTF-8 without a zero at its end, data or a UUID;
// `keys` and `length` are the objects of a to-many relationship.
typedef struct {
    bool is_nil;
    int64_t integer;
    double number;
    const uint8_t *bytes;
    const int64_t *keys;
    size_t length;
} larder_value;

// Returns the value in a row of a column of a valid batch.
larder_value larder_value_at(const Larder__V1__Column *column, size_t row);

// Writes the URI of an object as a string. Returns false if it does not fit.
bool larder_uri(const Larder__V1__Identifier *identifier, char *text, size_t size);

#endif
