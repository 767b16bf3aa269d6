#include <stdlib.h>

#include "insertion.h"

// Insert streams. Rows are collected as columns, and sent in batches.

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
    larder_reset_inserted(insertion);
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
        if (!larder_check_inserted(
                insertion, &insertion->builders[index], &values[index], error)) {
            return false;
        }
    }
    for (size_t index = 0; index < insertion->column_count; index++) {
        if (!larder_add_inserted(insertion, &insertion->builders[index], &values[index])) {
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
