#include "unit.h"

// Observed queries and the history, on prepared replies.

static const larder_query query = {.entity = "Letter"};

// The names of the rows of the current result, one after the other.
static const char *letters(larder_observation *observation) {
    static char text[64];
    size_t length = 0;
    larder_rows *rows = larder_observe_rows(observation);
    while (larder_rows_next(rows, NULL) == 1 && length < sizeof text - 1) {
        text[length++] = *larder_row_text(rows, 0, NULL);
    }
    text[length] = 0;
    CHECK_INTEGER(larder_observe_row_count(observation), length);
    return text;
}

static void test_changes(void) {
    Script *script = canned_begin(0);
    send_change(script, 2, &(Change){.begins = true, .names = "AB", .count = 2, .position = 1});
    send_change(script, 2, &(Change){.ends = true, .names = "CD", .count = 2, .position = 1});
    // The example of the protocol's page: B is deleted, C moves, E is inserted, and D changes to F.
    send_change(script, 2, &(Change){.names = "CEF", .count = 3, .new_indexes = {0, 2, 3},
        .old_indexes = {3, 0, 4}, .moved = {true, false, false}, .deleted = {1},
        .deleted_count = 1, .position = 2});
    send_change(script, 2, &(Change){.deleted = {0, 1, 2, 3}, .deleted_count = 4, .position = 3});
    send_change(script, 2, &(Change){.begins = true, .ends = true, .names = "Z", .count = 1,
        .position = 4});
    larder_client *client = canned_open();
    larder_error error = {0};
    larder_observation *observation = larder_observe(client, &query, 0, &error);
    if (!CHECK(observation != NULL)) return;
    size_t count;
    CHECK_INTEGER(larder_observe_next(observation, -1, &error), 1);
    CHECK_TEXT(letters(observation), "ABCD");
    CHECK(larder_observe_changes(observation, &count) == NULL && count == 0);
    CHECK_INTEGER(larder_observe_next(observation, 1000, &error), 1);
    CHECK_TEXT(letters(observation), "CAEF");
    static const larder_row_change expected[] = {
        {LARDER_ROW_DELETED, 1, 0}, {LARDER_ROW_MOVED, 2, 0}, {LARDER_ROW_INSERTED, 0, 2},
        {LARDER_ROW_UPDATED, 3, 3}};
    const larder_row_change *changes = larder_observe_changes(observation, &count);
    CHECK_INTEGER(count, 4);
    for (size_t index = 0; index < 4 && count == 4; index++) {
        CHECK_INTEGER(changes[index].kind, expected[index].kind);
        CHECK_INTEGER(changes[index].old_index, expected[index].old_index);
        CHECK_INTEGER(changes[index].new_index, expected[index].new_index);
    }
    CHECK_INTEGER(larder_observe_position(observation).number, 2);
    larder_rows *rows = larder_observe_rows(observation);
    CHECK(larder_rows_seek(rows, 2) && !larder_rows_seek(rows, 4));
    CHECK_TEXT(larder_row_text(rows, 0, NULL), "E");
    larder_identifier identifier;
    CHECK(larder_row_object(rows, &identifier) && identifier.key == 'E');
    CHECK(memcmp(identifier.store, canned_store, 16) == 0);
    CHECK_INTEGER(larder_observe_next(observation, -1, &error), 1);
    CHECK_TEXT(letters(observation), "");
    CHECK_INTEGER(larder_observe_next(observation, -1, &error), 1);
    CHECK_TEXT(letters(observation), "Z");
    CHECK_INTEGER(larder_observe_next(observation, -1, &error), -1);
    CHECK_CODE(&error, LARDER_ERROR_CONNECTION_FAILED);
    CHECK_TEXT(letters(observation), "Z");
    larder_observation_free(observation);
    larder_close(client);
}

// Changes that do not agree with the result of two rows.
static void test_inconsistent_changes(void) {
    static const Change changes[] = {
        {.deleted = {2}, .deleted_count = 1},
        {.deleted = {1, 0}, .deleted_count = 2},
        {.deleted = {0, 0}, .deleted_count = 2},
        {.names = "X", .count = 1, .new_indexes = {3}, .old_indexes = {0}},
        {.names = "X", .count = 1, .new_indexes = {0}, .old_indexes = {3}},
        {.names = "X", .count = 1, .new_indexes = {2}, .old_indexes = {1}},
        {.names = "XY", .count = 2, .new_indexes = {0, 1}, .old_indexes = {1, 1}},
        {.names = "XY", .count = 2, .new_indexes = {1, 1}, .old_indexes = {0, 0}},
        {.names = "XY", .count = 2, .new_indexes = {1, 0}, .old_indexes = {0, 0}},
        {.names = "X", .count = 1, .new_indexes = {0}, .old_indexes = {1}, .deleted = {0},
            .deleted_count = 1},
        {.deleted = {4294967295}, .deleted_count = 1},
        {.names = "X", .count = 1, .new_indexes = {4294967295}, .old_indexes = {4294967295}},
    };
    for (size_t index = 0; index < sizeof changes / sizeof *changes; index++) {
        Script *script = canned_begin(0);
        send_change(script, 2, &(Change){.begins = true, .ends = true, .names = "AB", .count = 2});
        send_change(script, 2, &changes[index]);
        larder_client *client = canned_open();
        larder_error error = {0};
        larder_observation *observation = larder_observe(client, &query, 0, &error);
        if (!CHECK(observation != NULL)) return;
        CHECK_INTEGER(larder_observe_next(observation, -1, &error), 1);
        if (!CHECK_INTEGER(larder_observe_next(observation, -1, &error), -1)) {
            fprintf(stderr, "    change %zu\n", index);
        }
        CHECK_CODE(&error, LARDER_ERROR_MALFORMED_MESSAGE);
        CHECK_TEXT(letters(observation), "AB");
        larder_observation_free(observation);
        larder_close(client);
    }
}

// After a lost connection the query is observed again, and its next result is whole. With a timeout
// of 0 nothing is opened.
static void test_observing_again(void) {
    Script *script = canned_begin(0);
    send_change(script, 2, &(Change){.begins = true, .ends = true, .names = "AB", .count = 2});
    send_change(script, 2, &(Change){.begins = true, .names = "X", .count = 1});
    script = canned_begin(1);
    send_change(script, 2, &(Change){.begins = true, .ends = true, .names = "ABC", .count = 3});
    script->stays_open = true;
    larder_client *client = canned_open();
    larder_error error = {0};
    larder_observation *observation = larder_observe(client, &query, 0, &error);
    if (!CHECK(observation != NULL)) return;
    CHECK_INTEGER(larder_observe_next(observation, -1, &error), 1);
    int found;
    while ((found = larder_observe_next(observation, 0, &error)) == 0) continue;
    CHECK_INTEGER(found, -1);
    CHECK_CODE(&error, LARDER_ERROR_CONNECTION_FAILED);
    CHECK_INTEGER(larder_observe_next(observation, 0, &error), -1);
    CHECK_TEXT(letters(observation), "AB");
    larder_set_retry(client, 5000);
    CHECK_INTEGER(larder_observe_next(observation, 5000, &error), 1);
    CHECK_TEXT(letters(observation), "ABC");
    CHECK_INTEGER(larder_observe_next(observation, 0, &error), 0);
    CHECK_INTEGER(larder_observe_next(observation, 20, &error), 0);
    // A cancelled wait ends nothing.
    larder_cancel(client);
    CHECK_INTEGER(larder_observe_next(observation, -1, &error), -1);
    CHECK_CODE(&error, LARDER_ERROR_CANCELLED);
    CHECK_INTEGER(larder_observe_next(observation, 0, &error), 0);
    larder_observation_free(observation);
    larder_close(client);
}

// A change before the whole result, at first and after a lost connection.
static void test_changes_without_result(void) {
    for (int losses = 0; losses < 2; losses++) {
        Script *script = canned_begin(0);
        if (losses > 0) {
            send_change(
                script, 2, &(Change){.begins = true, .ends = true, .names = "AB", .count = 2});
            send_change(script, 2, &(Change){.begins = true, .names = "X", .count = 1});
            script = canned_begin(1);
        }
        send_change(script, 2, &(Change){.names = "Y", .count = 1, .old_indexes = {1}});
        script->stays_open = true;
        larder_client *client = canned_open();
        larder_set_retry(client, 5000);
        larder_error error = {0};
        larder_observation *observation = larder_observe(client, &query, 0, &error);
        if (!CHECK(observation != NULL)) return;
        if (losses > 0) CHECK_INTEGER(larder_observe_next(observation, 5000, &error), 1);
        CHECK_INTEGER(larder_observe_next(observation, 5000, &error), -1);
        CHECK_CODE(&error, LARDER_ERROR_MALFORMED_MESSAGE);
        CHECK_TEXT(letters(observation), losses > 0 ? "AB" : "");
        larder_observation_free(observation);
        larder_close(client);
    }
}

static void check_transaction(const larder_feed *feed, int64_t number, bool is_partial) {
    const larder_transaction *transaction = larder_feed_transaction(feed);
    if (!CHECK(transaction != NULL)) return;
    CHECK_INTEGER(transaction->number, number);
    CHECK_INTEGER(transaction->is_partial, is_partial);
    CHECK_TEXT(transaction->author, "author");
    CHECK_INTEGER(transaction->user, -1);
    CHECK(transaction->time == 978307200);
    CHECK_INTEGER(transaction->run_count, 1);
    CHECK_INTEGER(transaction->runs[0].last_key, 5);
    CHECK_TEXT(transaction->runs[0].properties[1], "year");
    CHECK_INTEGER(transaction->tombstones[0].key, 9);
    CHECK_INTEGER(transaction->tombstones[0].values[0].value.length, 3);
}

// A connection that is lost within a transaction sends it again from its beginning.
static void test_following(void) {
    Script *script = canned_begin(0);
    send_transaction(script, 2, 4, false, true);
    send_transaction(script, 2, 5, true, true);
    script = canned_begin(1);
    send_transaction(script, 2, 5, true, true);
    send_transaction(script, 2, 5, false, true);
    script->stays_open = true;
    larder_client *client = canned_open();
    larder_set_retry(client, 5000);
    larder_error error = {0};
    larder_feed *feed = larder_follow(client, NULL, &error);
    if (!CHECK(feed != NULL)) return;
    CHECK(larder_feed_transaction(feed) == NULL);
    CHECK_INTEGER(larder_feed_next(feed, -1, &error), 1);
    check_transaction(feed, 4, false);
    CHECK_INTEGER(larder_feed_position(feed).number, 4);
    CHECK_INTEGER(larder_feed_next(feed, -1, &error), 1);
    check_transaction(feed, 5, true);
    CHECK_INTEGER(larder_feed_position(feed).number, 4);
    CHECK_INTEGER(larder_feed_next(feed, -1, &error), 1);
    check_transaction(feed, 5, true);
    CHECK_INTEGER(larder_feed_next(feed, -1, &error), 1);
    check_transaction(feed, 5, false);
    CHECK_INTEGER(larder_feed_position(feed).number, 5);
    CHECK_INTEGER(larder_feed_next(feed, 0, &error), 0);
    CHECK(larder_feed_transaction(feed) == NULL);
    larder_feed_free(feed);
    larder_close(client);
}

// Everything that a client has made fails after larder_close, and can still be freed.
static void test_closed_client(void) {
    Script *script = canned_begin(0);
    send_change(script, 2, &(Change){.begins = true, .ends = true, .names = "AB", .count = 2});
    script->stays_open = true;
    larder_client *client = canned_open();
    larder_set_retry(client, 5000);
    larder_error error = {0};
    larder_observation *observation = larder_observe(client, &query, 0, &error);
    CHECK_INTEGER(larder_observe_next(observation, -1, &error), 1);
    larder_feed *feed = larder_follow(client, NULL, &error);
    larder_insert_column column = {"name", LARDER_TYPE_STRING, NULL};
    larder_insertion *insertion =
        larder_insert_many(client, "Letter", &column, 1, NULL, &error);
    larder_close(client);
    CHECK_TEXT(letters(observation), "AB");
    CHECK_INTEGER(larder_observe_next(observation, -1, &error), -1);
    CHECK_CODE(&error, LARDER_ERROR_CONNECTION_FAILED);
    CHECK_INTEGER(larder_feed_next(feed, -1, &error), -1);
    CHECK_TEXT(error.message, "the client is closed");
    larder_value value = larder_text("C");
    CHECK(larder_insertion_add(insertion, &value, &error));
    CHECK(!larder_insertion_finish(insertion, NULL, &error));
    CHECK_CODE(&error, LARDER_ERROR_CONNECTION_FAILED);
    larder_insertion_free(insertion);
    larder_feed_free(feed);
    larder_observation_free(observation);
}

static void test_reading(void) {
    Script *script = canned_begin(0);
    send_transaction(script, 2, 4, false, true);
    send_transaction(script, 2, 5, false, false);
    larder_client *client = canned_open();
    larder_error error = {0};
    larder_feed *feed = larder_history(client, NULL, &error);
    if (!CHECK(feed != NULL)) return;
    CHECK_INTEGER(larder_feed_next(feed, -1, &error), 1);
    CHECK_INTEGER(larder_feed_next(feed, -1, &error), 1);
    check_transaction(feed, 5, false);
    CHECK_INTEGER(larder_feed_next(feed, -1, &error), 0);
    CHECK_INTEGER(larder_feed_next(feed, -1, &error), 0);
    larder_feed_free(feed);
    larder_close(client);
}

void test_live(void) {
    test_changes();
    test_inconsistent_changes();
    test_observing_again();
    test_changes_without_result();
    test_following();
    test_reading();
    test_closed_client();
}
