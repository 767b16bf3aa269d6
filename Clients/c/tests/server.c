// server SOCKET: tests every call of the library on a server with schema.json and an empty store.
#include "server.h"

#include <pthread.h>

larder_client *client;
larder_error error;

larder_identifier insert_author(const char *name) {
    larder_identifier author = {0};
    larder_property property = {"name", larder_text(name)};
    CHECK_DONE(larder_insert(client, "Author", &property, 1, &author, &error), &error);
    return author;
}

void insert_books(const larder_identifier *author, int count) {
    larder_changes *changes = larder_changes_new();
    for (int number = 0; number < count; number++) {
        char title[32];
        snprintf(title, sizeof title, "Book %04d", number);
        larder_changes_insert(changes, number % 10 == 3 ? "Novel" : "Book");
        larder_changes_set(changes, "title", larder_text(title));
        larder_changes_set(changes, "year", larder_int64(1990 + number % 10));
        larder_changes_set(changes, "author", larder_object(author));
    }
    CHECK_DONE(larder_save(client, changes, &error), &error);
    CHECK_INTEGER(larder_saved_insert_count(changes), count);
    larder_changes_free(changes);
}

int64_t count_of(const char *entity, const char *where) {
    int64_t count = -1;
    larder_query query = {.entity = entity, .where = where};
    CHECK_DONE(larder_count(client, &query, &count, &error), &error);
    return count;
}

void delete_all(const char *entity) {
    larder_changes *changes = larder_changes_new();
    larder_query query = {.entity = entity};
    larder_changes_delete_all(changes, &query);
    CHECK_DONE(larder_save(client, changes, &error), &error);
    larder_changes_free(changes);
}

static void test_connection(void) {
    const larder_welcome *welcome = larder_client_welcome(client);
    CHECK_TEXT(welcome->schema_version, "1.0.0");
    CHECK(!welcome->is_read_only && welcome->frame_bytes_max == 16 << 20);
    larder_rows *rows = larder_fetch(client, &(larder_query){.entity = "Book"}, &error);
    CHECK_INTEGER(larder_rows_next(rows, &error), 1);
    CHECK_DONE(larder_reconnect(client, 1000, &error), &error);
    int found;
    while ((found = larder_rows_next(rows, &error)) == 1) continue;
    CHECK_INTEGER(found, -1);
    CHECK_CODE(&error, LARDER_ERROR_CONNECTION_FAILED);
    larder_rows_free(rows);
    CHECK_DONE(larder_ping(client, &error), &error);
    // The server refuses a trace with a space, so it has received it.
    CHECK_DONE(larder_set_trace(client, "a b", &error), &error);
    CHECK(!larder_ping(client, &error));
    CHECK_CODE(&error, LARDER_ERROR_MALFORMED_VALUE);
    CHECK_DONE(larder_set_trace(client, "00-1f-2e-01", &error), &error);
    CHECK_DONE(larder_ping(client, &error), &error);
    CHECK_DONE(larder_set_trace(client, NULL, &error), &error);
    CHECK_DONE(larder_ping(client, &error), &error);
    // A query that takes longer than its time.
    larder_set_timeout(client, 1);
    larder_set_retry(client, 0);
    larder_query slow = {
        .entity = "Book", .where = "SUBQUERY(author.books, $b, $b.title == title).@count > 5"};
    int64_t count;
    CHECK(!larder_count(client, &slow, &count, &error));
    CHECK_CODE(&error, LARDER_ERROR_TIMEOUT);
    larder_set_timeout(client, 10000);
    larder_set_retry(client, 10000);
    CHECK_DONE(larder_ping(client, &error), &error);
}

// Different clients are independent: each thread has one.
static void *use_client(void *path) {
    larder_client *own = larder_open(path, NULL, NULL);
    long failures = own == NULL;
    for (int round = 0; own && round < 50; round++) {
        int64_t count;
        if (!larder_count(own, &(larder_query){.entity = "Author"}, &count, NULL)) failures++;
    }
    larder_close(own);
    return (void *)failures;
}

static void test_threads(char *path) {
    pthread_t threads[4];
    for (int index = 0; index < 4; index++) {
        CHECK(pthread_create(&threads[index], NULL, use_client, path) == 0);
    }
    for (int index = 0; index < 4; index++) {
        void *failures;
        pthread_join(threads[index], &failures);
        CHECK(failures == NULL);
    }
}

int main(int count, char **arguments) {
    if (count != 2) {
        fprintf(stderr, "usage: server SOCKET\n");
        return 64;
    }
    larder_options options = {
        .name = "tests", .schema_version = "1.0.0", .wait_milliseconds = 1000};
    client = larder_open(arguments[1], &options, &error);
    if (!CHECK_DONE(client != NULL, &error)) return 1;
    test_reading();
    test_writing();
    test_live();
    test_connection();
    test_threads(arguments[1]);
    larder_close(client);
    options.schema_version = "2.0.0";
    CHECK(larder_open(arguments[1], &options, &error) == NULL);
    CHECK_CODE(&error, LARDER_ERROR_SCHEMA_MISMATCH);
    return check_end("server");
}
