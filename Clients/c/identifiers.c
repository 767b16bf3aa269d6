#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

// Identifiers and tokens as text. An identifier's entity has at most ENTITY_BYTES_MAX bytes, so its
// URI fits into LARDER_URI_SIZE.

static const char uri_start[] = "x-coredata://";

enum { UUID_TEXT = 36 };

static void write_uuid(const uint8_t bytes[UUID_BYTES], char text[UUID_TEXT + 1]) {
    char *end = text;
    for (size_t index = 0; index < UUID_BYTES; index++) {
        if (index == 4 || index == 6 || index == 8 || index == 10) *end++ = '-';
        end += sprintf(end, "%02X", bytes[index]);
    }
}

static int digit_value(char digit) {
    if (digit >= '0' && digit <= '9') return digit - '0';
    if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
    return digit >= 'A' && digit <= 'F' ? digit - 'A' + 10 : -1;
}

// Reads the 36 characters of a UUID; false if the text does not begin with one.
static bool read_uuid(const char *text, uint8_t bytes[UUID_BYTES]) {
    for (size_t index = 0; index < UUID_BYTES; index++) {
        if ((index == 4 || index == 6 || index == 8 || index == 10) && *text++ != '-') return false;
        int high = digit_value(text[0]);
        int low = high < 0 ? -1 : digit_value(text[1]);
        if (low < 0) return false;
        bytes[index] = (uint8_t)(high << 4 | low);
        text += 2;
    }
    return true;
}

// Reads a decimal number from 0 to 2^63 - 1 up to an end, without zeros before it.
static bool read_number(const char *text, const char *end, int64_t *number) {
    if (text == end || (*text == '0' && text + 1 != end)) return false;
    int64_t value = 0;
    for (; text < end; text++) {
        if (!isdigit((unsigned char)*text)) return false;
        int digit = *text - '0';
        if (value > (INT64_MAX - digit) / 10) return false;
        value = 10 * value + digit;
    }
    *number = value;
    return true;
}

const char *larder_identifier_uri(const larder_identifier *identifier, char text[LARDER_URI_SIZE]) {
    char store[UUID_TEXT + 1] = "";
    if (identifier->key >= 0) write_uuid(identifier->store, store);
    uint64_t key = identifier->key >= 0 ? (uint64_t)identifier->key : -(uint64_t)identifier->key;
    snprintf(
        text, LARDER_URI_SIZE, "%s%s/%.*s/%c%" PRIu64, uri_start, store, ENTITY_BYTES_MAX,
        identifier->entity, identifier->key >= 0 ? 'p' : 't', key);
    return text;
}

static bool malformed(larder_error *error, const char *sentence) {
    larder_fail(
        error, LARDER_ERROR_MALFORMED_IDENTIFIER, "the identifier is malformed: %s", sentence);
    if (error) {
        snprintf(
            error->hint, sizeof error->hint,
            "an identifier looks like x-coredata://<UUID>/<Entity>/p<number>");
    }
    return false;
}

// Whether bytes are the name of an entity: a letter, and then letters, digits and underscores.
static bool is_name(const char *bytes, size_t length) {
    if (length == 0 || length > ENTITY_BYTES_MAX) return false;
    for (size_t index = 0; index < length; index++) {
        char each = bytes[index];
        bool is_letter = (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z');
        bool is_digit = (each >= '0' && each <= '9') || each == '_';
        if (!is_letter && (index == 0 || !is_digit)) return false;
    }
    return true;
}

bool larder_identifier_parse(
    const char *text, larder_identifier *identifier, larder_error *error) {
    larder_identifier parsed = {0};
    size_t start = strlen(uri_start);
    if (!text || strncmp(text, uri_start, start) != 0) {
        return malformed(error, "it must begin with `x-coredata://`");
    }
    const char *store = text + start;
    const char *entity = strchr(store, '/');
    const char *key = entity ? strchr(entity + 1, '/') : NULL;
    if (!key || strchr(key + 1, '/')) {
        return malformed(error, "it must have exactly three parts: store, entity and key");
    }
    size_t entity_length = (size_t)(key - entity - 1);
    if (!is_name(entity + 1, entity_length)) {
        return malformed(error, "its second part must be the name of an entity");
    }
    memcpy(parsed.entity, entity + 1, entity_length);
    bool is_temporary = store == entity;
    if (!is_temporary && (entity - store != UUID_TEXT || !read_uuid(store, parsed.store))) {
        return malformed(error, "its first part must be the UUID of a store");
    }
    const char *end = key + strlen(key);
    if (key[1] != (is_temporary ? 't' : 'p') || !read_number(key + 2, end, &parsed.key) ||
        parsed.key == 0) {
        return malformed(
            error, is_temporary ? "without a store its third part must be `t` and a number from 1"
                                : "its third part must be `p` and a number from 1");
    }
    if (is_temporary) parsed.key = -parsed.key;
    *identifier = parsed;
    return true;
}

bool larder_identifier_equal(const larder_identifier *a, const larder_identifier *b) {
    return a->key == b->key && memcmp(a->store, b->store, UUID_BYTES) == 0 &&
           strncmp(a->entity, b->entity, sizeof a->entity) == 0;
}

const char *larder_token_text(const larder_token *token, char text[LARDER_TOKEN_SIZE]) {
    char store[UUID_TEXT + 1];
    write_uuid(token->store, store);
    snprintf(
        text, LARDER_TOKEN_SIZE, "%s-e%" PRId64 "-n%" PRId64, store, token->epoch, token->number);
    return text;
}

bool larder_token_parse(const char *text, larder_token *token, larder_error *error) {
    larder_token parsed = {0};
    if (text && read_uuid(text, parsed.store) && strncmp(text + UUID_TEXT, "-e", 2) == 0) {
        const char *epoch = text + UUID_TEXT + 2;
        const char *number = strstr(epoch, "-n");
        if (number && read_number(epoch, number, &parsed.epoch) &&
            read_number(number + 2, number + strlen(number), &parsed.number)) {
            *token = parsed;
            return true;
        }
    }
    return larder_fail(error, LARDER_ERROR_MALFORMED_TOKEN, "the history token is malformed");
}
