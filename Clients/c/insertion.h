// The state of an insert stream: the columns of its next batch, and its progress.
#ifndef LARDER_INSERTION_H
#define LARDER_INSERTION_H

#include "internal.h"

enum {
    BATCH_ROWS_MAX = 4096,
    BATCH_BYTES_MAX = 256 << 10,
    // The batches that the server may not have processed.
    BATCHES_IN_FLIGHT_MAX = 4,
};

// A column of the next batch. The arrays are longer than their counts in the message.
typedef struct {
    Column message;
    size_t integer_capacity, double_capacity, heap_capacity, end_capacity, index_capacity;
    uint8_t nulls[BATCH_ROWS_MAX / 8];
    size_t subentity_capacity;
    // Whether a row of the batch is nil.
    bool has_nil;
} Builder;

struct larder_insertion {
    larder_client *client;
    Stream *stream;
    uint64_t id;
    Arena arena;
    Builder *builders;
    // The messages of the builders.
    Column **listed;
    size_t column_count;
    bool is_atomic, is_finished, was_last_sent;
    size_t row_count, byte_count;
    int64_t sent_count, processed_count, stored_count;
    larder_error error;
};

// Checks a value before any part of its row is added. The keys of objects are sent without the
// store, so it is checked here.
bool larder_check_inserted(
    const larder_insertion *insertion, const Builder *builder, const larder_value *value,
    larder_error *error);
// Adds a value that was checked; false if there is no memory.
bool larder_add_inserted(
    larder_insertion *insertion, Builder *builder, const larder_value *value);
// Removes the rows of a batch that was sent.
void larder_reset_inserted(larder_insertion *insertion);

#endif
