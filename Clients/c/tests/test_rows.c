#include "unit.h"

// The cursor and its readers, on prepared replies.

static const larder_query query = {.entity = "Member"};

static larder_rows *open_rows(larder_client **client, larder_error *error) {
    *client = canned_open();
    CHECK(*client != NULL);
    return *client ? larder_fetch(*client, &query, error) : NULL;
}

static void check_first_row(larder_rows *rows) {
    size_t length;
    larder_identifier identifier, two[2];
    CHECK(larder_row_bool(rows, 0));
    CHECK_INTEGER(larder_row_int64(rows, 0), 1);
    CHECK_INTEGER(larder_row_int64(rows, larder_column(rows, "2")), 1);
    CHECK(larder_row_double(rows, 4) == 1.5);
    CHECK(larder_row_double(rows, 3) == 1);
    CHECK(memcmp(larder_row_text(rows, 7, &length), "a\0b", 4) == 0);
    CHECK_INTEGER(length, 3);
    CHECK_TEXT(larder_row_decimal(rows, 6), "a");
    CHECK(larder_row_date(rows, 8) == 978307201.5);
    struct timespec time = larder_row_timespec(rows, 8);
    CHECK_INTEGER(time.tv_sec, 978307201);
    CHECK_INTEGER(time.tv_nsec, 500000000);
    CHECK(memcmp(larder_row_uuid(rows, 9), "a\0bCDEFGHIJKLMNO", 16) == 0);
    CHECK(memcmp(larder_row_bytes(rows, 11, &length), "a\0b", 3) == 0 && length == 3);
    CHECK(larder_row_identifier(rows, 13, &identifier));
    CHECK_TEXT(identifier.entity, "Member");
    CHECK_INTEGER(larder_row_identifiers(rows, 14, two, 1), 2);
    CHECK_INTEGER(larder_row_identifiers(rows, 14, two, 2), 2);
    CHECK_TEXT(two[1].entity, "Student");
    CHECK_INTEGER(two[1].key, 2);
    CHECK(memcmp(two[1].store, canned_store, 16) == 0);
}

static void check_second_row(larder_rows *rows) {
    size_t length;
    larder_identifier identifier;
    CHECK_TEXT(larder_row_text(rows, 7, &length), "C");
    CHECK_INTEGER(length, 1);
    CHECK(larder_row_object(rows, &identifier));
    CHECK_TEXT(identifier.entity, "Student");
    CHECK_INTEGER(identifier.key, 2);
    CHECK_INTEGER(larder_row_version(rows), 11);
    // A quarter of a second before 2001.
    struct timespec time = larder_row_timespec(rows, 8);
    CHECK_INTEGER(time.tv_sec, 978307199);
    CHECK_INTEGER(time.tv_nsec, 750000000);
    CHECK(larder_row_identifier(rows, 13, &identifier));
    CHECK_TEXT(identifier.entity, "Student");
}

static void check_nil_row(larder_rows *rows) {
    larder_identifier identifier;
    size_t length = 1;
    for (int column = 0; column < COLUMNS; column++) CHECK(larder_row_is_nil(rows, column));
    CHECK(larder_row_text(rows, 7, &length) == NULL && length == 0);
    CHECK(larder_row_uuid(rows, 9) == NULL);
    CHECK_INTEGER(larder_row_int64(rows, 3), 0);
    CHECK(!larder_row_identifier(rows, 13, &identifier) && identifier.key == 0);
    CHECK_INTEGER(larder_row_identifiers(rows, 14, &identifier, 1), 0);
    CHECK(larder_row_object(rows, &identifier));
    CHECK_TEXT(identifier.entity, "Tutor");
}

static void test_readers(void) {
    Sample sample;
    make_sample(&sample);
    Script *script = canned_begin(0);
    send_sample(script, 2, &sample, true);
    send_sample(script, 2, &sample, false);
    // Bytes one after the other are the same as all at once.
    for (size_t piece = 0; piece < 3; piece++) {
        script->piece = piece;
        larder_client *client;
        larder_error error = {0};
        larder_rows *rows = open_rows(&client, &error);
        if (!CHECK(rows != NULL)) return;
        CHECK_INTEGER(larder_column_count(rows), COLUMNS);
        CHECK_TEXT(larder_column_name(rows, 14), "15");
        CHECK_INTEGER(larder_column_type(rows, 9), LARDER_TYPE_UUID);
        CHECK(larder_column_name(rows, 15) == NULL && larder_column_name(rows, -1) == NULL);
        for (int batch = 0; batch < 2; batch++) {
            CHECK_INTEGER(larder_rows_next(rows, &error), 1);
            check_first_row(rows);
            CHECK_INTEGER(larder_rows_next(rows, &error), 1);
            check_second_row(rows);
            CHECK_INTEGER(larder_rows_next(rows, &error), 1);
            check_nil_row(rows);
        }
        CHECK_INTEGER(larder_rows_next(rows, &error), 0);
        CHECK_INTEGER(larder_rows_next(rows, &error), 0);
        CHECK_INTEGER(larder_rows_batch_count(rows), 2);
        larder_rows_free(rows);
        larder_close(client);
    }
}

// A reader that fails makes the next step fail, and the first failure is reported.
static void test_failures(void) {
    Sample sample;
    make_sample(&sample);
    send_sample(canned_begin(0), 2, &sample, false);
    for (int failure = 0; failure < 5; failure++) {
        larder_client *client;
        larder_error error = {0};
        larder_rows *rows = open_rows(&client, &error);
        if (!CHECK(rows != NULL)) return;
        uint32_t expected = LARDER_ERROR_UNKNOWN_PROPERTY;
        if (failure == 0) CHECK_INTEGER(larder_row_int64(rows, 3), 0);
        if (failure > 0) CHECK_INTEGER(larder_rows_next(rows, &error), 1);
        if (failure == 1) CHECK_INTEGER(larder_row_int64(rows, 15), 0);
        if (failure == 2) CHECK_INTEGER(larder_row_int64(rows, larder_column(rows, "nam")), 0);
        if (failure == 3) {
            CHECK(larder_row_text(rows, 3, NULL) == NULL);
            CHECK_INTEGER(larder_row_int64(rows, 99), 0);
            expected = LARDER_ERROR_WRONG_TYPE;
        }
        if (failure == 3) {
            // A time just before a second.
            rows->page->batch->columns[8]->doubles[0] = -1e-12;
            CHECK_INTEGER(larder_row_timespec(rows, 8).tv_sec, 978307200);
            CHECK_INTEGER(larder_row_timespec(rows, 8).tv_nsec, 0);
        }
        if (failure == 4) {
            rows->page->batch->columns[8]->doubles[0] = 1e300;
            CHECK_INTEGER(larder_row_timespec(rows, 8).tv_sec, 0);
            expected = LARDER_ERROR_MALFORMED_VALUE;
        }
        CHECK_INTEGER(larder_rows_next(rows, &error), -1);
        CHECK_CODE(&error, expected);
        if (failure == 2) CHECK_TEXT(error.message, "the rows have no column `nam`");
        CHECK_INTEGER(larder_rows_next(rows, NULL), -1);
        larder_rows_free(rows);
        larder_close(client);
    }
}

// Rows, their client and observations are freed in any order.
static void test_order_of_frees(void) {
    Sample sample;
    make_sample(&sample);
    Script *script = canned_begin(0);
    send_sample(script, 2, &sample, true);
    script->stays_open = true;
    larder_client *client;
    larder_error error = {0};
    larder_rows *rows = open_rows(&client, &error);
    if (!CHECK(rows != NULL)) return;
    larder_close(client);
    for (int row = 0; row < ROWS; row++) CHECK_INTEGER(larder_rows_next(rows, &error), 1);
    CHECK_INTEGER(larder_rows_next(rows, &error), -1);
    CHECK_CODE(&error, LARDER_ERROR_CONNECTION_FAILED);
    CHECK_TEXT(error.message, "the client is closed");
    larder_rows_free(rows);
    larder_close(NULL);
    larder_rows_free(NULL);
}

// A get has one batch per entity; batches without rows are skipped.
static void test_several_batches(void) {
    Sample sample, other;
    make_sample(&sample);
    make_sample(&other);
    Batch empty = LARDER__V1__BATCH__INIT;
    other.batch.n_columns = 1;
    Batch *batches[] = {&sample.batch, &empty, &other.batch};
    send_batches(canned_begin(0), 2, batches, 3, false);
    larder_client *client = canned_open();
    larder_identifier identifier = {.key = 1, .entity = "Member"};
    larder_error error = {0};
    larder_rows *rows = larder_get(client, &identifier, 1, &error);
    if (!CHECK(rows != NULL)) return;
    for (int row = 0; row < 2 * ROWS; row++) {
        CHECK_INTEGER(larder_rows_next(rows, &error), 1);
        CHECK_INTEGER(larder_column_count(rows), row < ROWS ? COLUMNS : 1);
    }
    CHECK_INTEGER(larder_rows_next(rows, &error), 0);
    larder_rows_free(rows);
    larder_close(client);
}

void test_rows(void) {
    test_readers();
    test_failures();
    test_order_of_frees();
    test_several_batches();
}
