#include <string.h>

#include "internal.h"

// Values and their messages. An int64 stands for int16, int32 and int64, as in the protocol.

larder_value larder_nil(void) { return (larder_value){.type = LARDER_TYPE_NIL}; }

larder_value larder_bool(bool value) {
    return (larder_value){.type = LARDER_TYPE_BOOL, .as.integer = value};
}

larder_value larder_int64(int64_t value) {
    return (larder_value){.type = LARDER_TYPE_INT64, .as.integer = value};
}

larder_value larder_float(float value) {
    return (larder_value){.type = LARDER_TYPE_FLOAT, .as.number = value};
}

larder_value larder_double(double value) {
    return (larder_value){.type = LARDER_TYPE_DOUBLE, .as.number = value};
}

// A value that borrows bytes; NULL is nil unless there are none.
static larder_value borrowed(larder_type type, const void *bytes, size_t length) {
    if (!bytes && length > 0) return larder_nil();
    return (larder_value){.type = type, .length = length, .as.pointer = bytes ? bytes : ""};
}

static larder_value borrowed_text(larder_type type, const char *text) {
    return text ? borrowed(type, text, strlen(text)) : larder_nil();
}

larder_value larder_decimal(const char *text) { return borrowed_text(LARDER_TYPE_DECIMAL, text); }

larder_value larder_text(const char *text) { return borrowed_text(LARDER_TYPE_STRING, text); }

larder_value larder_text_bytes(const char *text, size_t length) {
    return borrowed(LARDER_TYPE_STRING, text, length);
}

larder_value larder_date(double seconds) {
    double number = seconds - SECONDS_FROM_1970_TO_2001;
    return (larder_value){.type = LARDER_TYPE_DATE, .as.number = number};
}

larder_value larder_timespec(struct timespec time) {
    double seconds = (double)time.tv_sec - SECONDS_FROM_1970_TO_2001 + (double)time.tv_nsec / 1e9;
    return (larder_value){.type = LARDER_TYPE_DATE, .as.number = seconds};
}

larder_value larder_uuid(const uint8_t bytes[16]) {
    larder_value value = {.type = LARDER_TYPE_UUID, .length = UUID_BYTES};
    memcpy(value.as.uuid, bytes, UUID_BYTES);
    return value;
}

larder_value larder_url(const char *text) { return borrowed_text(LARDER_TYPE_URL, text); }

larder_value larder_bytes(const void *bytes, size_t length) {
    return borrowed(LARDER_TYPE_DATA, bytes, length);
}

larder_value larder_json(const char *text) { return borrowed_text(LARDER_TYPE_JSON, text); }

larder_value larder_object(const larder_identifier *identifier) {
    return identifier ? borrowed(LARDER_TYPE_OBJECT, identifier, 1) : larder_nil();
}

larder_value larder_objects(const larder_identifier *identifiers, size_t count) {
    return borrowed(LARDER_TYPE_OBJECTS, identifiers, count);
}

larder_value larder_list(const larder_value *values, size_t count) {
    return borrowed(LARDER_TYPE_LIST, values, count);
}

// Messages

static bool build_bytes(
    Arena *arena, const void *bytes, size_t length, ProtobufCBinaryData *built) {
    *built = (ProtobufCBinaryData){length, larder_arena_copy(arena, bytes, length)};
    return built->data != NULL;
}

// Writes the name under which a change set refers to an object that it inserts.
static void write_name(int64_t key, char name[24]) {
    char digits[24];
    size_t count = 0;
    for (uint64_t rest = -(uint64_t)key; rest > 0; rest /= 10) {
        digits[count++] = (char)('0' + rest % 10);
    }
    for (size_t index = 0; index < count; index++) name[index] = digits[count - 1 - index];
    name[count] = 0;
}

bool larder_build_identifier(
    Arena *arena, const larder_identifier *identifier, Larder__V1__Identifier **built) {
    Larder__V1__Identifier *made = larder_arena_take(arena, sizeof *made);
    if (!made) return false;
    larder__v1__identifier__init(made);
    size_t length = strnlen(identifier->entity, ENTITY_BYTES_MAX);
    made->entity = larder_arena_copy(arena, identifier->entity, length);
    if (identifier->key < 0) {
        char name[24];
        write_name(identifier->key, name);
        made->name_case = LARDER__V1__IDENTIFIER__NAME_TEMPORARY_NAME;
        made->temporary_name = larder_arena_text(arena, name);
        if (!made->temporary_name) return false;
    } else {
        made->name_case = LARDER__V1__IDENTIFIER__NAME_KEY;
        made->key = identifier->key;
        if (!build_bytes(arena, identifier->store, UUID_BYTES, &made->store)) return false;
    }
    *built = made;
    return made->entity != NULL;
}

static bool build_objects(Arena *arena, const larder_value *value, Value *built) {
    const larder_identifier *identifiers = value->as.pointer;
    Larder__V1__Identifiers *list = larder_arena_take(arena, sizeof *list);
    if (!list) return false;
    larder__v1__identifiers__init(list);
    list->items = larder_arena_take(arena, value->length * sizeof *list->items);
    if (!list->items) return false;
    for (size_t index = 0; index < value->length; index++) {
        if (!larder_build_identifier(arena, &identifiers[index], &list->items[index])) return false;
    }
    list->n_items = value->length;
    built->kind_case = LARDER__V1__VALUE__KIND_OBJECTS_VALUE;
    built->objects_value = list;
    return true;
}

// Builds a value of bytes; the field of each type is at the same address of the union.
static bool build_heap_value(Arena *arena, const larder_value *value, Value *built) {
    const void *bytes = value->type == LARDER_TYPE_UUID ? value->as.uuid : value->as.pointer;
    ProtobufCBinaryData *field = NULL;
    switch (value->type) {
    case LARDER_TYPE_DECIMAL:
        built->kind_case = LARDER__V1__VALUE__KIND_DECIMAL_VALUE;
        field = &built->decimal_value;
        break;
    case LARDER_TYPE_UUID:
        built->kind_case = LARDER__V1__VALUE__KIND_UUID_VALUE;
        field = &built->uuid_value;
        break;
    case LARDER_TYPE_URL:
        built->kind_case = LARDER__V1__VALUE__KIND_URL_VALUE;
        field = &built->url_value;
        break;
    case LARDER_TYPE_DATA:
        built->kind_case = LARDER__V1__VALUE__KIND_DATA_VALUE;
        field = &built->data_value;
        break;
    case LARDER_TYPE_JSON:
        built->kind_case = LARDER__V1__VALUE__KIND_JSON_VALUE;
        field = &built->json_value;
        break;
    default:
        built->kind_case = LARDER__V1__VALUE__KIND_STRING_VALUE;
        field = &built->string_value;
        break;
    }
    return build_bytes(arena, bytes, value->length, field);
}

bool larder_build_value(
    Arena *arena, const larder_value *value, Value *built, larder_error *error) {
    larder__v1__value__init(built);
    bool is_built = true;
    switch (value->type) {
    case LARDER_TYPE_NIL:
        built->kind_case = LARDER__V1__VALUE__KIND_NULL_VALUE;
        built->null_value = true;
        break;
    case LARDER_TYPE_BOOL:
        built->kind_case = LARDER__V1__VALUE__KIND_BOOL_VALUE;
        built->bool_value = value->as.integer != 0;
        break;
    case LARDER_TYPE_INT16:
    case LARDER_TYPE_INT32:
    case LARDER_TYPE_INT64:
        built->kind_case = LARDER__V1__VALUE__KIND_INT_VALUE;
        built->int_value = value->as.integer;
        break;
    case LARDER_TYPE_FLOAT:
        built->kind_case = LARDER__V1__VALUE__KIND_FLOAT_VALUE;
        built->float_value = (float)value->as.number;
        break;
    case LARDER_TYPE_DOUBLE:
        built->kind_case = LARDER__V1__VALUE__KIND_DOUBLE_VALUE;
        built->double_value = value->as.number;
        break;
    case LARDER_TYPE_DATE:
        built->kind_case = LARDER__V1__VALUE__KIND_DATE_VALUE;
        built->date_value = value->as.number;
        break;
    case LARDER_TYPE_OBJECT:
        built->kind_case = LARDER__V1__VALUE__KIND_OBJECT_VALUE;
        is_built = larder_build_identifier(arena, value->as.pointer, &built->object_value);
        break;
    case LARDER_TYPE_OBJECTS: is_built = build_objects(arena, value, built); break;
    case LARDER_TYPE_DECIMAL:
    case LARDER_TYPE_STRING:
    case LARDER_TYPE_UUID:
    case LARDER_TYPE_URL:
    case LARDER_TYPE_DATA:
    case LARDER_TYPE_JSON: is_built = build_heap_value(arena, value, built); break;
    default:
        return larder_fail(
            error, LARDER_ERROR_WRONG_TYPE, "a list is not a value of a property or a list");
    }
    return is_built || larder_fail_memory(error);
}

static bool build_list(
    Arena *arena, const larder_value *value, Larder__V1__Argument *built, larder_error *error) {
    const larder_value *values = value->as.pointer;
    Larder__V1__ValueList *list = larder_arena_take(arena, sizeof *list);
    if (!list) return larder_fail_memory(error);
    larder__v1__value_list__init(list);
    list->items = larder_arena_take(arena, value->length * sizeof *list->items);
    if (!list->items) return larder_fail_memory(error);
    for (size_t index = 0; index < value->length; index++) {
        list->items[index] = larder_arena_take(arena, sizeof *list->items[index]);
        if (!list->items[index]) return larder_fail_memory(error);
        if (!larder_build_value(arena, &values[index], list->items[index], error)) return false;
    }
    list->n_items = value->length;
    built->kind_case = LARDER__V1__ARGUMENT__KIND_LIST;
    built->list = list;
    return true;
}

static Larder__V1__Argument *build_argument(
    Arena *arena, const larder_value *value, larder_error *error) {
    Larder__V1__Argument *built = larder_arena_take(arena, sizeof *built);
    if (!built) {
        larder_fail_memory(error);
        return NULL;
    }
    larder__v1__argument__init(built);
    if (value->type == LARDER_TYPE_LIST) {
        return build_list(arena, value, built, error) ? built : NULL;
    }
    built->kind_case = LARDER__V1__ARGUMENT__KIND_VALUE;
    built->value = larder_arena_take(arena, sizeof *built->value);
    if (!built->value) {
        larder_fail_memory(error);
        return NULL;
    }
    return larder_build_value(arena, value, built->value, error) ? built : NULL;
}

bool larder_build_arguments(
    Arena *arena, const larder_value *values, size_t count, Larder__V1__Argument ***built,
    larder_error *error) {
    *built = larder_arena_take(arena, count * sizeof **built);
    if (!*built) return larder_fail_memory(error);
    for (size_t index = 0; index < count; index++) {
        (*built)[index] = build_argument(arena, &values[index], error);
        if (!(*built)[index]) return false;
    }
    return true;
}

bool larder_build_variables(
    Arena *arena, const larder_property *variables, size_t count,
    Larder__V1__NamedArgument ***built, larder_error *error) {
    *built = larder_arena_take(arena, count * sizeof **built);
    if (!*built) return larder_fail_memory(error);
    for (size_t index = 0; index < count; index++) {
        Larder__V1__NamedArgument *each = larder_arena_take(arena, sizeof *each);
        if (!each) return larder_fail_memory(error);
        larder__v1__named_argument__init(each);
        each->name = larder_arena_text(arena, variables[index].name);
        if (!each->name) return larder_fail_memory(error);
        each->argument = build_argument(arena, &variables[index].value, error);
        if (!each->argument) return false;
        (*built)[index] = each;
    }
    return true;
}

// Values that the server sent

bool larder_read_identifier(const Larder__V1__Identifier *from, larder_identifier *identifier) {
    *identifier = (larder_identifier){0};
    if (from->store.len != UUID_BYTES || strlen(from->entity) > ENTITY_BYTES_MAX ||
        from->name_case != LARDER__V1__IDENTIFIER__NAME_KEY || from->key < 1) {
        return false;
    }
    memcpy(identifier->store, from->store.data, UUID_BYTES);
    strcpy(identifier->entity, from->entity);
    identifier->key = from->key;
    return true;
}

larder_value larder_read_value(const Value *value) {
    ProtobufCBinaryData bytes;
    switch (value->kind_case) {
    case LARDER__V1__VALUE__KIND_BOOL_VALUE: return larder_bool(value->bool_value);
    case LARDER__V1__VALUE__KIND_INT_VALUE: return larder_int64(value->int_value);
    case LARDER__V1__VALUE__KIND_FLOAT_VALUE: return larder_float(value->float_value);
    case LARDER__V1__VALUE__KIND_DOUBLE_VALUE: return larder_double(value->double_value);
    case LARDER__V1__VALUE__KIND_DATE_VALUE:
        return (larder_value){.type = LARDER_TYPE_DATE, .as.number = value->date_value};
    case LARDER__V1__VALUE__KIND_UUID_VALUE:
        bytes = value->uuid_value;
        return bytes.len == UUID_BYTES ? larder_uuid(bytes.data) : larder_nil();
    case LARDER__V1__VALUE__KIND_DECIMAL_VALUE:
        bytes = value->decimal_value;
        return borrowed(LARDER_TYPE_DECIMAL, bytes.data, bytes.len);
    case LARDER__V1__VALUE__KIND_STRING_VALUE:
        bytes = value->string_value;
        return borrowed(LARDER_TYPE_STRING, bytes.data, bytes.len);
    case LARDER__V1__VALUE__KIND_URL_VALUE:
        bytes = value->url_value;
        return borrowed(LARDER_TYPE_URL, bytes.data, bytes.len);
    case LARDER__V1__VALUE__KIND_DATA_VALUE:
        bytes = value->data_value;
        return borrowed(LARDER_TYPE_DATA, bytes.data, bytes.len);
    case LARDER__V1__VALUE__KIND_JSON_VALUE:
        bytes = value->json_value;
        return borrowed(LARDER_TYPE_JSON, bytes.data, bytes.len);
    default: return larder_nil();
    }
}
