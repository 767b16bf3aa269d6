#include "server.h"

// Values

static void fill(
    larder_property properties[13], const larder_value *extra, const larder_identifier *book) {
    static const uint8_t uuid[16] = {
        0xde, 0xad, 0xbe, 0xef, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 255};
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
    // A result of many batches, which need credit. It is left after its first row, many times.
    char text[1001] = {0};
    memset(text, 'x', sizeof text - 1);
    arguments[1] = larder_text(text);
    query.columns = &(larder_term){"concat(title, %@)", "long"};
    query.column_count = 1;
    query.sort_count = 0;
    rows = larder_fetch(client, &query, &error);
    for (count = 0; rows && larder_rows_next(rows, &error) == 1; count++) continue;
    CHECK_INTEGER(count, 3000);
    CHECK(larder_rows_batch_count(rows) > 20);
    larder_rows_free(rows);
    // Results that are left do not count towards the limit of requests.
    for (int round = 0; round < 50; round++) {
        rows = larder_fetch(client, &query, &error);
        if (!CHECK(rows != NULL)) break;
        CHECK_INTEGER(larder_rows_next(rows, &error), 1);
        larder_rows_free(rows);
    }
    query.columns = &(larder_term){"title", NULL};
    query.argument_count = 1;
    query.sort_count = 2;
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
    larder_query query = {
        .entity = "Book", .where = "title == %@", .arguments = &broken, .argument_count = 1};
    larder_rows *rows = larder_fetch(client, &query, &error);
    CHECK(rows == NULL && larder_error_kind(&error) <= LARDER_KIND_INVALID);
    CHECK_DONE(larder_ping(client, &error), &error);
}

void test_reading(void) {
    test_types();
    test_stream();
    test_aggregates();
    test_refused_queries();
}
