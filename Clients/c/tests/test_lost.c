#include "unit.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

// Lost replies, errors of the connection, time limits and cancellation.

static const larder_query query = {.entity = "Member"};

static larder_changes *one_insert(const char *key) {
    larder_changes *changes = larder_changes_new();
    if (key) larder_changes_key(changes, key);
    larder_changes_insert(changes, "Student");
    larder_changes_set(changes, "name", larder_text("Ann"));
    return changes;
}

// Saves a set, and checks the code of the error and the number of connections.
static void check_save(const char *key, uint32_t code, int connections) {
    larder_client *client = canned_open();
    larder_set_retry(client, 2000);
    int before = canned_connections();
    larder_changes *changes = one_insert(key);
    larder_error error = {0};
    CHECK(larder_save(client, changes, &error) == (code == 0));
    CHECK_CODE(&error, code);
    CHECK_INTEGER(canned_connections() - before, connections - 1);
    larder_identifier identifier;
    CHECK(larder_saved_identifier(changes, 0, &identifier) == (code == 0));
    if (code == 0) CHECK_INTEGER(identifier.key, 41);
    larder_changes_free(changes);
    larder_close(client);
}

// A set with a key is sent again; without one it is not, unless it was certainly not applied.
static void test_lost_saves(void) {
    canned_begin(0);
    send_saved(canned_begin(1), 2, 41);
    check_save("key", 0, 2);
    canned_begin(0);
    send_saved(canned_begin(1), 2, 41);
    check_save(NULL, LARDER_ERROR_INDETERMINATE, 1);
    send_error(canned_begin(0), 0, LARDER_ERROR_UNAVAILABLE, "the server is stopping");
    send_saved(canned_begin(1), 2, 41);
    check_save(NULL, 0, 2);
    send_error(canned_begin(0), 2, LARDER_ERROR_TIMEOUT, "late");
    send_saved(canned_begin(0), 2, 41);
    Script *script = canned_begin(0);
    send_error(script, 2, LARDER_ERROR_TIMEOUT, "late");
    send_saved(script, 3, 41);
    check_save(NULL, 0, 1);
    // An error from 200 to 499 is the last word, also after a lost reply.
    canned_begin(0);
    send_error(canned_begin(1), 2, LARDER_ERROR_UNIQUENESS_VIOLATED, "twice");
    check_save("key", LARDER_ERROR_UNIQUENESS_VIOLATED, 2);
    canned_begin(0);
    send_error(canned_begin(1), 2, LARDER_ERROR_STORAGE_FULL, "full");
    check_save("key", LARDER_ERROR_INDETERMINATE, 2);
    // A reply that violates the protocol is a lost one, too.
    Sample sample;
    make_sample(&sample);
    send_sample(canned_begin(0), 2, &sample, false);
    check_save("key", LARDER_ERROR_INDETERMINATE, 1);
}

static void test_lost_reads(void) {
    Sample sample;
    make_sample(&sample);
    canned_begin(0);
    send_sample(canned_begin(1), 2, &sample, false);
    larder_error error = {0};
    for (int retries = 0; retries < 2; retries++) {
        larder_client *client = canned_open();
        if (retries) larder_set_retry(client, 2000);
        larder_rows *rows = larder_fetch(client, &query, &error);
        CHECK((rows != NULL) == (retries == 1));
        if (!rows) CHECK_CODE(&error, LARDER_ERROR_CONNECTION_FAILED);
        larder_rows_free(rows);
        larder_close(client);
        canned_begin(0);
        send_sample(canned_begin(1), 2, &sample, false);
    }
}

// A retry that finds another store ends.
static void test_other_store(void) {
    canned_begin(0);
    Script *script = canned_begin(1);
    uint8_t *found = NULL;
    for (size_t index = 0; !found && index + 16 <= script->length; index++) {
        if (memcmp(script->bytes + index, canned_store, 16) == 0) found = script->bytes + index;
    }
    if (!CHECK(found != NULL)) return;
    found[15] = 99;
    larder_client *client = canned_open();
    larder_set_retry(client, 2000);
    larder_error error = {0};
    CHECK(larder_fetch(client, &query, &error) == NULL);
    CHECK_CODE(&error, LARDER_ERROR_FOREIGN_IDENTIFIER);
    CHECK_INTEGER(larder_fd(client), -1);
    CHECK(larder_client_welcome(client) == NULL);
    // The program can accept it.
    CHECK_DONE(larder_reconnect(client, 0, &error), &error);
    CHECK_INTEGER(larder_client_welcome(client)->store[15], 99);
    larder_close(client);
}

static void *cancel_later(void *client) {
    struct timespec time = {0, 20000000};
    nanosleep(&time, NULL);
    larder_cancel(client);
    return NULL;
}

static void test_cancellation(void) {
    Script *script = canned_begin(0);
    script->stays_open = true;
    larder_client *client = canned_open();
    larder_error error = {0};
    pthread_t thread;
    pthread_create(&thread, NULL, cancel_later, client);
    CHECK(larder_fetch(client, &query, &error) == NULL);
    CHECK_CODE(&error, LARDER_ERROR_CANCELLED);
    pthread_join(thread, NULL);
    // A cancellation before a wait is not lost.
    larder_cancel(client);
    larder_cancel(client);
    CHECK(larder_ping(client, &error) == false);
    CHECK_CODE(&error, LARDER_ERROR_CANCELLED);
    larder_cancel(client);
    larder_changes *changes = one_insert("key");
    CHECK(!larder_save(client, changes, &error));
    CHECK_CODE(&error, LARDER_ERROR_INDETERMINATE);
    larder_changes_free(changes);
    larder_close(client);
}

// At most one request less than the server reads is open at the same time, and replies to several
// of them may alternate.
static void test_requests_at_once(void) {
    Sample sample;
    make_sample(&sample);
    Script *script = canned_begin(0);
    for (uint64_t id = 8; id > 1; id--) send_sample(script, id, &sample, true);
    script->stays_open = true;
    larder_client *client = canned_open();
    larder_error error = {0};
    larder_rows *rows[8];
    // The replies arrive before the requests; a reply to a request that was not sent is an error.
    rows[0] = larder_fetch(client, &query, &error);
    CHECK(rows[0] == NULL);
    CHECK_CODE(&error, LARDER_ERROR_MALFORMED_MESSAGE);
    larder_close(client);
    script = canned_begin(0);
    for (uint64_t id = 2; id < 9; id++) send_sample(script, id, &sample, true);
    script->stays_open = true;
    client = canned_open();
    larder_set_timeout(client, 1);
    for (int index = 0; index < 7; index++) {
        rows[index] = larder_fetch(client, &query, &error);
        CHECK(rows[index] != NULL);
    }
    CHECK(larder_fetch(client, &query, &error) == NULL);
    CHECK_CODE(&error, LARDER_ERROR_RESOURCE_EXHAUSTED);
    for (int index = 6; index >= 0; index--) {
        for (int row = 0; row < ROWS; row++) {
            CHECK_INTEGER(larder_rows_next(rows[index], &error), 1);
        }
        larder_rows_free(rows[index]);
    }
    larder_close(client);
}

static void test_opening(void) {
    larder_error error = {0};
    CHECK(larder_open("/nonexistent/socket", NULL, &error) == NULL);
    CHECK_CODE(&error, LARDER_ERROR_CONNECTION_FAILED);
    CHECK_INTEGER(larder_error_kind(&error), LARDER_KIND_CONNECTION);
    char path[200];
    memset(path, 'x', sizeof path);
    path[sizeof path - 1] = 0;
    CHECK(larder_open(path, NULL, &error) == NULL);
    CHECK(larder_open(path, NULL, NULL) == NULL);
    // It waits for a server for a time.
    larder_options options = {.wait_milliseconds = 50};
    int64_t start = larder_now();
    CHECK(larder_open("/nonexistent/socket", &options, &error) == NULL);
    CHECK(larder_now() - start >= 10);
    Script *script = canned_begin(0);
    script->length = 0;
    send_error(script, 1, LARDER_ERROR_SCHEMA_MISMATCH, "another schema");
    CHECK(larder_open("", &options, &error) == NULL);
    larder_client *client = canned_open();
    CHECK(client == NULL);
}

// Without a path the client finds the only socket in a folder.
static void test_default_path(void) {
    char folder[] = "/tmp/larder-XXXXXX", first[64], second[64];
    if (!CHECK(mkdtemp(folder) != NULL)) return;
    setenv("XDG_RUNTIME_DIR", folder, 1);
    larder_error error = {0};
    CHECK(larder_open(NULL, NULL, &error) == NULL);
    CHECK_CODE(&error, LARDER_ERROR_CONNECTION_FAILED);
    snprintf(first, sizeof first, "%s/larder", folder);
    CHECK(mkdir(first, 0700) == 0);
    snprintf(first, sizeof first, "%s/larder/a.sock", folder);
    snprintf(second, sizeof second, "%s/larder/b.sock", folder);
    canned_begin(0);
    CHECK(symlink(canned_path(), first) == 0);
    larder_client *client = larder_open(NULL, NULL, &error);
    CHECK_DONE(client != NULL, &error);
    larder_close(client);
    CHECK(symlink(canned_path(), second) == 0);
    CHECK(larder_open(NULL, NULL, &error) == NULL);
    CHECK(strstr(error.message, "has 2 sockets") != NULL);
    unlink(first);
    unlink(second);
    *strrchr(first, '/') = 0;
    rmdir(first);
    rmdir(folder);
}

void test_lost(void) {
    test_lost_saves();
    test_lost_reads();
    test_other_store();
    test_cancellation();
    test_requests_at_once();
    test_opening();
    test_default_path();
}
