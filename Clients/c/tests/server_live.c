#include "server.h"

#include <poll.h>

// Live queries and the history

// Waits with poll until there is a result.
static bool wait_for_result(larder_observation *observation) {
    for (int waits = 0; waits < 100; waits++) {
        int found = larder_observe_next(observation, 0, &error);
        if (found != 0) return found == 1;
        struct pollfd ready = {.fd = larder_fd(client), .events = POLLIN};
        poll(&ready, 1, 1000);
    }
    return false;
}

static void test_observation(void) {
    larder_query query = {
        .entity = "Author", .where = "name BEGINSWITH \"Live\"",
        .sort = &(larder_sort){.term = "name"}, .sort_count = 1};
    larder_query counted = {
        .entity = "Author",
        .aggregates = &(larder_aggregate_column){LARDER_COUNT, NULL, "count", NULL},
        .aggregate_count = 1};
    larder_observation *observation = larder_observe(client, &query, 0, &error);
    larder_observation *total = larder_observe(client, &counted, 0, &error);
    if (!CHECK(observation != NULL) || !CHECK(total != NULL)) return;
    CHECK(wait_for_result(observation));
    CHECK_INTEGER(larder_observe_row_count(observation), 0);
    CHECK_INTEGER(larder_observe_next(total, 5000, &error), 1);
    larder_rows *rows;
    rows = larder_observe_rows(total);
    CHECK_INTEGER(larder_rows_next(rows, &error), 1);
    int64_t before = larder_row_int64(rows, 0);
    larder_identifier b = insert_author("Live b");
    CHECK(wait_for_result(observation));
    insert_author("Live a");
    CHECK_INTEGER(larder_observe_next(observation, 5000, &error), 1);
    size_t count;
    const larder_row_change *changes = larder_observe_changes(observation, &count);
    CHECK_INTEGER(count, 1);
    CHECK(changes && changes[0].kind == LARDER_ROW_INSERTED && changes[0].new_index == 0);
    rows = larder_observe_rows(observation);
    CHECK_INTEGER(larder_rows_next(rows, &error), 1);
    CHECK_TEXT(larder_row_text(rows, larder_column(rows, "name"), NULL), "Live a");
    CHECK_DONE(larder_delete(client, &b, &error), &error);
    CHECK_INTEGER(larder_observe_next(observation, 5000, &error), 1);
    CHECK_INTEGER(larder_observe_row_count(observation), 1);
    CHECK_INTEGER(larder_observe_next(observation, 0, &error), 0);
    larder_observation_free(observation);
    // Two were inserted and one deleted. Commits in between may be one change.
    int64_t after = before;
    for (int changes = 0; changes < 3 && after != before + 1; changes++) {
        CHECK_INTEGER(larder_observe_next(total, 5000, &error), 1);
        rows = larder_observe_rows(total);
        CHECK_INTEGER(larder_rows_next(rows, &error), 1);
        after = larder_row_int64(rows, 0);
        if (changes == 2) CHECK_INTEGER(after, before + 1);
    }
    larder_observation_free(total);
    query.offset = 1;
    observation = larder_observe(client, &query, 0, &error);
    CHECK(observation && larder_observe_next(observation, 5000, &error) == -1);
    CHECK_CODE(&error, LARDER_ERROR_UNSUPPORTED);
    larder_observation_free(observation);
}

// The names and versions of rows, one after the other.
static void list_rows(larder_rows *rows, char *text, size_t size) {
    size_t length = 0;
    text[0] = 0;
    while (length < size && larder_rows_next(rows, &error) == 1) {
        length += (size_t)snprintf(
            text + length, size - length, "%s %" PRId64 "|",
            larder_row_text(rows, larder_column(rows, "title"), NULL), larder_row_version(rows));
    }
}

static uint32_t next_random(uint32_t limit) {
    static uint64_t state = 42;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % limit;
}

// Saves up to four random inserts, updates and deletes of books.
static void save_randomly(larder_identifier *books, size_t *count) {
    larder_changes *changes = larder_changes_new();
    size_t first = *count;
    char title[16];
    for (uint32_t edits = 1 + next_random(4); edits > 0; edits--) {
        snprintf(title, sizeof title, "R%02" PRIu32, next_random(100));
        uint32_t action = next_random(first > 8 ? 4 : 1);
        if (action < 2 || first == 0) {
            larder_changes_insert(changes, next_random(3) == 0 ? "Novel" : "Book");
            larder_changes_set(changes, "title", larder_text(title));
        } else if (action == 2) {
            larder_changes_update(changes, &books[next_random((uint32_t)first)]);
            larder_changes_set(changes, "title", larder_text(title));
        } else {
            // The last one that existed takes the index of the deleted one.
            size_t index = next_random((uint32_t)first);
            larder_changes_delete(changes, &books[index]);
            books[index] = books[--first];
        }
    }
    CHECK_DONE(larder_save(client, changes, &error), &error);
    *count = first;
    for (size_t index = 0; index < larder_saved_insert_count(changes); index++) {
        larder_saved_identifier(changes, index, &books[(*count)++]);
    }
    larder_changes_free(changes);
}

// After each commit, an observed query arrives at the result of a fetch.
static void test_random_changes(void) {
    static larder_identifier books[1000];
    size_t count = 0;
    larder_query query = {
        .entity = "Book", .where = "title BEGINSWITH \"R\" AND title < \"R80\"",
        .sort = &(larder_sort){.term = "title"}, .sort_count = 1, .limit = 12};
    larder_observation *observation = larder_observe(client, &query, 0, &error);
    if (!CHECK_DONE(observation != NULL, &error)) return;
    size_t changed = 0;
    for (int step = 0; step < 100; step++) {
        char fetched[1024], observed[1024] = "";
        save_randomly(books, &count);
        larder_rows *rows = larder_fetch(client, &query, &error);
        if (!CHECK(rows != NULL)) break;
        list_rows(rows, fetched, sizeof fetched);
        larder_rows_free(rows);
        int found = 1;
        for (int waits = 0; waits < 8 && found == 1; waits++) {
            list_rows(larder_observe_rows(observation), observed, sizeof observed);
            if (strcmp(observed, fetched) == 0) break;
            found = larder_observe_next(observation, 5000, &error);
            size_t changes;
            if (larder_observe_changes(observation, &changes)) changed++;
        }
        if (!CHECK_TEXT(observed, fetched)) break;
    }
    // Most of them were changes, and not whole results.
    CHECK(changed > 50);
    larder_observation_free(observation);
}

static void test_history(void) {
    larder_token start, parsed;
    char text[LARDER_TOKEN_SIZE];
    CHECK_DONE(larder_position(client, &start, &error), &error);
    CHECK(larder_token_parse(larder_token_text(&start, text), &parsed, &error));
    CHECK(parsed.number == start.number && parsed.epoch == start.epoch);
    larder_identifier author = insert_author("History");
    larder_property name = {"name", larder_text("Histories")};
    CHECK_DONE(larder_update(client, &author, &name, 1, &error), &error);
    const char *entities[] = {"Author"};
    larder_history_query query = {.after = &start, .entities = entities, .entity_count = 1};
    larder_feed *feed = larder_history(client, &query, &error);
    if (!CHECK(feed != NULL)) return;
    CHECK_INTEGER(larder_feed_next(feed, -1, &error), 1);
    CHECK_INTEGER(larder_feed_next(feed, -1, &error), 1);
    const larder_transaction *transaction = larder_feed_transaction(feed);
    CHECK_TEXT(transaction->client, "tests");
    CHECK(transaction->user >= 0 && transaction->process > 0 && transaction->time > 1.7e9);
    CHECK_INTEGER(transaction->runs[0].kind, LARDER_UPDATED);
    CHECK_INTEGER(transaction->runs[0].first_key, author.key);
    CHECK_TEXT(transaction->runs[0].properties[0], "name");
    CHECK_INTEGER(larder_feed_next(feed, -1, &error), 0);
    CHECK_INTEGER(larder_feed_position(feed).number, start.number + 2);
    larder_feed_free(feed);
    query.limit = 1;
    query.newest_first = true;
    feed = larder_history(client, &query, &error);
    CHECK_INTEGER(larder_feed_next(feed, -1, &error), 1);
    CHECK_INTEGER(larder_feed_transaction(feed)->number, start.number + 2);
    CHECK_INTEGER(larder_feed_next(feed, -1, &error), 0);
    larder_feed_free(feed);
    // Following: two transactions, none, and a new one. A request of other calls is between them.
    feed = larder_follow(client, &(larder_history_query){.after = &start}, &error);
    CHECK_INTEGER(larder_feed_next(feed, 5000, &error), 1);
    CHECK_INTEGER(larder_feed_next(feed, 5000, &error), 1);
    CHECK_INTEGER(larder_feed_next(feed, 20, &error), 0);
    CHECK_DONE(larder_delete(client, &author, &error), &error);
    CHECK_INTEGER(larder_feed_next(feed, 5000, &error), 1);
    CHECK_INTEGER(larder_feed_transaction(feed)->runs[0].kind, LARDER_DELETED);
    // On another connection it continues after the last transaction.
    CHECK_DONE(larder_reconnect(client, 1000, &error), &error);
    CHECK_INTEGER(larder_feed_next(feed, 20, &error), 0);
    insert_author("Another");
    CHECK_INTEGER(larder_feed_next(feed, 5000, &error), 1);
    CHECK_INTEGER(larder_feed_transaction(feed)->number, start.number + 4);
    larder_feed_free(feed);
    start.store[0] ^= 1;
    feed = larder_history(client, &(larder_history_query){.after = &start}, &error);
    CHECK(feed && larder_feed_next(feed, -1, &error) == -1);
    CHECK_CODE(&error, LARDER_ERROR_FOREIGN_TOKEN);
    larder_feed_free(feed);
}

void test_live(void) {
    test_observation();
    test_random_changes();
    test_history();
}
