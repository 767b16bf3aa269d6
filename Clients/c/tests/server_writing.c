#include "server.h"

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

void test_writing(void) {
    test_changes();
    test_conflicts();
    test_changes_by_predicate();
    test_insertion(true);
    test_insertion(false);
    test_failed_insertions();
}
