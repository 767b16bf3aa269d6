// A tour of liblarder: tour SOCKET [follow].
//
// The server must have the schema ../school.json, and an empty store for the whole tour. With
// `follow` it prints each transaction after the current one, until there is no server for 5
// seconds.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "larder.h"

enum { MANY = 3000, SAVE_MILLISECONDS = 30000, FOLLOW_MILLISECONDS = 5000 };

// Output

static void print_error(const larder_error *error, FILE *file) {
    fprintf(file, "error[%s]: %s\n", error->name, error->message);
}

static void print_transaction(const larder_transaction *transaction) {
    static const char *const kinds[] = {"changed", "inserted", "updated", "deleted"};
    printf("transaction %" PRId64 ":", transaction->number);
    for (size_t index = 0; index < transaction->run_count; index++) {
        const larder_run *run = &transaction->runs[index];
        const char *kind = (unsigned)run->kind < 4 ? kinds[run->kind] : kinds[0];
        printf("%s %s %s/p%" PRId64, index > 0 ? ";" : "", kind, run->entity, run->first_key);
        if (run->last_key > run->first_key) printf("-p%" PRId64, run->last_key);
        for (size_t name = 0; name < run->property_count; name++) {
            printf("%s%s", name > 0 ? ", " : " (", run->properties[name]);
        }
        if (run->property_count > 0) printf(")");
    }
    printf("\n");
    fflush(stdout);
}

// Reading

static bool print_got(
    larder_client *client, const larder_identifier *identifier, larder_error *error) {
    larder_rows *rows = larder_get(client, identifier, 1, error);
    if (!rows) return false;
    int count = 0, found;
    while ((found = larder_rows_next(rows, error)) == 1) {
        printf("got %s, born in %" PRId64 ", version %" PRId64 "\n",
            larder_row_text(rows, larder_column(rows, "name"), NULL),
            larder_row_int64(rows, larder_column(rows, "birthOfYear")), larder_row_version(rows));
        count++;
    }
    if (found == 0 && count == 0) printf("found 0 objects after the deletion\n");
    larder_rows_free(rows);
    return found == 0;
}

static bool print_columns(larder_client *client, larder_error *error) {
    larder_value arguments[] = {larder_int64(2001), larder_text("Zoe")};
    larder_term columns[] = {
        {"name", NULL}, {"birthOfYear", "year"}, {"courses.@min.title", "course"}};
    larder_query query = {
        .entity = "Student",
        .where = "birthOfYear >= %@ AND name != %@",
        .arguments = arguments,
        .argument_count = 2,
        .columns = columns,
        .column_count = 3,
        .sort = &(larder_sort){.term = "name"},
        .sort_count = 1,
    };
    larder_rows *rows = larder_fetch(client, &query, error);
    if (!rows) return false;
    int found;
    while ((found = larder_rows_next(rows, error)) == 1) {
        const char *course = larder_row_text(rows, 2, NULL);
        printf("%s, born in %" PRId64 ", course: %s\n", larder_row_text(rows, 0, NULL),
            larder_row_int64(rows, 1), course ? course : "none");
    }
    larder_rows_free(rows);
    return found == 0;
}

typedef struct {
    size_t parts, rows;
    char first[64], last[64];
} Names;

// Reads the names of the students of the school, all or at most a number of them.
static bool read_names(larder_client *client, size_t limit, Names *names, larder_error *error) {
    larder_value prefix = larder_text("Student ");
    larder_query query = {
        .entity = "Student",
        .where = "name BEGINSWITH %@",
        .arguments = &prefix,
        .argument_count = 1,
        .sort = &(larder_sort){.term = "name"},
        .sort_count = 1,
    };
    larder_rows *rows = larder_fetch(client, &query, error);
    if (!rows) return false;
    int found = 1;
    while (names->rows < limit && (found = larder_rows_next(rows, error)) == 1) {
        const char *name = larder_row_text(rows, larder_column(rows, "name"), NULL);
        snprintf(names->last, sizeof names->last, "%s", name);
        if (names->rows++ == 0) snprintf(names->first, sizeof names->first, "%s", name);
    }
    names->parts = larder_rows_batch_count(rows);
    larder_rows_free(rows);
    return found >= 0;
}

static bool queried(larder_client *client, larder_error *error) {
    Names all = {0}, some = {0};
    if (!read_names(client, SIZE_MAX, &all, error) || !read_names(client, 10, &some, error)) {
        return false;
    }
    printf("fetched %zu students in %s, from %s to %s\n", all.rows,
        all.parts > 1 ? "several parts" : "one part", all.first, all.last);
    printf("left a result after %s of its rows\n", some.rows < MANY ? "some" : "all");
    return true;
}

// Writing

// Inserts a student with a key, so that the set is sent again if its reply is lost.
static bool insert_student(
    larder_client *client, const char *name, int year, larder_identifier *identifier,
    larder_error *error) {
    larder_changes *changes = larder_changes_new();
    if (!changes) return false;
    larder_changes_key(changes, NULL);
    larder_changes_author(changes, "tour");
    larder_changes_insert(changes, "Student");
    larder_changes_set(changes, "name", larder_text(name));
    larder_changes_set(changes, "birthOfYear", larder_int64(year));
    bool is_saved = larder_save(client, changes, error) &&
                    larder_saved_identifier(changes, 0, identifier);
    larder_changes_free(changes);
    return is_saved;
}

// A course with two students, one of whom is new.
static bool save_lesson(
    larder_client *client, const larder_identifier *ann, larder_error *error) {
    larder_changes *changes = larder_changes_new();
    if (!changes) return false;
    larder_changes_key(changes, NULL);
    larder_changes_author(changes, "tour");
    larder_identifier students[] = {*ann, larder_changes_insert(changes, "Student")};
    larder_changes_set(changes, "name", larder_text("Bob"));
    larder_changes_set(changes, "birthOfYear", larder_int64(2002));
    larder_changes_insert(changes, "Course");
    larder_changes_set(changes, "title", larder_text("Maths"));
    larder_changes_set(changes, "students", larder_objects(students, 2));
    bool is_saved = larder_save(client, changes, error);
    if (is_saved) {
        int64_t transaction = larder_saved_transaction(changes);
        printf("saved %zu objects in transaction %" PRId64 "\n",
            larder_saved_insert_count(changes), transaction);
        is_saved = larder_save(client, changes, error);
        bool is_same = is_saved && larder_saved_transaction(changes) == transaction;
        if (is_saved) printf("sent again: %s\n", is_same ? "the same reply" : "another reply");
    }
    larder_changes_free(changes);
    return is_saved;
}

// More students than fit into one reply.
static bool insert_crowd(larder_client *client, larder_error *error) {
    static const larder_insert_column columns[] = {
        {"name", LARDER_TYPE_STRING, NULL}, {"birthOfYear", LARDER_TYPE_INT64, NULL}};
    larder_insert_options options = {.author = "tour", .is_atomic = true};
    larder_insertion *insertion =
        larder_insert_many(client, "Student", columns, 2, &options, error);
    if (!insertion) return false;
    bool is_added = true;
    for (int number = 0; is_added && number < MANY; number++) {
        char name[32];
        snprintf(name, sizeof name, "Student %04d of the school", number);
        larder_value values[] = {larder_text(name), larder_int64(1900 + number % 100)};
        is_added = larder_insertion_add(insertion, values, error);
    }
    is_added = is_added && larder_insertion_finish(insertion, NULL, error);
    larder_insertion_free(insertion);
    return is_added;
}

// Prints an error of the server. Returns false for other ones.
static bool expected(const larder_error *error) {
    if (larder_error_kind(error) != LARDER_KIND_INVALID) return false;
    print_error(error, stdout);
    if (error->hint[0]) printf("  hint: %s\n", error->hint);
    return true;
}

static bool refused(larder_client *client, larder_error *error) {
    larder_value ann = larder_text("Ann");
    larder_query query = {
        .entity = "Student", .where = "nam == %@", .arguments = &ann, .argument_count = 1};
    larder_rows *rows = larder_fetch(client, &query, error);
    larder_rows_free(rows);
    if (rows || !expected(error)) return false;
    larder_property title = {"title", larder_text("Maths")};
    return !larder_insert(client, "Course", &title, 1, NULL, error) && expected(error);
}

// The history

// Prints what has been committed since the start, and then what is committed now by another
// connection.
static bool fed(
    larder_client *client, const char *path, const larder_token *start,
    const larder_identifier *ann, larder_error *error) {
    larder_client *other = larder_open(path, &(larder_options){.name = "tour"}, error);
    larder_history_query query = {.after = start};
    larder_feed *feed = other ? larder_follow(other, &query, error) : NULL;
    int found = -1;
    while (feed && (found = larder_feed_next(feed, -1, error)) == 1) {
        const larder_transaction *transaction = larder_feed_transaction(feed);
        print_transaction(transaction);
        if (transaction->number == start->number + 5) break;
        larder_property name = {"name", larder_text("Anna")};
        if (transaction->number == start->number + 4 &&
            !larder_update(client, ann, &name, 1, error)) {
            found = -1;
            break;
        }
    }
    larder_feed_free(feed);
    larder_close(other);
    return found == 1 && larder_delete(client, ann, error) && print_got(client, ann, error);
}

static bool toured(larder_client *client, const char *path, larder_error *error) {
    const larder_welcome *welcome = larder_client_welcome(client);
    printf("connected: protocol %" PRIu32 ", schema %s\n", welcome->protocol_version,
        welcome->schema_version);
    larder_token start;
    larder_identifier ann, cid;
    char uri[LARDER_URI_SIZE];
    if (!larder_position(client, &start, error) ||
        !insert_student(client, "Ann", 2001, &ann, error)) {
        return false;
    }
    printf("inserted %s\n", larder_identifier_uri(&ann, uri));
    // A read that fails shows its error, and is not repeated.
    larder_set_retry(client, 0);
    if (!print_got(client, &ann, error)) return false;
    larder_set_retry(client, SAVE_MILLISECONDS);
    return insert_student(client, "Cid", 2003, &cid, error) && save_lesson(client, &ann, error) &&
           print_columns(client, error) && insert_crowd(client, error) &&
           queried(client, error) && refused(client, error) &&
           fed(client, path, &start, &ann, error);
}

static bool followed(larder_client *client, larder_error *error) {
    larder_token position;
    if (!larder_position(client, &position, error)) return false;
    printf("following after transaction %" PRId64 "\n", position.number);
    fflush(stdout);
    larder_set_retry(client, FOLLOW_MILLISECONDS);
    larder_history_query query = {.after = &position};
    larder_feed *feed = larder_follow(client, &query, error);
    if (!feed) return false;
    while (larder_feed_next(feed, -1, error) == 1) {
        print_transaction(larder_feed_transaction(feed));
    }
    larder_feed_free(feed);
    return false;
}

int main(int count, char **arguments) {
    bool follows = count == 3 && strcmp(arguments[2], "follow") == 0;
    if (count != 2 && !follows) {
        fprintf(stderr, "usage: tour SOCKET [follow]\n");
        return 64;
    }
    larder_error error = {.name = "RESOURCE_EXHAUSTED", .message = "there is no memory"};
    larder_client *client =
        larder_open(arguments[1], &(larder_options){.name = "tour"}, &error);
    bool is_complete = client && (follows ? followed(client, &error)
                                          : toured(client, arguments[1], &error));
    larder_close(client);
    if (is_complete) return 0;
    fprintf(stderr, "tour: ");
    print_error(&error, stderr);
    return 1;
}
