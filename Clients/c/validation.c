#include <math.h>
#include <string.h>

#include "internal.h"

// Checks of replies before they are used, so that a damaged one is an error and nothing worse: the
// arrays of a column agree with the number of rows, and identifiers fit into larder_identifier.

static bool is_entity(const char *name) {
    return *name && strlen(name) <= ENTITY_BYTES_MAX;
}

static bool has_valid_entities(
    const char *entity, size_t index_count, const uint32_t *indexes, size_t subentity_count,
    char **subentities, size_t key_count) {
    if (!is_entity(entity) || (index_count != 0 && index_count != key_count)) return false;
    for (size_t index = 0; index < subentity_count; index++) {
        if (!is_entity(subentities[index])) return false;
    }
    for (size_t index = 0; index < index_count; index++) {
        if (indexes[index] > subentity_count) return false;
    }
    return true;
}

static bool are_positive(const int64_t *numbers, size_t count) {
    for (size_t index = 0; index < count; index++) {
        if (numbers[index] <= 0) return false;
    }
    return true;
}

// Whether the parts of the rows are in order, and within a heap or list of this length.
static bool has_valid_ends(const Column *column, size_t rows, size_t length) {
    uint32_t start = 0;
    for (size_t row = 0; row < column->n_ends; row++) {
        if (column->ends[row] < start || column->ends[row] > length) return false;
        start = column->ends[row];
    }
    return column->n_ends == rows;
}

static bool is_nil(const Column *column, size_t row) {
    return row / 8 < column->nulls.len && (column->nulls.data[row / 8] >> row % 8 & 1);
}

static bool has_valid_objects(const Column *column, size_t rows) {
    if (!has_valid_entities(
            column->entity, column->n_entity_indexes, column->entity_indexes,
            column->n_subentities, column->subentities, column->n_integers)) {
        return false;
    }
    if (column->type == LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_OBJECTS) {
        return has_valid_ends(column, rows, column->n_integers) &&
               are_positive(column->integers, column->n_integers);
    }
    if (column->n_integers != rows) return false;
    for (size_t row = 0; row < rows; row++) {
        if (column->integers[row] <= 0 && !is_nil(column, row)) return false;
    }
    return true;
}

static bool has_valid_heap(const Column *column, size_t rows) {
    if (!has_valid_ends(column, rows, column->heap.len)) return false;
    if (column->type != LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_UUID) return true;
    uint32_t start = 0;
    for (size_t row = 0; row < rows; row++) {
        if (column->ends[row] - start != UUID_BYTES && !is_nil(column, row)) return false;
        start = column->ends[row];
    }
    return true;
}

static bool is_valid_column(const Column *column, size_t rows) {
    switch (column->type) {
    case LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_BOOL:
    case LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_INT16:
    case LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_INT32:
    case LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_INT64: return column->n_integers == rows;
    case LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_FLOAT:
    case LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_DOUBLE:
    case LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_DATE: return column->n_doubles == rows;
    case LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_OBJECT:
    case LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_OBJECTS: return has_valid_objects(column, rows);
    case LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_DECIMAL:
    case LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_STRING:
    case LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_UUID:
    case LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_URL:
    case LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_DATA:
    case LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_JSON: return has_valid_heap(column, rows);
    default: return false;
    }
}

bool larder_is_valid_batch(const Batch *batch) {
    const Larder__V1__Identity *identity = batch->identity;
    if (identity) {
        bool is_valid =
            identity->n_keys == batch->row_count && identity->n_versions == batch->row_count &&
            has_valid_entities(
                identity->entity, identity->n_entity_indexes, identity->entity_indexes,
                identity->n_subentities, identity->subentities, identity->n_keys) &&
            are_positive(identity->keys, identity->n_keys);
        if (!is_valid) return false;
    }
    for (size_t index = 0; index < batch->n_columns; index++) {
        if (!is_valid_column(batch->columns[index], batch->row_count)) return false;
    }
    return identity || batch->n_columns > 0 || batch->row_count == 0;
}

static bool has_valid_batches(Batch **batches, size_t count, larder_error *error) {
    for (size_t index = 0; index < count; index++) {
        if (!larder_is_valid_batch(batches[index])) {
            return larder_fail(
                error, LARDER_ERROR_MALFORMED_MESSAGE,
                "the server sent columns that contradict each other");
        }
    }
    return true;
}

static bool is_valid_token(const Larder__V1__HistoryToken *token, larder_error *error) {
    if (token && token->store.len == UUID_BYTES && token->number >= 0) return true;
    return larder_fail(
        error, LARDER_ERROR_MALFORMED_MESSAGE, "the server sent no position in the history");
}

static bool is_valid_transaction(const Larder__V1__HistoryTransaction *transaction) {
    for (size_t index = 0; index < transaction->n_runs; index++) {
        const Larder__V1__HistoryRun *run = transaction->runs[index];
        if (run->first_key < 1 || run->last_key < run->first_key || !is_entity(run->entity)) {
            return false;
        }
    }
    return transaction->number > 0 && isfinite(transaction->time);
}

static bool is_valid_history(const Larder__V1__HistoryReply *reply, larder_error *error) {
    for (size_t index = 0; index < reply->n_transactions; index++) {
        if (!is_valid_transaction(reply->transactions[index])) {
            return larder_fail(
                error, LARDER_ERROR_MALFORMED_MESSAGE, "the server sent an invalid transaction");
        }
    }
    return is_valid_token(reply->position, error);
}

static bool is_valid_result(const Larder__V1__ObserveReply *reply, larder_error *error) {
    if (!is_valid_token(reply->position, error) ||
        !has_valid_batches(reply->rows, reply->n_rows, error)) {
        return false;
    }
    if (reply->n_rows <= 1) return true;
    return larder_fail(
        error, LARDER_ERROR_MALFORMED_MESSAGE, "the server sent several batches of one result");
}

static bool is_valid_save(const Larder__V1__SaveReply *reply, larder_error *error) {
    for (size_t index = 0; index < reply->n_inserted; index++) {
        const Larder__V1__Identifier *each = reply->inserted[index];
        if (each->store.len != UUID_BYTES || !is_entity(each->entity) ||
            each->name_case != LARDER__V1__IDENTIFIER__NAME_KEY || each->key < 1) {
            return larder_fail(
                error, LARDER_ERROR_MALFORMED_MESSAGE, "the server sent an invalid identifier");
        }
    }
    return true;
}

bool larder_is_valid_reply(const Envelope *reply, larder_error *error) {
    switch (reply->body_case) {
    case LARDER__V1__ENVELOPE__BODY_BATCHES:
        return has_valid_batches(reply->batches->batches, reply->batches->n_batches, error);
    case LARDER__V1__ENVELOPE__BODY_TRANSACTIONS:
        return is_valid_history(reply->transactions, error);
    case LARDER__V1__ENVELOPE__BODY_OBSERVED: return is_valid_result(reply->observed, error);
    case LARDER__V1__ENVELOPE__BODY_SAVED: return is_valid_save(reply->saved, error);
    default: return true;
    }
}

bool larder_has_more(const Envelope *reply) {
    switch (reply->body_case) {
    case LARDER__V1__ENVELOPE__BODY_BATCHES: return reply->batches->more;
    case LARDER__V1__ENVELOPE__BODY_TRANSACTIONS: return reply->transactions->more;
    case LARDER__V1__ENVELOPE__BODY_OBSERVED: return reply->observed->more;
    case LARDER__V1__ENVELOPE__BODY_INSERTED: return reply->inserted->more;
    default: return false;
    }
}
