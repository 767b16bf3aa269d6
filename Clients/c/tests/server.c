// server SOCKET: tests every call of the library on a server with schema.json and an empty store.
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static larder_client *client;
static larder_error error;

// Inserts an author.
static larder_identifier insert_author(const char *name) {
    larder_identifier author = {0};
    larder_property property = {"name", larder_text(name)};
    CHECK_DONE(larder_insert(client, "Author", &property, 1, &author, &error), &error);
    return author;
}

// Inserts books of an author, whose years count from 1990, in one transaction.
static void insert_books(const larder_identifier *author, int count) {
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

static int64_t count_of(const char *entity, const char *where) {
    int64_t count = -1;
    larder_query query = {.entity = entity, .where = where};
    CHECK_DONE(larder_count(client, &query, &count, &error), &error);
    return count;
}

static void delete_all(const char *entity) {
    larder_changes *changes = larder_changes_new();
    larder_query query = {.entity = entity};
    larder_changes_delete_all(changes, &query);
    CHECK_DONE(larder_save(client, changes, &error), &error);
    larder_changes_free(changes);
}

// Values

static void fill(
    larder_property properties[13], const larder_value *extra, const larder_identifier *book) {
    static const uint8_t uuid[16] = {0xde, 0xad, 0xbe, 0xef, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 255};
    struct timespec time = {1700000000, 250000000};
    larder_property all[] = {
        {"bool", larder_bool(true)}, {"int16", larder_int64(-32768)},
        {"int32", larder_int64(INT32_MAX)}, {"int64", larder_int64(INT64_MIN)},
        {"float", larder_float(0.5f)}, {"double", larder_double(-1e300)},
        {"decimal", larder_decimal("-12.50")}, {"string", *extra},
        {"date", larder_timespec(time)}, {"uuid", larder_uuid(uuid)},
        {"data", larder_bytes("\0\xff", 2)}, {"json", larder_json("{\"a\": [1, null]}")},
        {"book", larder_object(book)}};
    memcpy(properties, all, sizeof all);
}

static void check_filled(larder_rows *rows, const larder_identifier *book) {
    size_t length;
    larder_identifier found;
    CHECK(larder_row_bool(rows, larder_column(rows, "bool")));
    CHECK_INTEGER(larder_row_int64(rows, larder_column(rows, "int16")), -32768);
    CHECK_INTEGER(larder_row_int64(rows, larder_column(rows, "int32")), INT32_MAX);
    CHECK(larder_row_int64(rows, larder_column(rows, "int64")) == INT64_MIN);
    CHECK(larder_row_double(rows, larder_column(rows, "float")) == 0.5);
    CHECK(larder_row_double(rows, larder_column(rows, "double")) == -1e300);
    CHECK_TEXT(larder_row_decimal(rows, larder_column(rows, "decimal")), "-12.5");
    const char *text = larder_row_text(rows, larder_column(rows, "string"), &length);
    CHECK(length == 5 && memcmp(text, "a\0\xc3\xa4z", 6) == 0);
    CHECK(larder_row_date(rows, larder_column(rows, "date")) == 1700000000.25);
    struct timespec time = larder_row_timespec(rows, larder_column(rows, "date"));
    CHECK(time.tv_sec == 1700000000 && time.tv_nsec == 250000000);
    const uint8_t *uuid = larder_row_uuid(rows, larder_column(rows, "uuid"));
    CHECK(uuid && uuid[0] == 0xde && uuid[15] == 255);
    CHECK(larder_row_is_nil(rows, larder_column(rows, "url")));
    const void *data = larder_row_bytes(rows, larder_column(rows, "data"), &length);
    CHECK(length == 2 && memcmp(data, "\0\xff", 2) == 0);
    CHECK(strstr(larder_row_text(rows, larder_column(rows, "json"), NULL), "null") != NULL);
    CHECK(larder_row_identifier(rows, larder_column(rows, "book"), &found));
    CHECK(larder_identifier_equal(&found, book));
}

static void test_types(void) {
    larder_identifier author = insert_author("Typed"), book, sample, found;
    insert_books(&author, 4);
    larder_value three = larder_int64(1993);
    larder_query novel = {
        .entity = "Book", .where = "year == %@", .arguments = &three, .argument_count = 1,
        .selection = LARDER_SELECT_IDENTIFIERS};
    larder_rows *rows = larder_fetch(client, &novel, &error);
    CHECK_INTEGER(larder_rows_next(rows, &error), 1);
    CHECK(larder_row_object(rows, &book));
    CHECK_TEXT(book.entity, "Novel");
    CHECK_INTEGER(larder_column_count(rows), 0);
    larder_rows_free(rows);
    larder_property properties[13];
    larder_value text = larder_text_bytes("a\0\xc3\xa4z", 5);
    fill(properties, &text, &book);
    CHECK_DONE(larder_insert(client, "Sample", properties, 13, &sample, &error), &error);
    rows = larder_get(client, &sample, 1, &error);
    CHECK_INTEGER(larder_rows_next(rows, &error), 1);
    check_filled(rows, &book);
    CHECK(larder_row_object(rows, &found) && larder_identifier_equal(&found, &sample));
    CHECK_INTEGER(larder_row_version(rows), 1);
    CHECK_INTEGER(larder_rows_next(rows, &error), 0);
    larder_rows_free(rows);
    // Each value finds its object as an argument.
    for (int index = 0; index < 13; index++) {
        char where[40];
        if (strcmp(properties[index].name, "json") == 0) continue;
        snprintf(where, sizeof where, "%s == %%@", properties[index].name);
        larder_query query = {
            .entity = "Sample", .where = where, .arguments = &properties[index].value,
            .argument_count = 1};
        int64_t count = 0;
        CHECK_DONE(larder_count(client, &query, &count, &error), &error);
        if (!CHECK_INTEGER(count, 1)) fprintf(stderr, "    %s\n", properties[index].name);
    }
    delete_all("Sample");
    delete_all("Book");
    delete_all("Author");
}

// Queries

static void test_stream(void) {
    larder_identifier author = insert_author("Ann");
    insert_books(&author, 3000);
    larder_value arguments[] = {larder_text("Ann"), larder_int64(1)};
    larder_query query = {
        .entity = "Book", .where = "author.name == %@", .arguments = arguments,
        .argument_count = 2,
        .columns = (larder_term[]){{"title", NULL}, {"year + %@", "next"}}, .column_count = 2,
        .sort = (larder_sort[]){{"year", true, 0, 0}, {"title", false, 0, 0}}, .sort_count = 2};
    larder_rows *rows = larder_fetch(client, &query, &error);
    larder_rows *others = larder_fetch(client, &query, &error);
    if (!CHECK(rows != NULL) || !CHECK(others != NULL)) return;
    int count = 0;
    // Two results and other calls alternate on one connection.
    while (larder_rows_next(rows, &error) == 1) {
        CHECK_INTEGER(larder_rows_next(others, &error), 1);
        CHECK_INTEGER(larder_row_int64(others, 1), 2000 - count / 300);
        if (count % 1000 == 0) CHECK_INTEGER(count_of("Book", "year == 1993"), 300);
        if (count++ == 0) CHECK_TEXT(larder_row_text(rows, 0, NULL), "Book 0009");
    }
    CHECK_INTEGER(count, 3000);
    CHECK_INTEGER(larder_rows_next(others, &error), 0);
    CHECK(larder_rows_batch_count(rows) > 1);
    larder_rows_free(rows);
    larder_rows_free(others);
    // Results that are left do not count towards the limit of requests.
    for (int round = 0; round < 100; round++) {
        rows = larder_fetch(client, &query, &error);
        if (!CHECK(rows != NULL)) break;
        CHECK_INTEGER(larder_rows_next(rows, &error), 1);
        larder_rows_free(rows);
    }
    query.limit = 2;
    query.offset = 299;
    rows = larder_fetch(client, &query, &error);
    CHECK_INTEGER(larder_rows_next(rows, &error), 1);
    CHECK_TEXT(larder_row_text(rows, 0, NULL), "Book 2999");
    CHECK_INTEGER(larder_rows_next(rows, &error), 1);
    CHECK_TEXT(larder_row_text(rows, 0, NULL), "Book 0008");
    CHECK_INTEGER(larder_rows_next(rows, &error), 0);
    larder_rows_free(rows);
}

static void test_aggregates(void) {
    larder_value years[] = {larder_int64(1991), larder_int64(1993)}, list = larder_list(years, 2);
    larder_property least = {"least", larder_int64(299)};
    larder_query query = {
        .entity = "Book", .where = "year IN %@", .arguments = &list, .argument_count = 1,
        .variables = &least, .variable_count = 1,
        .groups = &(larder_term){"year", "y"}, .group_count = 1,
        .aggregates = (larder_aggregate_column[]){
            {LARDER_COUNT, NULL, "books", NULL},
            {LARDER_AVERAGE, "year", "mean", NULL},
            {LARDER_MINIMUM, "title", "first", "title > \"Book 0003\""}},
        .aggregate_count = 3, .having = "books > $least",
        .sort = &(larder_sort){.term = "y", .is_descending = true}, .sort_count = 1};
    larder_rows *rows = larder_aggregate(client, &query, &error);
    if (!CHECK_DONE(rows != NULL, &error)) return;
    CHECK_INTEGER(larder_rows_next(rows, &error), 1);
    CHECK_INTEGER(larder_row_int64(rows, 0), 1993);
    CHECK_INTEGER(larder_row_int64(rows, 1), 300);
    CHECK(larder_row_double(rows, 2) == 1993);
    CHECK_TEXT(larder_row_text(rows, 3, NULL), "Book 0013");
    CHECK(!larder_row_object(rows, &(larder_identifier){0}));
    CHECK_INTEGER(larder_row_version(rows), 0);
    CHECK_INTEGER(larder_rows_next(rows, &error), 1);
    CHECK_INTEGER(larder_rows_next(rows, &error), 0);
    larder_rows_free(rows);
    larder_query distinct = {
        .entity = "Book", .columns = &(larder_term){"year", NULL}, .column_count = 1,
        .is_distinct = true, .selection = LARDER_SELECT_VALUES};
    rows = larder_fetch(client, &distinct, &error);
    int count = 0;
    while (rows && larder_rows_next(rows, &error) == 1) count++;
    CHECK_INTEGER(count, 10);
    larder_rows_free(rows);
    larder_query exact = {.entity = "Book", .excludes_subentities = true};
    int64_t books;
    CHECK(larder_count(client, &exact, &books, &error) && books == 2700);
}

static void check_refused(const larder_query *query, uint32_t code, const char *text, int line) {
    larder_rows *rows = larder_fetch(client, query, &error);
    check_true(rows == NULL, text, __FILE__, line);
    check_code(&error, code, text, __FILE__, line);
    larder_rows_free(rows);
}

#define CHECK_REFUSED(code, ...) \
    check_refused(&(larder_query){__VA_ARGS__}, code, #__VA_ARGS__, __LINE__)

static void test_refused_queries(void) {
    larder_value list = larder_list(NULL, 0), nested = larder_list(&list, 1);
    larder_value broken = larder_text("\xff");
    CHECK_REFUSED(LARDER_ERROR_UNKNOWN_ENTITY, .entity = "Boo");
    CHECK_TEXT(error.name, "UNKNOWN_ENTITY");
    CHECK(error.hint[0] != 0);
    CHECK_REFUSED(LARDER_ERROR_MALFORMED_MESSAGE, .entity = NULL);
    CHECK_REFUSED(LARDER_ERROR_MALFORMED_PREDICATE, .entity = "Book", .where = "year == ");
    CHECK_INTEGER(error.column, 9);
    CHECK_REFUSED(LARDER_ERROR_UNKNOWN_PROPERTY, .entity = "Book", .where = "nam == 1");
    CHECK_REFUSED(LARDER_ERROR_WRONG_TYPE, .entity = "Book", .where = "year IN %@",
        .arguments = &nested, .argument_count = 1);
    CHECK_REFUSED(LARDER_ERROR_UNSUPPORTED, .entity = "Book", .having = "x > 1");
    CHECK_REFUSED(LARDER_ERROR_MALFORMED_VALUE, .entity = "Book", .limit = -1);
    larder_rows *rows = larder_fetch(client, &(larder_query){.entity = "Book", .where = "title == %@",
        .arguments = &broken, .argument_count = 1}, &error);
    CHECK(rows == NULL && larder_error_kind(&error) <= LARDER_KIND_INVALID);
    CHECK_DONE(larder_ping(client, &error), &error);
}

// Changes

static void test_changes(void) {
    larder_identifier ann = insert_author("Anna");
    larder_changes *changes = larder_changes_new();
    larder_changes_key(changes, NULL);
    larder_changes_author(changes, "tests");
    larder_identifier author = larder_changes_insert(changes, "Author");
    larder_changes_set(changes, "name", larder_text("Bob"));
    for (int number = 0; number < 3; number++) {
        larder_changes_insert(changes, "Book");
        char title[] = {(char)('a' + number), 0};
        larder_changes_set(changes, "title", larder_text(title));
        larder_changes_set(changes, "author", larder_object(&author));
    }
    larder_changes_update(changes, &ann);
    larder_changes_set(changes, "name", larder_text("Anni"));
    larder_changes_version(changes, 1);
    CHECK_DONE(larder_save(client, changes, &error), &error);
    CHECK_INTEGER(larder_saved_insert_count(changes), 4);
    CHECK_INTEGER(larder_saved_version(changes, 0), 2);
    int64_t transaction = larder_saved_transaction(changes);
    CHECK_DONE(larder_save(client, changes, &error), &error);
    CHECK_INTEGER(larder_saved_transaction(changes), transaction);
    larder_identifier books[3], moved[2];
    CHECK(larder_saved_identifier(changes, 0, &author));
    for (size_t index = 0; index < 3; index++) {
        CHECK(larder_saved_identifier(changes, index + 1, &books[index]));
    }
    CHECK(!larder_saved_identifier(changes, 4, &moved[0]));
    larder_changes_free(changes);
    // An edit of an ordered list: c comes first, and b is removed.
    changes = larder_changes_new();
    larder_changes_update(changes, &author);
    larder_changes_edit(changes, LARDER_MOVE, "books", &books[2], 1, 0);
    larder_changes_edit(changes, LARDER_REMOVE, "books", &books[1], 1, LARDER_END);
    CHECK_DONE(larder_save(client, changes, &error), &error);
    larder_changes_free(changes);
    larder_rows *rows = larder_get(client, &author, 1, &error);
    CHECK_INTEGER(larder_rows_next(rows, &error), 1);
    CHECK_INTEGER(larder_row_identifiers(rows, larder_column(rows, "books"), moved, 2), 2);
    CHECK(larder_identifier_equal(&moved[0], &books[2]));
    CHECK(larder_identifier_equal(&moved[1], &books[0]));
    larder_rows_free(rows);
    larder_property year = {"year", larder_int64(1900)};
    CHECK_DONE(larder_update(client, &books[0], &year, 1, &error), &error);
    CHECK_INTEGER(count_of("Book", "year == 1900"), 1);
    CHECK_DONE(larder_delete(client, &books[0], &error), &error);
    CHECK(!larder_delete(client, &books[0], &error));
    CHECK_CODE(&error, LARDER_ERROR_OBJECT_NOT_FOUND);
    CHECK(error.uri[0] != 0);
    rows = larder_get(client, &books[0], 1, &error);
    CHECK(rows && larder_rows_next(rows, &error) == 0);
    larder_rows_free(rows);
}

static void test_conflicts(void) {
    larder_identifier ann = insert_author("Conflict");
    larder_changes *changes = larder_changes_new();
    larder_changes_update(changes, &ann);
    larder_changes_version(changes, 7);
    larder_changes_set(changes, "name", larder_text("x"));
    CHECK(!larder_save(client, changes, &error));
    CHECK_CODE(&error, LARDER_ERROR_VERSION_CONFLICT);
    CHECK_INTEGER(larder_error_kind(&error), LARDER_KIND_CONFLICT);
    CHECK_INTEGER(error.change, 0);
    larder_changes_merge(changes, LARDER_MERGE_CALLER_WINS);
    CHECK_DONE(larder_save(client, changes, &error), &error);
    larder_changes_free(changes);
    // A condition that is not met, and an upsert.
    larder_value name = larder_text("x");
    larder_query found = {
        .entity = "Author", .where = "name == %@", .arguments = &name, .argument_count = 1};
    changes = larder_changes_new();
    larder_changes_require(changes, &found, 0);
    larder_changes_insert(changes, "Author");
    larder_changes_set(changes, "name", name);
    CHECK(!larder_save(client, changes, &error));
    CHECK_CODE(&error, LARDER_ERROR_CONDITION_FAILED);
    larder_changes_free(changes);
    larder_property property = {"name", name};
    CHECK(!larder_insert(client, "Author", &property, 1, NULL, &error));
    CHECK_CODE(&error, LARDER_ERROR_UNIQUENESS_VIOLATED);
    changes = larder_changes_new();
    larder_changes_upsert(changes, true);
    larder_changes_insert(changes, "Author");
    larder_changes_set(changes, "name", name);
    larder_identifier same;
    CHECK_DONE(larder_save(client, changes, &error), &error);
    CHECK(larder_saved_identifier(changes, 0, &same) && larder_identifier_equal(&same, &ann));
    larder_changes_free(changes);
    // The first failure of a builder is that of the save.
    changes = larder_changes_new();
    larder_changes_set(changes, "name", name);
    larder_changes_insert(changes, "Author");
    CHECK(!larder_save(client, changes, &error));
    CHECK_CODE(&error, LARDER_ERROR_INVALID_CHANGE_SET);
    larder_changes_free(changes);
}

static void test_changes_by_predicate(void) {
    larder_value arguments[] = {larder_int64(1995), larder_int64(100)};
    larder_query some = {
        .entity = "Book", .where = "year == %@", .arguments = arguments, .argument_count = 2};
    larder_changes *changes = larder_changes_new();
    larder_changes_update_all(changes, &some, &(larder_term){"year + %@", "year"}, 1);
    some.argument_count = 1;
    some.where = "year == %@ + 1";
    some.limit = 10;
    some.sort = &(larder_sort){.term = "title"};
    some.sort_count = 1;
    larder_changes_delete_all(changes, &some);
    CHECK_DONE(larder_save(client, changes, &error), &error);
    CHECK_INTEGER(larder_saved_affected_count(changes, 0), 300);
    CHECK_INTEGER(larder_saved_affected_count(changes, 1), 10);
    CHECK_INTEGER(larder_saved_deleted_count(changes), 10);
    larder_changes_free(changes);
    CHECK_INTEGER(count_of("Book", "year == 2095"), 300);
    CHECK_INTEGER(count_of("Book", "year == 1996 AND title < \"Book 0106\""), 0);
    changes = larder_changes_new();
    some.offset = 1;
    larder_changes_delete_all(changes, &some);
    CHECK(!larder_save(client, changes, &error));
    CHECK_CODE(&error, LARDER_ERROR_UNSUPPORTED);
    larder_changes_free(changes);
}

// Many rows

static void test_insertion(bool is_atomic) {
    static const larder_insert_column columns[] = {
        {"string", LARDER_TYPE_STRING, NULL}, {"int64", LARDER_TYPE_INT64, NULL},
        {"double", LARDER_TYPE_DOUBLE, NULL}, {"uuid", LARDER_TYPE_UUID, NULL},
        {"book", LARDER_TYPE_OBJECT, "Book"}, {"books", LARDER_TYPE_OBJECTS, "Book"}};
    larder_query first = {.entity = "Novel", .selection = LARDER_SELECT_IDENTIFIERS, .limit = 1};
    larder_rows *rows = larder_fetch(client, &first, &error);
    larder_identifier book;
    CHECK(larder_rows_next(rows, &error) == 1 && larder_row_object(rows, &book));
    larder_rows_free(rows);
    larder_insert_options options = {.is_atomic = is_atomic, .author = "many"};
    larder_insertion *insertion =
        larder_insert_many(client, "Sample", columns, 6, &options, &error);
    if (!CHECK_DONE(insertion != NULL, &error)) return;
    static const uint8_t uuid[16] = {1};
    for (int number = 0; number < 20000; number++) {
        char text[32];
        int length = snprintf(text, sizeof text, "row %d", number);
        bool has_object = number % 3 == 0;
        larder_value values[] = {
            larder_text_bytes(text, (size_t)length), larder_int64(number),
            number % 2 ? larder_nil() : larder_double(number / 2.0), larder_uuid(uuid),
            larder_object(has_object ? &book : NULL), larder_objects(&book, has_object)};
        if (!CHECK_DONE(larder_insertion_add(insertion, values, &error), &error)) break;
    }
    // A row of another type is not added, and the stream continues.
    larder_value wrong[6] = {larder_int64(1)};
    CHECK(!larder_insertion_add(insertion, wrong, &error));
    CHECK_CODE(&error, LARDER_ERROR_WRONG_TYPE);
    int64_t count = 0;
    CHECK_DONE(larder_insertion_finish(insertion, &count, &error), &error);
    CHECK_INTEGER(count, 20000);
    CHECK(!larder_insertion_finish(insertion, &count, &error));
    larder_insertion_free(insertion);
    CHECK_INTEGER(count_of("Sample", "double == nil"), 10000);
    CHECK_INTEGER(count_of("Sample", "book.title BEGINSWITH \"Book\" AND books.@count == 1"), 6667);
    CHECK_INTEGER(count_of("Sample", "string == \"row 19999\" AND int64 == 19999"), 1);
    delete_all("Sample");
}

static void test_failed_insertions(void) {
    larder_insert_column column = {"name", LARDER_TYPE_STRING, NULL};
    larder_insert_options options = {.is_atomic = true};
    larder_insertion *insertion =
        larder_insert_many(client, "Author", &column, 1, &options, &error);
    larder_value value = larder_text("twice");
    CHECK(larder_insertion_add(insertion, &value, &error));
    CHECK(larder_insertion_add(insertion, &value, &error));
    CHECK(!larder_insertion_finish(insertion, NULL, &error));
    CHECK_CODE(&error, LARDER_ERROR_UNIQUENESS_VIOLATED);
    CHECK_INTEGER(error.change, 1);
    CHECK(!larder_insertion_add(insertion, &value, &error));
    larder_insertion_free(insertion);
    // A stream that is left stores nothing.
    insertion = larder_insert_many(client, "Author", &column, 1, &options, &error);
    CHECK(larder_insertion_add(insertion, &value, &error));
    larder_insertion_free(insertion);
    CHECK_INTEGER(count_of("Author", "name == \"twice\""), 0);
    insertion = larder_insert_many(client, "Nothing", &column, 1, NULL, &error);
    CHECK(insertion && !larder_insertion_finish(insertion, NULL, &error));
    CHECK_CODE(&error, LARDER_ERROR_UNKNOWN_ENTITY);
    larder_insertion_free(insertion);
    column.type = LARDER_TYPE_OBJECT;
    CHECK(larder_insert_many(client, "Author", &column, 1, NULL, &error) == NULL);
    CHECK_CODE(&error, LARDER_ERROR_WRONG_TYPE);
    column = (larder_insert_column){"author", LARDER_TYPE_OBJECT, "Author"};
    insertion = larder_insert_many(client, "Book", &column, 1, NULL, &error);
    larder_identifier foreign = {.key = 1, .entity = "Author"};
    value = larder_object(&foreign);
    CHECK(!larder_insertion_add(insertion, &value, &error));
    CHECK_CODE(&error, LARDER_ERROR_FOREIGN_IDENTIFIER);
    larder_insertion_free(insertion);
}

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
    larder_feed_free(feed);
    start.store[0] ^= 1;
    feed = larder_history(client, &(larder_history_query){.after = &start}, &error);
    CHECK(feed && larder_feed_next(feed, -1, &error) == -1);
    CHECK_CODE(&error, LARDER_ERROR_FOREIGN_TOKEN);
    larder_feed_free(feed);
}

// Clients

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
    larder_options options = {.name = "tests", .schema_version = "1.0.0", .wait_milliseconds = 1000};
    client = larder_open(arguments[1], &options, &error);
    if (!CHECK_DONE(client != NULL, &error)) return 1;
    test_types();
    test_stream();
    test_aggregates();
    test_refused_queries();
    test_changes();
    test_conflicts();
    test_changes_by_predicate();
    test_insertion(true);
    test_insertion(false);
    test_failed_insertions();
    test_observation();
    test_history();
    test_connection();
    test_threads(arguments[1]);
    larder_close(client);
    options.schema_version = "2.0.0";
    CHECK(larder_open(arguments[1], &options, &error) == NULL);
    CHECK_CODE(&error, LARDER_ERROR_SCHEMA_MISMATCH);
    return check_end("server");
}
