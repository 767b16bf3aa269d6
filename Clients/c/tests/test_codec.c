#include "unit.h"

#include <stdlib.h>

// Identifiers, tokens, values and errors.

static const char store_text[] = "01020304-0506-0708-090A-0B0C0D0E0F10";

static void test_identifiers(void) {
    larder_identifier identifier, again;
    larder_error error = {0};
    char text[LARDER_URI_SIZE], uri[LARDER_URI_SIZE];
    snprintf(text, sizeof text, "x-coredata://%s/Student/p9223372036854775807", store_text);
    CHECK_DONE(larder_identifier_parse(text, &identifier, &error), &error);
    CHECK(memcmp(identifier.store, canned_store, 16) == 0);
    CHECK_TEXT(identifier.entity, "Student");
    CHECK_INTEGER(identifier.key, INT64_MAX);
    CHECK_TEXT(larder_identifier_uri(&identifier, uri), text);
    CHECK(larder_identifier_parse("x-coredata://01020304-0506-0708-090a-0b0c0d0e0f10/A/p1", &again,
        &error));
    CHECK(!larder_identifier_equal(&identifier, &again));
    CHECK(larder_identifier_parse("x-coredata:///A_1/t12", &again, &error));
    CHECK_INTEGER(again.key, -12);
    CHECK_TEXT(larder_identifier_uri(&again, uri), "x-coredata:///A_1/t12");
    // The longest one: 128 bytes of the entity and 19 digits.
    identifier.key = INT64_MAX;
    memset(identifier.entity, 'E', ENTITY_BYTES_MAX);
    identifier.entity[ENTITY_BYTES_MAX] = 0;
    CHECK(larder_identifier_parse(larder_identifier_uri(&identifier, uri), &again, &error));
    CHECK(larder_identifier_equal(&identifier, &again));
}

static void test_malformed_identifiers(void) {
    static const char *const texts[] = {
        "", "x", "x-coredata:/", "x-coredata://", "x-coredata:///", "x-coredata:///A",
        "x-coredata:///A/", "x-coredata:///A/t", "x-coredata:///A/t0", "x-coredata:///A/p1",
        "x-coredata:///A/t1/", "x-coredata:////t1", "x-coredata:///1/t1", "x-coredata:///A-B/t1",
        "x-coredata:///A/t9223372036854775808", "x-coredata:///A/t-1",
        "x-coredata://01020304-0506-0708-090A-0B0C0D0E0F1/A/p1",
        "x-coredata://01020304-0506-0708-090A-0B0C0D0E0F100/A/p1",
        "x-coredata://01020304-0506-0708-090A-0B0C0D0E0F1G/A/p1",
        "x-coredata://010203040-506-0708-090A-0B0C0D0E0F10/A/p1",
        "x-coredata://01020304-0506-0708-090A-0B0C0D0E0F10/A/p0",
        "x-coredata://01020304-0506-0708-090A-0B0C0D0E0F10/A/p01",
        "x-coredata://01020304-0506-0708-090A-0B0C0D0E0F10/A/p1 ",
        "x-coredata://01020304-0506-0708-090A-0B0C0D0E0F10/A/p+1",
        "x-coredata://01020304-0506-0708-090A-0B0C0D0E0F10/A/t1",
        "x-coredata://01020304-0506-0708-090A-0B0C0D0E0F10/\xc3\xa4/p1",
    };
    for (size_t index = 0; index < sizeof texts / sizeof *texts; index++) {
        larder_identifier identifier = {.key = 5};
        larder_error error = {0};
        bool is_parsed = larder_identifier_parse(texts[index], &identifier, &error);
        if (!CHECK(!is_parsed)) fprintf(stderr, "    %s\n", texts[index]);
        CHECK_CODE(&error, LARDER_ERROR_MALFORMED_IDENTIFIER);
        CHECK_INTEGER(identifier.key, 5);
        CHECK(error.message[0] && error.hint[0]);
    }
    char text[LARDER_URI_SIZE] = "x-coredata:///";
    memset(text + 14, 'E', ENTITY_BYTES_MAX + 1);
    strcpy(text + 14 + ENTITY_BYTES_MAX + 1, "/t1");
    larder_identifier identifier;
    CHECK(!larder_identifier_parse(text, &identifier, NULL));
    CHECK(!larder_identifier_parse(NULL, &identifier, NULL));
    // Each part of a URI, in memory that ends there.
    snprintf(text, sizeof text, "x-coredata://%s/Student/p12", store_text);
    for (size_t length = 0; length < strlen(text) - 1; length++) {
        char *part = malloc(length + 1);
        memcpy(part, text, length);
        part[length] = 0;
        CHECK(!larder_identifier_parse(part, &identifier, NULL));
        free(part);
    }
}

static void test_tokens(void) {
    larder_token token;
    larder_error error = {0};
    char text[LARDER_TOKEN_SIZE], again[LARDER_TOKEN_SIZE];
    snprintf(text, sizeof text, "%s-e7-n0", store_text);
    CHECK_DONE(larder_token_parse(text, &token, &error), &error);
    CHECK_INTEGER(token.epoch, 7);
    CHECK_INTEGER(token.number, 0);
    CHECK_TEXT(larder_token_text(&token, again), text);
    token.epoch = token.number = INT64_MIN;
    CHECK(strlen(larder_token_text(&token, again)) < sizeof again);
    static const char *const ends[] = {
        "", "-", "-e", "-e7", "-e7-n", "-e-n1", "-e7-n-1", "-e7-n1 ", "-e7n1", "-n1-e7", "-e07-n1"};
    for (size_t index = 0; index < sizeof ends / sizeof *ends; index++) {
        snprintf(text, sizeof text, "%s%s", store_text, ends[index]);
        if (!CHECK(!larder_token_parse(text, &token, &error))) fprintf(stderr, "    %s\n", text);
        CHECK_CODE(&error, LARDER_ERROR_MALFORMED_TOKEN);
    }
    CHECK(!larder_token_parse(NULL, &token, NULL));
}

static void test_values(void) {
    CHECK_INTEGER(larder_text(NULL).type, LARDER_TYPE_NIL);
    CHECK_INTEGER(larder_object(NULL).type, LARDER_TYPE_NIL);
    CHECK_INTEGER(larder_bytes(NULL, 0).type, LARDER_TYPE_DATA);
    CHECK_INTEGER(larder_text_bytes("a\0b", 3).length, 3);
    CHECK(larder_date(978307200).as.number == 0);
    struct timespec time = {978307201, 500000000};
    CHECK(larder_timespec(time).as.number == 1.5);
    CHECK(larder_bool(true).as.integer == 1);
    larder_error error = {0};
    Arena arena = {0};
    Value built;
    larder_value value = larder_text_bytes("a\0b", 3), list = larder_list(&value, 1);
    CHECK(larder_build_value(&arena, &value, &built, &error));
    CHECK_INTEGER(built.string_value.len, 3);
    CHECK(memcmp(built.string_value.data, "a\0b", 3) == 0);
    // A list is an argument, and nothing else.
    CHECK(!larder_build_value(&arena, &list, &built, &error));
    CHECK_CODE(&error, LARDER_ERROR_WRONG_TYPE);
    larder_arena_free(&arena);
}

static void test_errors(void) {
    static const larder_kind kinds[] = {
        LARDER_KIND_PROTOCOL, LARDER_KIND_PROTOCOL, LARDER_KIND_INVALID, LARDER_KIND_INVALID,
        LARDER_KIND_CONFLICT, LARDER_KIND_LIMIT, LARDER_KIND_UNAVAILABLE, LARDER_KIND_CONNECTION,
        LARDER_KIND_STORAGE};
    larder_error error = {0};
    CHECK_INTEGER(larder_error_kind(&error), LARDER_KIND_NONE);
    CHECK_INTEGER(larder_error_kind(NULL), LARDER_KIND_NONE);
    for (uint32_t class = 1; class < 9; class++) {
        error.code = 100 * class + 99;
        CHECK_INTEGER(larder_error_kind(&error), kinds[class]);
    }
    CHECK(!larder_fail(&error, LARDER_ERROR_TIMEOUT, "%s", "late"));
    CHECK_TEXT(error.name, "TIMEOUT");
    CHECK(larder_error_is_temporary(&error) && !larder_error_is_temporary(NULL));
    larder_fail(&error, 4711, "%s", "");
    CHECK_TEXT(error.name, "UNKNOWN_ERROR");
    // Texts are cut before a character that does not fit.
    char text[8];
    larder_copy_text(text, sizeof text, "123456\xc3\xa4", 8);
    CHECK_TEXT(text, "123456");
    larder_copy_text(text, sizeof text, "12345\xc3\xa4", 7);
    CHECK_TEXT(text, "12345\xc3\xa4");
}

// The numbers of the header are those of the protocol. c.bats compares the codes of errors.
static void test_codes(void) {
    larder_error error = {0};
    larder_fail(&error, LARDER_ERROR_FILE_EXISTS, "%s", "");
    CHECK_TEXT(error.name, "FILE_EXISTS");
    larder_fail(&error, LARDER_ERROR_IDEMPOTENCY_MISMATCH, "%s", "");
    CHECK_TEXT(error.name, "IDEMPOTENCY_MISMATCH");
    CHECK_INTEGER(LARDER_TYPE_OBJECTS, LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_OBJECTS);
    CHECK_INTEGER(LARDER_TYPE_DECIMAL, LARDER__V1__COLUMN_TYPE__COLUMN_TYPE_DECIMAL);
    CHECK_INTEGER(LARDER_MODE, LARDER__V1__AGGREGATE_FUNCTION__AGGREGATE_FUNCTION_MODE);
    CHECK_INTEGER(LARDER_MERGE_ROLLBACK, LARDER__V1__MERGE_POLICY__MERGE_POLICY_ROLLBACK);
    CHECK_INTEGER(
        LARDER_STRINGS_LOCALIZED, LARDER__V1__STRING_ORDER__STRING_ORDER_LOCALIZED_STANDARD);
    CHECK_INTEGER(LARDER_MOVE, LARDER__V1__RELATIONSHIP_EDIT_KIND__RELATIONSHIP_EDIT_KIND_MOVE);
    CHECK_INTEGER(LARDER_DELETED, LARDER__V1__HISTORY_CHANGE_KIND__HISTORY_CHANGE_KIND_DELETED);
}

void test_codec(void) {
    test_identifiers();
    test_malformed_identifiers();
    test_tokens();
    test_values();
    test_errors();
    test_codes();
}
