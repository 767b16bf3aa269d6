#include "unit.h"

#include <stdlib.h>

// Memory that runs out: each call is repeated with the first, the second, … allocation failing,
// once alone and once with all that follow, until it succeeds without reaching the failure. The
// linker replaces the functions of memory (--wrap).

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
char *__wrap_strdup(const char *text);

// The number of allocations before the failure in this thread; negative is never.
static _Thread_local int left = -1;
static _Thread_local bool fails_on, has_failed;

static bool fails(void) {
    if (left < 0) return false;
    if (left > 0) {
        left--;
        return false;
    }
    has_failed = true;
    if (!fails_on) left = -1;
    return true;
}

void *__wrap_malloc(size_t size) { return fails() ? NULL : __real_malloc(size); }

void *__wrap_calloc(size_t count, size_t size) {
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size) {
    return fails() ? NULL : __real_realloc(memory, size);
}

char *__wrap_strdup(const char *text) { return fails() ? NULL : __real_strdup(text); }

static bool fetch_rows(larder_client *client, larder_error *error) {
    larder_property variable = {"name", larder_text("Ann")};
    larder_value values[] = {larder_int64(1), larder_text("b")}, list = larder_list(values, 2);
    larder_query query = {
        .entity = "Member", .where = "a IN %@ AND name == $name", .arguments = &list,
        .argument_count = 1, .variables = &variable, .variable_count = 1,
        .columns = &(larder_term){"name", "n"}, .column_count = 1,
        .sort = &(larder_sort){.term = "name"}, .sort_count = 1};
    larder_rows *rows = larder_fetch(client, &query, error);
    int found = -1;
    while (rows && (found = larder_rows_next(rows, error)) == 1) {
        larder_row_text(rows, 7, NULL);
        larder_row_text(rows, 12, NULL);
    }
    larder_rows_free(rows);
    return found == 0;
}

static bool observe_letters(larder_client *client, larder_error *error) {
    larder_query query = {.entity = "Letter"};
    larder_observation *observation = larder_observe(client, &query, 0, error);
    bool is_done = observation && larder_observe_next(observation, -1, error) == 1 &&
                   larder_observe_next(observation, -1, error) == 1;
    if (is_done) CHECK_INTEGER(larder_observe_row_count(observation), 3);
    larder_observation_free(observation);
    return is_done;
}

static bool follow_transactions(larder_client *client, larder_error *error) {
    const char *names[] = {"Student", "Course"};
    larder_token token = {.number = 3};
    larder_history_query query = {.after = &token, .entities = names, .entity_count = 2};
    larder_feed *feed = larder_follow(client, &query, error);
    bool is_done = feed && larder_feed_next(feed, -1, error) == 1 &&
                   larder_feed_next(feed, -1, error) == 1;
    larder_feed_free(feed);
    return is_done;
}

static bool save_changes(larder_client *client, larder_error *error) {
    larder_changes *changes = larder_changes_new();
    if (!changes) {
        larder_fail_memory(error);
        return false;
    }
    larder_changes_key(changes, NULL);
    larder_changes_author(changes, "author");
    larder_identifier object = larder_changes_insert(changes, "Student");
    larder_changes_set(changes, "name", larder_text("Ann"));
    larder_changes_set(changes, "courses", larder_objects(&object, 1));
    object.key = 1;
    larder_changes_update(changes, &object);
    larder_changes_edit(changes, LARDER_ADD, "courses", &object, 1, 0);
    larder_changes_base(changes, "name", larder_text("Bob"));
    larder_value value = larder_text("x");
    larder_query all = {
        .entity = "Student", .where = "name == %@", .arguments = &value, .argument_count = 1};
    larder_changes_update_all(changes, &all, &(larder_term){"name", "name"}, 1);
    larder_changes_require(changes, &all, 0);
    bool is_saved = larder_save(client, changes, error);
    larder_changes_free(changes);
    return is_saved;
}

static void send_replies(int kind) {
    Sample sample;
    make_sample(&sample);
    Script *script = canned_begin(0);
    script->stays_open = true;
    switch (kind) {
    case 0:
        send_sample(script, 2, &sample, true);
        send_sample(script, 2, &sample, false);
        break;
    case 1:
        send_change(script, 2, &(Change){.begins = true, .ends = true, .names = "ABC", .count = 3});
        send_change(script, 2, &(Change){.names = "DE", .count = 2, .new_indexes = {0, 2},
            .old_indexes = {2, 0}, .moved = {true, false}, .deleted = {0}, .deleted_count = 1});
        break;
    case 2:
        send_transaction(script, 2, 4, false, true);
        send_transaction(script, 2, 5, false, true);
        break;
    case 3: send_saved(script, 2, 41); break;
    default: send_inserted(script, 2, 2, 1); break;
    }
}

void test_memory(void) {
    static bool (*const calls[])(larder_client *, larder_error *) = {
        fetch_rows, observe_letters, follow_transactions, save_changes, insert_rows};
    for (int kind = 0; kind < 10; kind++) {
        int failures = 0;
        bool is_done = false;
        for (int count = 0; !is_done && count < 1000; count++) {
            send_replies(kind / 2);
            larder_error error = {0};
            fails_on = kind % 2;
            has_failed = false;
            left = count;
            larder_client *client = canned_open();
            bool is_read = client && calls[kind / 2](client, &error);
            left = -1;
            larder_close(client);
            is_done = is_read && !has_failed;
            if (is_done) break;
            failures++;
            if (!is_read && client) {
                bool is_expected = error.code == LARDER_ERROR_RESOURCE_EXHAUSTED ||
                                   error.code == LARDER_ERROR_INDETERMINATE;
                if (!CHECK(is_expected)) {
                    fprintf(stderr, "    call %d, allocation %d: %s: %s\n", kind, count,
                        error.name ? error.name : "no error", error.message);
                }
            }
        }
        CHECK(is_done);
        CHECK(failures > 10);
    }
}
