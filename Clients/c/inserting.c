#include <stdlib.h>
#include <string.h>

#include "internal.h"

// Insert streams. Rows are collected as columns, and sent in batches.

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
    // Whether the row has a nil.
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

// Columns

// Makes room for more elements of an array.
static bool reserve(void **items, size_t *capacity, size_t needed, size_t size) {
    if (needed <= *capacity) return true;
    size_t grown = *capacity ? *capacity : 64;
    while (grown < needed) grown *= 2;
    void *moved = realloc(*items, grown * size);
    if (!moved) return false;
    *items = moved;
    *capacity = grown;
    return true;
}

static bool add_integer(Builder *builder, int64_t number) {
    Column *column = &builder->message;
    if (!reserve(
            (void **)&column->integers, &builder->integer_capacity, column->n_integers + 1,
            sizeof *column->integers)) {
        return false;
    }
    column->integers[column->n_integers++] = number;
    return true;
}

static bool add_double(Builder *builder, double number) {
    Column *column = &builder->message;
    if (!reserve(
            (void **)&column->doubles, &builder->double_capacity, column->n_doubles + 1,
            sizeof *column->doubles)) {
        return false;
    }
    column->doubles[column->n_doubles++] = number;
    return true;
}

static bool add_end(Builder *builder, size_t end) {
    Column *column = &builder->message;
    if (end > UINT32_MAX ||
        !reserve(
            (void **)&column->ends, &builder->end_capacity, column->n_ends + 1,
            sizeof *column->ends)) {
        return false;
    }
    column->ends[column->n_ends++] = (uint32_t)end;
    return true;
}

static bool add_bytes(Builder *builder, const void *bytes, size_t length) {
    ProtobufCBinaryData *heap = &builder->message.heap;
    if (!reserve((void **)&heap->data, &builder->heap_capacity, heap->len + length, 1)) {
        return false;
    }
    if (length > 0) memcpy(heap->data + heap->len, bytes, length);
    heap->len += length;
    return add_end(builder, heap->len);
}

// Returns 0 for the column's entity, or the number of a subentity, from 1; -1 without memory.
static int64_t entity_index(Arena *arena, Builder *builder, const char *entity) {
    Column *column = &builder->message;
    if (strcmp(entity, column->entity) == 0) return 0;
    for (size_t index = 0; index < column->n_subentities; index++) {
        if (strcmp(entity, column->subentities[index]) == 0) return (int64_t)index + 1;
    }
    char *copy = larder_arena_text(arena, entity);
    if (!copy || !reserve(
                     (void **)&column->subentities, &builder->subentity_capacity,
                     column->n_subentities + 1, sizeof *column->subentities)) {
        return -1;
    }
    column->subentities[column->n_subentities++] = copy;
    return (int64_t)column->n_subentities;
}

static bool add_object(
    larder_insertion *insertion, Builder *builder, const larder_identifier *object) {
    Column *column = &builder->message;
    int64_t index = entity_index(&insertion->arena, builder, object->entity);
    if (index < 0 ||
        !reserve(
            (void **)&column->entity_indexes, &builder->index_capacity,
            column->n_entity_indexes + 1, sizeof *column->entity_indexes) ||
        !add_integer(builder, object->key)) {
        return false;
    }
    column->entity_indexes[column->n_entity_indexes++] = (uint32_t)index;
    return true;
}

static bool add_nil(larder_insertion *insertion, Builder *builder) {
    builder->has_nil = true;
    builder->nulls[insertion->row_count / 8] |= (uint8_t)(1 << insertion->row_count % 8);
    switch ((int)builder->message.type) {
    case LARDER_TYPE_FLOAT:
    case LARDER_TYPE_DOUBLE:
    case LARDER_TYPE_DATE: return add_double(builder, 0);
    case LARDER_TYPE_OBJECTS: return add_end(builder, builder->message.n_integers);
    case LARDER_TYPE_DECIMAL:
    case LARDER_TYPE_STRING:
    case LARDER_TYPE_UUID:
    case LARDER_TYPE_URL:
    case LARDER_TYPE_DATA:
    case LARDER_TYPE_JSON: return add_bytes(builder, NULL, 0);
    case LARDER_TYPE_OBJECT:
        if (!reserve(
                (void **)&builder->message.entity_indexes, &builder->index_capacity,
                builder->message.n_entity_indexes + 1, sizeof(uint32_t))) {
            return false;
        }
        builder->message.entity_indexes[builder->message.n_entity_indexes++] = 0;
        return add_integer(builder, 0);
    default: return add_integer(builder, 0);
    }
}

// Whether a column of a type takes a value of another one.
static bool accepts(larder_type column, larder_type value) {
    if (column == LARDER_TYPE_INT16 || column == LARDER_TYPE_INT32) column = LARDER_TYPE_INT64;
    if (value == LARDER_TYPE_INT16 || value == LARDER_TYPE_INT32) value = LARDER_TYPE_INT64;
    if (column == LARDER_TYPE_DOUBLE && value == LARDER_TYPE_FLOAT) return true;
    return value == LARDER_TYPE_NIL || column == value;
}

// Checks a value before any part of its row is added. The keys of objects are sent without the
// store, so it is checked here.
static bool check_value(
    const larder_insertion *insertion, const Builder *builder, const larder_value *value,
    larder_error *error) {
    if (!accepts((larder_type)builder->message.type, value->type)) {
        return larder_fail(
            error, LARDER_ERROR_WRONG_TYPE, "the value of `%s` is not of the column's type",
            builder->message.name);
    }
    if (value->type != LARDER_TYPE_OBJECT && value->type != LARDER_TYPE_OBJECTS) return true;
    const larder_identifier *objects = value->as.pointer;
    for (size_t index = 0; index < value->length; index++) {
        if (objects[index].key < 1 || !memchr(objects[index].entity, 0, ENTITY_BYTES_MAX + 1)) {
            return larder_fail(
                error, LARDER_ERROR_MALFORMED_IDENTIFIER, "`%s` needs a permanent identifier",
                builder->message.name);
        }
        if (memcmp(objects[index].store, insertion->client->store, UUID_BYTES) != 0) {
            return larder_fail(
                error, LARDER_ERROR_FOREIGN_IDENTIFIER, "the object of `%s` is of another store",
                builder->message.name);
        }
    }
    return true;
}

// Adds a value that was checked; false if there is no memory.
static bool add_value(larder_insertion *insertion, Builder *builder, const larder_value *value) {
    if (value->type == LARDER_TYPE_NIL) return add_nil(insertion, builder);
    const larder_identifier *objects = value->as.pointer;
    switch (value->type) {
    case LARDER_TYPE_FLOAT:
    case LARDER_TYPE_DOUBLE:
    case LARDER_TYPE_DATE: return add_double(builder, value->as.number);
    case LARDER_TYPE_UUID: return add_bytes(builder, value->as.uuid, UUID_BYTES);
    case LARDER_TYPE_OBJECT: return add_object(insertion, builder, objects);
    case LARDER_TYPE_OBJECTS:
        for (size_t index = 0; index < value->length; index++) {
            if (!add_object(insertion, builder, &objects[index])) return false;
        }
        return add_end(builder, builder->message.n_integers);
    case LARDER_TYPE_BOOL:
    case LARDER_TYPE_INT16:
    case LARDER_TYPE_INT32:
    case LARDER_TYPE_INT64: return add_integer(builder, value->as.integer);
    default: return add_bytes(builder, value->as.pointer, value->length);
    }
}

// Removes the rows of a batch that was sent.
static void reset(larder_insertion *insertion) {
    for (size_t index = 0; index < insertion->column_count; index++) {
        Builder *builder = &insertion->builders[index];
        Column *column = &builder->message;
        column->n_integers = column->n_doubles = column->n_ends = column->heap.len = 0;
        column->n_entity_indexes = column->n_subentities = 0;
        memset(builder->nulls, 0, sizeof builder->nulls);
        builder->has_nil = false;
    }
    insertion->row_count = insertion->byte_count = 0;
}

// The stream

// Stores an error, after which the stream has ended.
static bool end_with(
    larder_insertion *insertion, const larder_error *failure, larder_error *error) {
    insertion->error = *failure;
    larder_copy_error(error, failure);
    return false;
}

// Stores the error of a stream without a last reply. Batches that the server has not acknowledged
// may have been stored, but nothing of an atomic stream whose last batch was not sent.
static bool lose(larder_insertion *insertion, larder_error *failure, larder_error *error) {
    bool is_reply = !insertion->stream->client && !insertion->stream->is_lost;
    bool is_uncertain = insertion->is_atomic
                            ? insertion->was_last_sent
                            : insertion->sent_count > insertion->processed_count;
    if (!is_reply && is_uncertain) {
        larder_error cause = *failure;
        larder_fail(
            failure, LARDER_ERROR_INDETERMINATE, "%s; the last rows may have been stored",
            cause.message);
    }
    return end_with(insertion, failure, error);
}

// Waits for a reply. Returns 1, 0 after the last one, or -1.
static int take_reply(larder_insertion *insertion, larder_error *error) {
    larder_error failure;
    Reply reply;
    int64_t deadline = larder_reply_deadline(insertion->client);
    int found = larder_stream_next(insertion->stream, deadline, &reply, &failure);
    if (found == 0 && insertion->stream->client) {
        larder_fail(&failure, LARDER_ERROR_CONNECTION_FAILED, "the server does not reply");
        larder_disconnect(insertion->client, &failure);
        found = -1;
    }
    if (found == 1) {
        insertion->processed_count = reply.envelope->inserted->batch_count;
        insertion->stored_count = reply.envelope->inserted->row_count;
        larder__v1__envelope__free_unpacked(reply.envelope, NULL);
        bool is_valid = insertion->processed_count >= 0 && insertion->stored_count >= 0 &&
                        insertion->processed_count <= insertion->sent_count;
        if (is_valid) return 1;
        insertion->processed_count = 0;
        larder_fail(
            &failure, LARDER_ERROR_MALFORMED_MESSAGE,
            "the server has counted rows that were not sent");
        larder_disconnect(insertion->client, &failure);
        // A last reply that cannot be used is a lost one.
        insertion->stream->is_lost = true;
        found = -1;
    }
    if (found < 0) lose(insertion, &failure, error);
    return found;
}

static bool make_room(larder_insertion *insertion, larder_error *error) {
    while (insertion->sent_count - insertion->processed_count >= BATCHES_IN_FLIGHT_MAX) {
        int found = take_reply(insertion, error);
        if (found == 1) continue;
        if (found < 0) return false;
        larder_error failure;
        larder_fail(
            &failure, LARDER_ERROR_MALFORMED_MESSAGE, "the server ended the stream too early");
        return end_with(insertion, &failure, error);
    }
    return true;
}

// Adds a request with the rows to those to be sent.
static bool enqueue_batch(larder_insertion *insertion, bool is_last, larder_error *error) {
    for (size_t index = 0; index < insertion->column_count; index++) {
        Builder *builder = &insertion->builders[index];
        builder->message.nulls.data = builder->nulls;
        builder->message.nulls.len = builder->has_nil ? (insertion->row_count + 7) / 8 : 0;
    }
    Batch batch = LARDER__V1__BATCH__INIT;
    batch.row_count = (uint32_t)insertion->row_count;
    batch.columns = insertion->listed;
    batch.n_columns = insertion->column_count;
    Larder__V1__RowsRequest body = LARDER__V1__ROWS_REQUEST__INIT;
    body.request_id = insertion->id;
    body.batch = insertion->row_count > 0 ? &batch : NULL;
    body.last = is_last;
    Envelope request = LARDER__V1__ENVELOPE__INIT;
    request.id = ++insertion->client->last_id;
    request.body_case = LARDER__V1__ENVELOPE__BODY_ROWS;
    request.rows = &body;
    return larder_enqueue(insertion->client, &request, error);
}

static bool send_batch(larder_insertion *insertion, bool is_last, larder_error *error) {
    if (!make_room(insertion, error)) return false;
    larder_error failure;
    // A stream that has ended reports its error with its next reply.
    if (insertion->stream->client) {
        if (!enqueue_batch(insertion, is_last, &failure)) {
            return end_with(insertion, &failure, error);
        }
        insertion->sent_count++;
        insertion->was_last_sent = is_last;
        int64_t deadline = larder_reply_deadline(insertion->client);
        if (!larder_flush(insertion->client, deadline, &failure)) {
            return lose(insertion, &failure, error);
        }
    } else if (take_reply(insertion, error) < 0) {
        return false;
    }
    reset(insertion);
    return true;
}

static bool open_stream(
    larder_insertion *insertion, const char *entity, const larder_insert_options *options,
    larder_error *error) {
    larder_client *client = insertion->client;
    Larder__V1__InsertRequest body = LARDER__V1__INSERT_REQUEST__INIT;
    body.entity = larder_arena_text(&insertion->arena, entity);
    body.author = larder_arena_text(&insertion->arena, options->author);
    if (!body.entity || !body.author) return larder_fail_memory(error);
    body.atomic = options->is_atomic;
    if (options->upserts) {
        body.on_unique_conflict = LARDER__V1__UNIQUE_CONFLICT_POLICY__UNIQUE_CONFLICT_POLICY_UPSERT;
    }
    Envelope request = LARDER__V1__ENVELOPE__INIT;
    request.body_case = LARDER__V1__ENVELOPE__BODY_INSERT_ROWS;
    request.insert_rows = &body;
    if (!larder_ensure(client, larder_after(client->retry_milliseconds), error)) return false;
    insertion->stream = larder_stream_open(
        client, &request, LARDER__V1__ENVELOPE__BODY_INSERTED, 1, true, error);
    if (!insertion->stream) return false;
    insertion->stream->replaces = true;
    insertion->id = insertion->stream->id;
    return larder_flush(client, larder_reply_deadline(client), error);
}

static bool set_columns(
    larder_insertion *insertion, const larder_insert_column *columns, size_t count,
    larder_error *error) {
    insertion->builders = calloc(count ? count : 1, sizeof *insertion->builders);
    insertion->listed = calloc(count ? count : 1, sizeof *insertion->listed);
    if (!insertion->builders || !insertion->listed) return larder_fail_memory(error);
    insertion->column_count = count;
    for (size_t index = 0; index < count; index++) {
        Column *column = &insertion->builders[index].message;
        larder__v1__column__init(column);
        insertion->listed[index] = column;
        column->name = larder_arena_text(&insertion->arena, columns[index].name);
        column->entity = larder_arena_text(&insertion->arena, columns[index].entity);
        if (!column->name || !column->entity) return larder_fail_memory(error);
        column->type = (Larder__V1__ColumnType)columns[index].type;
        bool is_object = columns[index].type == LARDER_TYPE_OBJECT ||
                         columns[index].type == LARDER_TYPE_OBJECTS;
        if (columns[index].type <= LARDER_TYPE_NIL || columns[index].type >= LARDER_TYPE_LIST ||
            is_object != (column->entity[0] != 0)) {
            return larder_fail(
                error, LARDER_ERROR_WRONG_TYPE,
                "the column `%s` needs a type, and an entity if it is a relationship",
                column->name);
        }
    }
    return true;
}

larder_insertion *larder_insert_many(
    larder_client *client, const char *entity, const larder_insert_column *columns, size_t count,
    const larder_insert_options *options, larder_error *error) {
    static const larder_insert_options standard;
    if (!options) options = &standard;
    larder_insertion *insertion = calloc(1, sizeof *insertion);
    if (!insertion) {
        larder_fail_memory(error);
        return NULL;
    }
    insertion->client = client;
    insertion->is_atomic = options->is_atomic;
    larder_retain(client);
    if (!set_columns(insertion, columns, count, error) ||
        !open_stream(insertion, entity, options, error)) {
        larder_insertion_free(insertion);
        return NULL;
    }
    return insertion;
}

static bool has_ended(larder_insertion *insertion, larder_error *error) {
    if (insertion->error.code != 0) {
        larder_copy_error(error, &insertion->error);
        return true;
    }
    if (!insertion->is_finished) return false;
    larder_fail(error, LARDER_ERROR_UNSUPPORTED, "the stream is finished");
    return true;
}

bool larder_insertion_add(
    larder_insertion *insertion, const larder_value *values, larder_error *error) {
    if (has_ended(insertion, error)) return false;
    for (size_t index = 0; index < insertion->column_count; index++) {
        if (!check_value(insertion, &insertion->builders[index], &values[index], error)) {
            return false;
        }
    }
    for (size_t index = 0; index < insertion->column_count; index++) {
        if (!add_value(insertion, &insertion->builders[index], &values[index])) {
            larder_error failure;
            larder_fail_memory(&failure);
            return end_with(insertion, &failure, error);
        }
        bool is_borrowed = values[index].type >= LARDER_TYPE_DECIMAL;
        insertion->byte_count += is_borrowed ? 8 + values[index].length : 8;
    }
    insertion->row_count++;
    if (insertion->row_count < BATCH_ROWS_MAX && insertion->byte_count < BATCH_BYTES_MAX) {
        return true;
    }
    return send_batch(insertion, false, error);
}

bool larder_insertion_finish(
    larder_insertion *insertion, int64_t *count, larder_error *error) {
    if (has_ended(insertion, error) || !send_batch(insertion, true, error)) return false;
    int found;
    do {
        found = take_reply(insertion, error);
    } while (found == 1);
    if (found < 0) return false;
    insertion->is_finished = true;
    if (count) *count = insertion->stored_count;
    return true;
}

void larder_insertion_free(larder_insertion *insertion) {
    if (!insertion) return;
    for (size_t index = 0; insertion->builders && index < insertion->column_count; index++) {
        Column *column = &insertion->builders[index].message;
        free(column->integers);
        free(column->doubles);
        free(column->heap.data);
        free(column->ends);
        free(column->subentities);
        free(column->entity_indexes);
    }
    free(insertion->builders);
    free(insertion->listed);
    larder_stream_release(insertion->stream);
    larder_arena_free(&insertion->arena);
    larder_unretain(insertion->client);
    free(insertion);
}
