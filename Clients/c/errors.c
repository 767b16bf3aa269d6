#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

void larder_copy_text(char *to, size_t size, const char *text, size_t length) {
    if (length >= size) {
        length = size - 1;
        while (length > 0 && ((unsigned char)text[length] & 0xC0) == 0x80) length--;
    }
    memcpy(to, text, length);
    to[length] = 0;
}

// The part of an enumerator's name after its prefix.
static const char *name_of(uint32_t code) {
    const ProtobufCEnumValue *found = protobuf_c_enum_descriptor_get_value(
        &larder__v1__error_code__descriptor, (int)code);
    return found && code != 0 ? found->name + strlen("ERROR_CODE_") : "UNKNOWN_ERROR";
}

static void clear(larder_error *error, uint32_t code) {
    error->code = code;
    error->column = 0;
    error->name = name_of(code);
    error->change = -1;
    error->message[0] = error->hint[0] = error->uri[0] = 0;
}

bool larder_fail(larder_error *error, uint32_t code, const char *format, ...) {
    if (!error) return false;
    char message[2 * sizeof error->message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    clear(error, code);
    larder_copy_text(error->message, sizeof error->message, message, strlen(message));
    return false;
}

bool larder_fail_memory(larder_error *error) {
    return larder_fail(error, LARDER_ERROR_RESOURCE_EXHAUSTED, "there is no memory");
}

bool larder_fail_reply(larder_error *error, const Larder__V1__ErrorReply *failed) {
    if (!error) return false;
    // 0 is never sent; as an error's number it would be a success.
    clear(error, failed->code ? failed->code : LARDER_ERROR_MALFORMED_MESSAGE);
    error->column = failed->column;
    larder_copy_text(
        error->message, sizeof error->message, failed->message, strlen(failed->message));
    larder_copy_text(error->hint, sizeof error->hint, failed->hint, strlen(failed->hint));
    larder_copy_text(error->uri, sizeof error->uri, failed->uri, strlen(failed->uri));
    const Larder__V1__ChangeViolation *first = failed->n_details > 0 ? failed->details[0] : NULL;
    bool has_change = first && first->change_presence_case ==
                                   LARDER__V1__CHANGE_VIOLATION__CHANGE_PRESENCE_CHANGE;
    if (has_change) error->change = first->change;
    return false;
}

void larder_copy_error(larder_error *to, const larder_error *from) {
    if (to && to != from) *to = *from;
}

larder_kind larder_error_kind(const larder_error *error) {
    if (!error || error->code == 0) return LARDER_KIND_NONE;
    switch (error->code / 100) {
    case 2:
    case 3: return LARDER_KIND_INVALID;
    case 4: return LARDER_KIND_CONFLICT;
    case 5: return LARDER_KIND_LIMIT;
    case 6: return LARDER_KIND_UNAVAILABLE;
    case 7: return LARDER_KIND_CONNECTION;
    case 8: return LARDER_KIND_STORAGE;
    default: return LARDER_KIND_PROTOCOL;
    }
}

bool larder_error_is_temporary(const larder_error *error) {
    return error && (error->code == LARDER_ERROR_CONNECTION_FAILED ||
                     error->code == LARDER_ERROR_TIMEOUT ||
                     error->code == LARDER_ERROR_UNAVAILABLE);
}
