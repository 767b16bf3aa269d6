#include <stdlib.h>
#include <string.h>

#include "insertion.h"

// The columns of an insert stream's next batch.

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

bool larder_check_inserted(
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

bool larder_add_inserted(
    larder_insertion *insertion, Builder *builder, const larder_value *value) {
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

void larder_reset_inserted(larder_insertion *insertion) {
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
