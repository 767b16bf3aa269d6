#include <inttypes.h>
#include <stdio.h>

#include "larder_connection.h"

static bool has_valid_entities(
    size_t index_count, const uint32_t *indexes, size_t subentity_count, size_t key_count) {
    if (index_count != 0 && index_count != key_count) return false;
    for (size_t index = 0; index < index_count; index++) {
        if (indexes[index] > subentity_count) return false;
    }
    return true;
}

// Whether the parts of the rows are in order, and within a heap or list of this length.
static bool has_valid_ends(const Larder__V1__Column *column, size_t rows, size_t length) {
    uint32_t start = 0;
    for (size_t row = 0; row < column->n_ends; row++) {
        if (column->ends[row] < start || column->ends[row] > length) return false;
        start = column->ends[row];
    }
    return column->n_ends == rows;
}

static bool is_valid_column(const Larder__V1__Column *column, size_t rows) {
    switch (column->type) {
    case LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_BOOL:
    case LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_INT16:
    case LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_INT32:
    case LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_INT64:
        return column->n_integers == rows;
    case LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_FLOAT:
    case LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_DOUBLE:
    case LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_DATE:
        return column->n_doubles == rows;
    case LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_OBJECT:
    case LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_OBJECTS:
        if (!has_valid_entities(
                column->n_entity_indexes, column->entity_indexes, column->n_subentities,
                column->n_integers)) {
            return false;
        }
        return column->type == LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_OBJECT
                   ? column->n_integers == rows
                   : has_valid_ends(column, rows, column->n_integers);
    case LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_DECIMAL:
    case LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_STRING:
    case LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_UUID:
    case LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_URL:
    case LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_DATA:
    case LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_JSON:
        return has_valid_ends(column, rows, column->heap.len);
    default:
        return false;
    }
}

static bool is_valid_batch(const Larder__V1__Batch *batch) {
    const Larder__V1__Identity *identity = batch->identity;
    if (identity && (identity->n_keys != batch->row_count ||
                     identity->n_versions != batch->row_count ||
                     !has_valid_entities(
                         identity->n_entity_indexes, identity->entity_indexes,
                         identity->n_subentities, identity->n_keys))) {
        return false;
    }
    for (size_t index = 0; index < batch->n_columns; index++) {
        if (!is_valid_column(batch->columns[index], batch->row_count)) return false;
    }
    return identity || batch->n_columns > 0 || batch->row_count == 0;
}

bool larder_has_valid_batches(const Envelope *reply, larder_error *error) {
    for (size_t index = 0; index < reply->batches->n_batches; index++) {
        if (!is_valid_batch(reply->batches->batches[index])) {
            return larder_violate(error, "the server sent columns that contradict each other");
        }
    }
    return true;
}

larder_value larder_value_at(const Larder__V1__Column *column, size_t row) {
    larder_value value = {0};
    if (row / 8 < column->nulls.len && column->nulls.data[row / 8] >> row % 8 & 1) {
        value.is_nil = true;
        return value;
    }
    size_t start;
    switch (column->type) {
    case LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_BOOL:
    case LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_INT16:
    case LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_INT32:
    case LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_INT64:
    case LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_OBJECT:
        value.integer = column->integers[row];
        return value;
    case LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_FLOAT:
    case LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_DOUBLE:
    case LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_DATE:
        value.number = column->doubles[row];
        return value;
    default:
        start = row > 0 ? column->ends[row - 1] : 0;
        value.length = column->ends[row] - start;
        // An empty array may have no address.
        value.bytes = (const uint8_t *)"";
        if (value.length > 0 && column->type == LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_OBJECTS) {
            value.keys = column->integers + start;
        } else if (value.length > 0) {
            value.bytes = column->heap.data + start;
        }
        return value;
    }
}

bool larder_uri(const Larder__V1__Identifier *identifier, char *text, size_t size) {
    char store[37] = "";
    for (size_t index = 0, length = 0; index < identifier->store.len && index < 16; index++) {
        bool has_hyphen = index == 4 || index == 6 || index == 8 || index == 10;
        length += (size_t)snprintf(
            store + length, sizeof store - length, "%s%02X", has_hyphen ? "-" : "",
            identifier->store.data[index]);
    }
    int length = snprintf(
        text, size, "x-coredata://%s/%s/p%" PRId64, store, identifier->entity, identifier->key);
    return length >= 0 && (size_t)length < size;
}
