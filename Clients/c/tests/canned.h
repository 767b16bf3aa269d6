// A server that sends prepared frames to each connection, whatever the client requests.
//
// A client numbers its requests from 1 on each connection: `hello` is 1, and the first call is 2.
// The frames are sent at once, and then the connection ends, so a client never waits for long.
#ifndef LARDER_CANNED_H
#define LARDER_CANNED_H

#include <stddef.h>

#include "internal.h"

enum { SCRIPTS_MAX = 4, SCRIPT_BYTES_MAX = 2 << 20 };

// The frames of one connection.
typedef struct {
    uint8_t bytes[SCRIPT_BYTES_MAX];
    size_t length;
    // Sends this number of bytes at once; 0 sends all.
    size_t piece;
    // Whether the connection stays open after the frames, until the client closes it.
    bool stays_open;
} Script;

// The scripts of the next connections, the last of which is used for all others.
extern Script canned_scripts[SCRIPTS_MAX];
extern size_t canned_count;
extern const uint8_t canned_store[16];

void canned_start(void);
const char *canned_path(void);
void canned_stop(void);

// Begins the script with an index, which is then the last one, with a welcome.
Script *canned_begin(size_t index);
void canned_bytes(Script *script, const void *bytes, size_t length);
void canned_envelope(Script *script, Envelope *envelope);
// Connects with no retries.
larder_client *canned_open(void);
// The number of connections so far.
int canned_connections(void);

#endif
