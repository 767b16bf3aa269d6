#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

// Replies that violate the protocol: each is a typed error, and nothing worse.

static const larder_query query = {.entity = "Member"};

// Reads all rows of a fetch with every reader. Returns whether it succeeded.
static bool fetch_all(larder_client *client, larder_error *error) {
    larder_rows *rows = larder_fetch(client, &query, error);
    if (!rows) return false;
    int found, count = 0;
    while ((found = larder_rows_next(rows, error)) == 1 && count++ < 100) {
        read_everything(rows);
        // The readers of other types have failed.
        rows->error.code = 0;
    }
    larder_rows_free(rows);
    return found == 0;
}

static void check_rejected(uint32_t code, int line) {
    larder_client *client = canned_open();
    larder_error error = {0};
    bool is_read = client && fetch_all(client, &error);
    check_true(!is_read, "the reply is rejected", __FILE__, line);
    check_code(&error, code, "the code", __FILE__, line);
    check_true(!client || larder_fd(client) == -1, "the connection is closed", __FILE__, line);
    larder_close(client);
}

#define CHECK_REJECTED(change) \
    do { \
        make_sample(&sample); \
        change; \
        send_sample(canned_begin(0), 2, &sample, false); \
        check_rejected(LARDER_ERROR_MALFORMED_MESSAGE, __LINE__); \
    } while (0)

static void test_damaged_batches(void) {
    Sample sample;
    char name[ENTITY_BYTES_MAX + 2];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = 0;
    make_sample(&sample);
    send_sample(canned_begin(0), 2, &sample, false);
    larder_client *client = canned_open();
    larder_error error = {0};
    CHECK_DONE(fetch_all(client, &error), &error);
    larder_close(client);
    CHECK_REJECTED(sample.batch.row_count = 4294967295);
    CHECK_REJECTED(sample.batch.row_count = 2);
    CHECK_REJECTED(sample.columns[0].type = 0);
    CHECK_REJECTED(sample.columns[0].type = 16);
    CHECK_REJECTED(sample.columns[0].n_integers = 2);
    CHECK_REJECTED(sample.columns[4].n_doubles = 0);
    CHECK_REJECTED(sample.columns[7].n_ends = 2);
    CHECK_REJECTED(sample.ends[7][0] = 5);
    CHECK_REJECTED(sample.ends[7][2] = 3);
    CHECK_REJECTED(sample.ends[7][2] = 4294967295);
    CHECK_REJECTED(sample.columns[7].heap.len = 3);
    CHECK_REJECTED(sample.ends[9][0] = 15);
    CHECK_REJECTED(sample.integers[13][0] = 0);
    CHECK_REJECTED(sample.integers[13][1] = -1);
    CHECK_REJECTED(sample.integers[14][2] = 0);
    CHECK_REJECTED(sample.ends[14][1] = 4);
    CHECK_REJECTED(sample.entities[2] = 3);
    CHECK_REJECTED(sample.columns[13].n_entity_indexes = 1);
    CHECK_REJECTED(sample.columns[13].entity = "");
    CHECK_REJECTED(sample.columns[14].entity = name);
    CHECK_REJECTED(sample.subentities[1] = name);
    CHECK_REJECTED(sample.identity.entity = name);
    CHECK_REJECTED(sample.identity.n_keys = 2);
    CHECK_REJECTED(sample.identity.n_versions = 2);
    CHECK_REJECTED(sample.keys[1] = 0);
    CHECK_REJECTED(sample.keys[1] = INT64_MIN);
    CHECK_REJECTED(sample.identity.n_entity_indexes = 2);
    CHECK_REJECTED((sample.batch.n_columns = 0, sample.batch.identity = NULL));
    // Beyond its end the bitmap of nils has no nils, and a date may be anything.
    make_sample(&sample);
    for (int index = 0; index < COLUMNS - 6; index++) sample.columns[index].nulls.len = 0;
    sample.doubles[8][0] = INFINITY;
    sample.doubles[8][1] = NAN;
    send_sample(canned_begin(0), 2, &sample, false);
    client = canned_open();
    CHECK_DONE(fetch_all(client, &error), &error);
    larder_close(client);
}

static void send_raw(uint32_t length, const void *bytes, size_t count) {
    Script *script = canned_begin(0);
    uint8_t header[] = {
        (uint8_t)(length >> 24), (uint8_t)(length >> 16), (uint8_t)(length >> 8),
        (uint8_t)length};
    canned_bytes(script, header, sizeof header);
    canned_bytes(script, bytes, count);
}

// An envelope twice in one frame. protobuf merges the bodies: the result has the batches of both.
static void check_merged(void) {
    Sample sample;
    make_sample(&sample);
    Script *script = canned_begin(0);
    size_t start = script->length + LENGTH_BYTES;
    send_sample(script, 2, &sample, false);
    size_t length = script->length - start;
    uint8_t *copy = malloc(length);
    memcpy(copy, script->bytes + start, length);
    uint8_t header[] = {0, 0, (uint8_t)(2 * length >> 8), (uint8_t)(2 * length)};
    memcpy(script->bytes + start - LENGTH_BYTES, header, LENGTH_BYTES);
    canned_bytes(script, copy, length);
    free(copy);
    larder_client *client = canned_open();
    larder_error error = {0};
    CHECK_DONE(fetch_all(client, &error), &error);
    larder_close(client);
}

static void test_damaged_frames(void) {
    send_raw((16 << 20) + 1, "\x08\x02", 2);
    check_rejected(LARDER_ERROR_FRAME_TOO_LONG, __LINE__);
    send_raw(UINT32_MAX, "", 0);
    check_rejected(LARDER_ERROR_FRAME_TOO_LONG, __LINE__);
    send_raw(16 << 20, "", 0);
    check_rejected(LARDER_ERROR_CONNECTION_FAILED, __LINE__);
    // A client that accepts longer frames waits for the rest of one.
    send_raw((16 << 20) + 1, "", 0);
    larder_error error = {0};
    larder_options options = {.frame_bytes_max = (16 << 20) + 1};
    larder_client *client = larder_open(canned_path(), &options, &error);
    larder_set_retry(client, 0);
    CHECK(!fetch_all(client, &error));
    CHECK_CODE(&error, LARDER_ERROR_CONNECTION_FAILED);
    larder_close(client);
    send_raw(4, "\xff\xff\xff\xff", 4);
    check_rejected(LARDER_ERROR_MALFORMED_FRAME, __LINE__);
    send_raw(0, "", 0);
    check_rejected(LARDER_ERROR_UNKNOWN_MESSAGE, __LINE__);
    send_raw(2, "\x08\x02", 2);
    check_rejected(LARDER_ERROR_UNKNOWN_MESSAGE, __LINE__);
    // A body that is not known, and one that is a request.
    send_raw(6, "\x08\x02\xca\x3e\x01\x00", 6);
    check_rejected(LARDER_ERROR_UNKNOWN_MESSAGE, __LINE__);
    send_raw(5, "\x08\x02\x8a\x01\x00", 5);
    check_rejected(LARDER_ERROR_MALFORMED_MESSAGE, __LINE__);
    check_merged();
    // Half a million empty batches in a frame of one megabyte need too much memory.
    static uint8_t batches[(1 << 20) - 16];
    size_t count = 0, body = sizeof batches - 8;
    uint8_t start[] = {0x08, 0x02, 0xfa, 0x01, (uint8_t)(body | 0x80), (uint8_t)(body >> 7 | 0x80),
        (uint8_t)(body >> 14)};
    memcpy(batches, start, sizeof start);
    for (count = sizeof start; count + 2 <= sizeof start + body; count += 2) batches[count] = 0x0a;
    send_raw((uint32_t)count, batches, sizeof batches > count ? count : sizeof batches);
    check_rejected(LARDER_ERROR_RESOURCE_EXHAUSTED, __LINE__);
}

static void test_wrong_replies(void) {
    Sample sample;
    make_sample(&sample);
    send_sample(canned_begin(0), 3, &sample, false);
    check_rejected(LARDER_ERROR_MALFORMED_MESSAGE, __LINE__);
    send_saved(canned_begin(0), 2, 1);
    check_rejected(LARDER_ERROR_MALFORMED_MESSAGE, __LINE__);
    send_error(canned_begin(0), 0, LARDER_ERROR_MALFORMED_FRAME, "nonsense");
    check_rejected(LARDER_ERROR_MALFORMED_FRAME, __LINE__);
    send_error(canned_begin(0), 2, 0, "an error without a number");
    larder_client *client = canned_open();
    larder_error error = {0};
    CHECK(!fetch_all(client, &error));
    CHECK_CODE(&error, LARDER_ERROR_MALFORMED_MESSAGE);
    CHECK_TEXT(error.message, "an error without a number");
    larder_close(client);
    // More replies than the credit of 4, while the program has read one.
    Script *script = canned_begin(0);
    for (int count = 0; count < 20; count++) send_sample(script, 2, &sample, true);
    send_error(script, 3, LARDER_ERROR_TIMEOUT, "late");
    client = canned_open();
    larder_rows *rows = larder_fetch(client, &query, &error);
    CHECK(rows != NULL);
    CHECK(!larder_ping(client, &error));
    CHECK_CODE(&error, LARDER_ERROR_MALFORMED_MESSAGE);
    CHECK_TEXT(error.message, "the server sent more replies than the client allowed");
    larder_rows_free(rows);
    larder_close(client);
}

// Replies of an insert stream of one batch.
static void test_inserted(void) {
    static const int64_t counts[][2] = {{2, 2}, {2, -1}, {-1, 1}, {0, INT64_MIN}, {0, INT64_MAX}};
    larder_error error = {0};
    send_inserted(canned_begin(0), 2, 2, 1);
    larder_client *client = canned_open();
    CHECK_DONE(insert_rows(client, &error), &error);
    larder_close(client);
    for (size_t index = 0; index < sizeof counts / sizeof *counts; index++) {
        send_inserted(canned_begin(0), 2, counts[index][0], counts[index][1]);
        client = canned_open();
        CHECK(!insert_rows(client, &error));
        // The rows may have been stored.
        CHECK_CODE(&error, LARDER_ERROR_INDETERMINATE);
        larder_close(client);
    }
}

static void check_welcome(Larder__V1__WelcomeReply *welcome, uint32_t code, int line) {
    Script *script = canned_begin(0);
    script->length = 0;
    Envelope envelope = LARDER__V1__ENVELOPE__INIT;
    envelope.id = 1;
    envelope.body_case = LARDER__V1__ENVELOPE__BODY_WELCOME;
    envelope.welcome = welcome;
    canned_envelope(script, &envelope);
    larder_error error = {0};
    larder_client *client = larder_open(canned_path(), NULL, &error);
    check_true(client == NULL, "the welcome is rejected", __FILE__, line);
    check_code(&error, code, "the code", __FILE__, line);
    larder_close(client);
}

static void test_welcomes(void) {
    Larder__V1__WelcomeReply welcome = LARDER__V1__WELCOME_REPLY__INIT;
    welcome.protocol_version = 1;
    welcome.store = (ProtobufCBinaryData){16, (uint8_t *)canned_store};
    welcome.frame_bytes_max = welcome.requests_in_flight_max = 1000;
    Larder__V1__WelcomeReply changed = welcome;
    changed.protocol_version = 2;
    check_welcome(&changed, LARDER_ERROR_UNSUPPORTED_VERSION, __LINE__);
    changed = welcome;
    changed.store.len = 15;
    check_welcome(&changed, LARDER_ERROR_MALFORMED_MESSAGE, __LINE__);
    changed = welcome;
    changed.frame_bytes_max = 0;
    check_welcome(&changed, LARDER_ERROR_MALFORMED_MESSAGE, __LINE__);
    changed = welcome;
    changed.requests_in_flight_max = 0;
    check_welcome(&changed, LARDER_ERROR_MALFORMED_MESSAGE, __LINE__);
    // A request that is longer than the server's limit is not sent.
    changed = welcome;
    changed.frame_bytes_max = 64;
    Script *script = canned_begin(0);
    script->length = 0;
    Envelope envelope = LARDER__V1__ENVELOPE__INIT;
    envelope.id = 1;
    envelope.body_case = LARDER__V1__ENVELOPE__BODY_WELCOME;
    envelope.welcome = &changed;
    canned_envelope(script, &envelope);
    script->stays_open = true;
    larder_client *client = canned_open();
    if (!CHECK(client != NULL)) return;
    char text[100] = {0};
    memset(text, 'x', sizeof text - 1);
    larder_property property = {"name", larder_text(text)};
    larder_error error = {0};
    CHECK(!larder_insert(client, "Student", &property, 1, NULL, &error));
    CHECK_CODE(&error, LARDER_ERROR_FRAME_TOO_LONG);
    CHECK(larder_fd(client) >= 0);
    larder_close(client);
}

// A reply that ends at any byte is a lost connection.
static void test_cut_replies(void) {
    Sample sample;
    make_sample(&sample);
    Script *script = canned_begin(0);
    size_t welcome = script->length;
    send_sample(script, 2, &sample, false);
    size_t length = script->length;
    for (size_t cut = 0; cut < length; cut += cut < welcome + 8 ? 1 : 7) {
        script->length = cut;
        canned_count = 1;
        larder_client *client = canned_open();
        CHECK((client != NULL) == (cut >= welcome));
        larder_error error = {0};
        if (client) {
            CHECK(!fetch_all(client, &error));
            CHECK_CODE(&error, LARDER_ERROR_CONNECTION_FAILED);
        }
        larder_close(client);
    }
}

void test_hostile(void) {
    test_damaged_batches();
    test_damaged_frames();
    test_wrong_replies();
    test_inserted();
    test_welcomes();
    test_cut_replies();
}

// Random replies

static uint64_t random_state;

static uint32_t next_random(uint32_t limit) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % limit;
}

// Reads whatever a reply leads to. Only crashes, leaks and endless loops are failures here.
static void use_reply(larder_client *client, int kind) {
    larder_error error;
    larder_observation *observation = NULL;
    larder_feed *feed = NULL;
    larder_changes *changes = NULL;
    larder_identifier identifier = {.key = 1, .entity = "Member"};
    switch (kind) {
    case 0: fetch_all(client, &error); break;
    case 1:
        observation = larder_observe(client, &query, 0, &error);
        for (int step = 0; observation && step < 8; step++) {
            if (larder_observe_next(observation, 100, &error) != 1) break;
            larder_rows *rows = larder_observe_rows(observation);
            while (larder_rows_next(rows, NULL) == 1) {
                read_everything(rows);
                rows->error.code = 0;
            }
        }
        larder_observation_free(observation);
        break;
    case 2:
        feed = larder_follow(client, NULL, &error);
        for (int step = 0; feed && step < 8 && larder_feed_next(feed, 100, &error) == 1; step++) {
            const larder_transaction *transaction = larder_feed_transaction(feed);
            for (size_t index = 0; index < transaction->run_count; index++) {
                CHECK(transaction->runs[index].first_key > 0);
            }
        }
        larder_feed_free(feed);
        break;
    case 3: insert_rows(client, &error); break;
    default:
        changes = larder_changes_new();
        larder_changes_update(changes, &identifier);
        if (larder_save(client, changes, &error)) {
            for (size_t index = 0; index < larder_saved_insert_count(changes); index++) {
                CHECK(larder_saved_identifier(changes, index, &identifier));
            }
        }
        larder_changes_free(changes);
    }
}

static void send_replies(Script *script, int kind) {
    Sample sample;
    make_sample(&sample);
    if (kind == 0) {
        send_sample(script, 2, &sample, true);
        send_sample(script, 2, &sample, false);
    } else if (kind == 1) {
        send_change(script, 2, &(Change){.begins = true, .ends = true, .names = "ABC", .count = 3});
        send_change(script, 2, &(Change){.names = "DE", .count = 2, .new_indexes = {0, 2},
            .old_indexes = {2, 0}, .moved = {true, false}, .deleted = {0}, .deleted_count = 1});
    } else if (kind == 2) {
        send_transaction(script, 2, 4, true, true);
        send_transaction(script, 2, 4, false, true);
    } else if (kind == 3) {
        send_inserted(script, 2, 2, 1);
    } else {
        send_saved(script, 2, 41);
    }
}

void test_random(uint64_t seed, int count) {
    printf("unit: %d random replies with the seed %" PRIu64 "\n", count, seed);
    random_state = seed;
    // A reply that makes the client wait is a failure.
    alarm(300);
    for (int round = 0; round < count; round++) {
        Script *script = canned_begin(0);
        size_t welcome = round % 8 == 0 ? 0 : script->length;
        send_replies(script, round % 5);
        for (uint32_t edits = 1 + next_random(4); edits > 0; edits--) {
            size_t rest = script->length - welcome;
            size_t index = welcome + next_random((uint32_t)rest);
            switch (next_random(3)) {
            case 0: script->bytes[index] ^= (uint8_t)(1 << next_random(8)); break;
            case 1: script->bytes[index] = (uint8_t)next_random(256); break;
            default: script->bytes[index] = next_random(2) ? 0xff : 0; break;
            }
        }
        larder_client *client = canned_open();
        if (client) use_reply(client, round % 5);
        larder_close(client);
    }
    alarm(0);
}
