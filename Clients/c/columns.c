#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

// The columns of the current row, and their readers.

// Beyond it a double has no whole seconds.
static const double seconds_max = 9e15;

#define IS(type) (1u << LARDER_TYPE_##type)

enum {
    INTEGERS = IS(BOOL) | IS(INT16) | IS(INT32) | IS(INT64),
    NUMBERS = IS(INT16) | IS(INT32) | IS(INT64) | IS(FLOAT) | IS(DOUBLE),
    TEXTS = IS(STRING) | IS(URL) | IS(JSON) | IS(DECIMAL),
    HEAPS = TEXTS | IS(DATA) | IS(UUID),
};

static const char *type_name(unsigned type) {
    static const char *const names[] = {
        "nil",    "a bool",    "an int16",  "an int32", "an int64",     "a float",
        "a double", "a decimal", "a string", "a date",   "a UUID",       "a URL",
        "data",   "JSON",      "an object", "objects",
    };
    return type < sizeof names / sizeof *names ? names[type] : "unknown";
}

static const Column *column_at(const larder_rows *rows, int column) {
    if (!rows->page || column < 0 || (size_t)column >= rows->page->batch->n_columns) return NULL;
    return rows->page->batch->columns[column];
}

// Keeps the first failure.
static larder_error *failure_of(larder_rows *rows) {
    return rows->error.code == 0 ? &rows->error : NULL;
}

int larder_column_count(const larder_rows *rows) {
    return rows->page ? (int)rows->page->batch->n_columns : 0;
}

const char *larder_column_name(const larder_rows *rows, int column) {
    const Column *found = column_at(rows, column);
    return found ? found->name : NULL;
}

larder_type larder_column_type(const larder_rows *rows, int column) {
    const Column *found = column_at(rows, column);
    return found ? (larder_type)found->type : LARDER_TYPE_NIL;
}

int larder_column(larder_rows *rows, const char *name) {
    for (int column = 0; column < larder_column_count(rows); column++) {
        if (strcmp(rows->page->batch->columns[column]->name, name) == 0) return column;
    }
    larder_fail(
        failure_of(rows), LARDER_ERROR_UNKNOWN_PROPERTY, "the rows have no column `%s`", name);
    return -1;
}

static bool has_row(larder_rows *rows) {
    if (rows->page && rows->row >= 0 && rows->row < rows->page->batch->row_count) return true;
    larder_fail(failure_of(rows), LARDER_ERROR_UNKNOWN_PROPERTY, "there is no current row");
    return false;
}

static bool is_nil_at(const Column *column, int64_t row) {
    uint64_t byte = (uint64_t)row / 8;
    return byte < column->nulls.len && (column->nulls.data[byte] >> row % 8 & 1);
}

// Returns the column if it is of one of these types; NULL for nil and after a failure.
static const Column *readable(larder_rows *rows, int index, unsigned types) {
    if (!has_row(rows)) return NULL;
    const Column *column = column_at(rows, index);
    if (!column) {
        larder_fail(
            failure_of(rows), LARDER_ERROR_UNKNOWN_PROPERTY, "the rows have no column %d", index);
        return NULL;
    }
    if (!(types >> column->type & 1)) {
        larder_fail(
            failure_of(rows), LARDER_ERROR_WRONG_TYPE,
            "the column `%s` is %s, and was read as another type", column->name,
            type_name((unsigned)column->type));
        return NULL;
    }
    return is_nil_at(column, rows->row) ? NULL : column;
}

bool larder_row_is_nil(larder_rows *rows, int column) {
    return readable(rows, column, ~0u) == NULL;
}

bool larder_row_bool(larder_rows *rows, int column) {
    const Column *found = readable(rows, column, IS(BOOL));
    return found && found->integers[rows->row] != 0;
}

int64_t larder_row_int64(larder_rows *rows, int column) {
    const Column *found = readable(rows, column, INTEGERS);
    return found ? found->integers[rows->row] : 0;
}

double larder_row_double(larder_rows *rows, int column) {
    const Column *found = readable(rows, column, NUMBERS);
    if (!found) return 0;
    bool is_integer = INTEGERS >> found->type & 1;
    return is_integer ? (double)found->integers[rows->row] : found->doubles[rows->row];
}

// Dates

double larder_row_date(larder_rows *rows, int column) {
    const Column *found = readable(rows, column, IS(DATE));
    return found ? found->doubles[rows->row] + SECONDS_FROM_1970_TO_2001 : 0;
}

struct timespec larder_row_timespec(larder_rows *rows, int column) {
    struct timespec time = {0};
    const Column *found = readable(rows, column, IS(DATE));
    if (!found) return time;
    double seconds = found->doubles[rows->row];
    if (!(fabs(seconds) < seconds_max)) {
        larder_fail(
            failure_of(rows), LARDER_ERROR_MALFORMED_VALUE,
            "the date of the column `%s` does not fit into a timespec", found->name);
        return time;
    }
    double whole = floor(seconds);
    time.tv_sec = (time_t)whole + SECONDS_FROM_1970_TO_2001;
    time.tv_nsec = lround((seconds - whole) * 1e9);
    if (time.tv_nsec >= 1000000000) {
        time.tv_sec++;
        time.tv_nsec -= 1000000000;
    }
    return time;
}

// Heaps

static size_t start_of(const Column *column, int64_t row) {
    return row > 0 ? column->ends[row - 1] : 0;
}

const void *larder_row_bytes(larder_rows *rows, int column, size_t *length) {
    if (length) *length = 0;
    const Column *found = readable(rows, column, HEAPS);
    if (!found) return NULL;
    size_t start = start_of(found, rows->row);
    if (length) *length = found->ends[rows->row] - start;
    // An empty heap may have no address.
    return found->heap.data ? found->heap.data + start : (const uint8_t *)"";
}

// Copies the texts of a column, each with a zero byte at its end.
static char *copy_texts(const Column *column, size_t count) {
    char *texts = malloc(column->heap.len + count + 1);
    if (!texts) return NULL;
    char *end = texts;
    size_t start = 0;
    for (size_t row = 0; row < count; row++) {
        size_t length = column->ends[row] - start;
        if (length > 0) memcpy(end, column->heap.data + start, length);
        end += length;
        *end++ = 0;
        start = column->ends[row];
    }
    return texts;
}

static const char *text_at(larder_rows *rows, int column, unsigned types, size_t *length) {
    if (length) *length = 0;
    const Column *found = readable(rows, column, types);
    if (!found) return NULL;
    char **texts = &rows->page->texts[column];
    if (!*texts) *texts = copy_texts(found, rows->page->batch->row_count);
    if (!*texts) {
        larder_fail_memory(failure_of(rows));
        return NULL;
    }
    size_t start = start_of(found, rows->row);
    if (length) *length = found->ends[rows->row] - start;
    return *texts + start + rows->row;
}

const char *larder_row_text(larder_rows *rows, int column, size_t *length) {
    return text_at(rows, column, TEXTS, length);
}

const char *larder_row_decimal(larder_rows *rows, int column) {
    return text_at(rows, column, IS(DECIMAL), NULL);
}

const uint8_t *larder_row_uuid(larder_rows *rows, int column) {
    const Column *found = readable(rows, column, IS(UUID));
    return found ? found->heap.data + start_of(found, rows->row) : NULL;
}

// Objects

// Makes an identifier. The lengths of names were checked when the batch arrived.
static void make_identifier(
    const larder_rows *rows, int64_t key, const char *entity, char **subentities,
    size_t index_count, const uint32_t *indexes, size_t index, larder_identifier *identifier) {
    *identifier = (larder_identifier){.key = key};
    memcpy(identifier->store, rows->store, UUID_BYTES);
    uint32_t entity_index = index_count > 0 ? indexes[index] : 0;
    const char *name = entity_index > 0 ? subentities[entity_index - 1] : entity;
    larder_copy_text(identifier->entity, sizeof identifier->entity, name, strlen(name));
}

bool larder_row_identifier(larder_rows *rows, int column, larder_identifier *identifier) {
    *identifier = (larder_identifier){0};
    const Column *found = readable(rows, column, IS(OBJECT));
    if (!found) return false;
    make_identifier(
        rows, found->integers[rows->row], found->entity, found->subentities,
        found->n_entity_indexes, found->entity_indexes, (size_t)rows->row, identifier);
    return true;
}

size_t larder_row_identifiers(
    larder_rows *rows, int column, larder_identifier *identifiers, size_t capacity) {
    const Column *found = readable(rows, column, IS(OBJECTS));
    if (!found) return 0;
    size_t start = start_of(found, rows->row);
    size_t count = found->ends[rows->row] - start;
    for (size_t index = 0; index < count && index < capacity; index++) {
        make_identifier(
            rows, found->integers[start + index], found->entity, found->subentities,
            found->n_entity_indexes, found->entity_indexes, start + index, &identifiers[index]);
    }
    return count;
}

bool larder_row_object(larder_rows *rows, larder_identifier *identifier) {
    *identifier = (larder_identifier){0};
    if (!has_row(rows)) return false;
    const Larder__V1__Identity *identity = rows->page->batch->identity;
    if (!identity) return false;
    make_identifier(
        rows, identity->keys[rows->row], identity->entity, identity->subentities,
        identity->n_entity_indexes, identity->entity_indexes, (size_t)rows->row, identifier);
    return true;
}

int64_t larder_row_version(larder_rows *rows) {
    if (!has_row(rows)) return 0;
    const Larder__V1__Identity *identity = rows->page->batch->identity;
    return identity ? identity->versions[rows->row] : 0;
}
