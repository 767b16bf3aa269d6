// The load of the YCSB core workloads, the same for each store: what an operation is, and what a
// store's protocol implements.
#pragma once
#include "../frames.h"
#include <stdatomic.h>

enum {
    FIELDS = 10,
    FIELD_BYTES = 100,
    SCAN_ROWS_MAX = 100,
    REQUEST_BYTES_MAX = 1 << 16,
    REPLY_BYTES_MAX = 1 << 18,
    CHUNK_RECORDS = 500,
};

typedef enum { READ, UPDATE, INSERT, SCAN, READ_MODIFY_WRITE } operation_kind;

typedef struct {
    operation_kind kind;
    int64_t number;   // the record, from 1; of a scan the first one
    int field;        // what an update sets
    int rows;         // what a scan asks for
    uint64_t variant; // selects the text that an update writes
} operation;

// One connection, with one operation in flight at most.
typedef struct {
    int descriptor, is_busy;
    operation operation;
    int step;             // an operation has one request or several, one after the other
    int pending;          // replies that the current request still waits for
    int64_t started;      // nanoseconds: when the operation began, or was due to begin
    int64_t inserted_key; // the key that the store gave to an insert
    int64_t rows, bytes;  // what a read or scan returned
    uint64_t checksum;    // of the same, if `checks` is set
    int checks;
    int64_t found[SCAN_ROWS_MAX]; // for a protocol whose scan first reads an index
    int found_count;
    size_t filled;
    unsigned char *reply;
} connection;

typedef struct {
    const char *name;
    // Connects and gets ready for operations.
    void (*open)(connection *c);
    // Replaces all records by `count` new ones, with the fastest means that the store has.
    void (*load)(int64_t count);
    // Writes the request of a step of an operation (which is no READ_MODIFY_WRITE) and sets
    // `pending`. Returns its length, or 0 if the operation has no such step.
    size_t (*encode)(connection *c, const operation *op, int step, unsigned char *out);
    // Reads the first message of what was received: returns its length, or 0 if it is incomplete.
    // Decrements `pending` if it completes a reply.
    size_t (*decode)(connection *c, const unsigned char *bytes, size_t filled);
} protocol;

extern const protocol larder_protocol, postgres_protocol, redis_protocol;
extern const char *socket_path;

// The store's key of each record; 0 while the record is not inserted.
int64_t key_of(int64_t number);

// Writes the text of a field, FIELD_BYTES characters: variant 0 is the loaded one.
void put_text(unsigned char *out, int64_t number, int field, uint64_t variant);

// Counts a field that was read, or the same field of several rows.
static inline void count_bytes(connection *c, const unsigned char *bytes, size_t length) {
    c->bytes += length;
    if (!c->checks) return;
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < length; i++) hash = (hash ^ bytes[i]) * 1099511628211u;
    c->checksum += hash;
}
