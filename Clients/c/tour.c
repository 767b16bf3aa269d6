// A tour of the client: tour SOCKET [follow].
//
// The server must have the schema ../school.json, and an empty store for the whole tour. With
// `follow` it prints each transaction after the current one, until there is no server for 5
// seconds.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "larder_client.h"

enum { MANY = 3000, SAVE_MILLISECONDS = 30000, FOLLOW_MILLISECONDS = 5000 };

typedef Larder__V1__Envelope Envelope;
typedef Larder__V1__Value Value;
typedef Larder__V1__Change Change;
typedef Larder__V1__PropertyValue PropertyValue;
typedef Larder__V1__Identifier Identifier;

// Requests

static Value text(const char *string) {
    Value value = LARDER__V1__VALUE__INIT;
    value.kind_case = LARDER__V1__VALUE__KIND_STRING_VALUE;
    value.string_value = (char *)string;
    return value;
}

static Value integer(int64_t number) {
    Value value = LARDER__V1__VALUE__INIT;
    value.kind_case = LARDER__V1__VALUE__KIND_INT_VALUE;
    value.int_value = number;
    return value;
}

// The identifier of an object that a change set inserts.
static Identifier temporary(const char *entity, const char *name) {
    Identifier identifier = LARDER__V1__IDENTIFIER__INIT;
    identifier.entity = (char *)entity;
    identifier.name_case = LARDER__V1__IDENTIFIER__NAME_TEMPORARY_NAME;
    identifier.temporary_name = (char *)name;
    return identifier;
}

// A change of one object with at most two properties. It refers to itself, so it is not copied.
typedef struct {
    Change change;
    Identifier object;
    PropertyValue properties[2];
    PropertyValue *listed[2];
    Value values[2];
} ObjectChange;

static void change(ObjectChange *made, Larder__V1__ChangeKind kind, Identifier object) {
    made->object = object;
    made->change = (Change)LARDER__V1__CHANGE__INIT;
    made->change.kind = kind;
    made->change.object = &made->object;
    made->change.values = made->listed;
}

static void set(ObjectChange *made, const char *property, Value value) {
    size_t index = made->change.n_values++;
    made->values[index] = value;
    made->properties[index] = (PropertyValue)LARDER__V1__PROPERTY_VALUE__INIT;
    made->properties[index].name = (char *)property;
    made->properties[index].value = &made->values[index];
    made->listed[index] = &made->properties[index];
}

static void insert_student(ObjectChange *made, const char *name, const char *student, int year) {
    change(made, LARDER__V1__CHANGE_KIND__CHANGE_KIND_INSERT, temporary("Student", name));
    set(made, "name", text(student));
    set(made, "birthOfYear", integer(year));
}

// Saves changes under a new key, so that they can be sent any number of times.
static Larder__V1__ChangeSet change_set(Change **changes, size_t count, char key[33]) {
    uint8_t bytes[16] = {0};
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) abort();
    for (size_t index = 0; index < sizeof bytes; index++) {
        snprintf(key + 2 * index, 3, "%02x", bytes[index]);
    }
    Larder__V1__ChangeSet made = LARDER__V1__CHANGE_SET__INIT;
    made.changes = changes;
    made.n_changes = count;
    made.idempotency_key = key;
    made.author = "tour";
    return made;
}

static Envelope *save(larder_client *client, ObjectChange *made, larder_error *error) {
    char key[33];
    Change *changes[] = {&made->change};
    Larder__V1__ChangeSet set = change_set(changes, 1, key);
    return larder_save_repeatedly(client, &set, SAVE_MILLISECONDS, error);
}

static void free_reply(Envelope *reply) {
    if (reply) larder__v1__envelope__free_unpacked(reply, NULL);
}

// Output

// Returns the column with this name; NULL if the batch has none.
static const Larder__V1__Column *named(const Larder__V1__Batch *batch, const char *name) {
    for (size_t index = 0; index < batch->n_columns; index++) {
        if (strcmp(batch->columns[index]->name, name) == 0) return batch->columns[index];
    }
    return NULL;
}

static larder_value value_of(const Larder__V1__Batch *batch, const char *name, size_t row) {
    const Larder__V1__Column *column = named(batch, name);
    return column ? larder_value_at(column, row) : (larder_value){.is_nil = true};
}

static void print_error(const larder_error *error, FILE *file) {
    fprintf(file, "error[%s]: %s\n", larder_error_name(error), error->message);
}

static void print_transaction(const Larder__V1__HistoryTransaction *transaction) {
    static const char *const kinds[] = {"changed", "inserted", "updated", "deleted"};
    printf("transaction %" PRId64 ":", transaction->number);
    for (size_t index = 0; index < transaction->n_runs; index++) {
        const Larder__V1__HistoryRun *run = transaction->runs[index];
        const char *kind = (unsigned)run->kind < 4 ? kinds[run->kind] : kinds[0];
        printf("%s %s %s/p%" PRId64, index > 0 ? ";" : "", kind, run->entity, run->first_key);
        if (run->last_key > run->first_key) printf("-p%" PRId64, run->last_key);
        for (size_t name = 0; name < run->n_properties; name++) {
            printf("%s%s", name > 0 ? ", " : " (", run->properties[name]);
        }
        if (run->n_properties > 0) printf(")");
    }
    printf("\n");
    fflush(stdout);
}

// The tour

static void print_student(const Larder__V1__Batch *batch, size_t row) {
    larder_value name = value_of(batch, "name", row);
    printf("got %.*s, born in %" PRId64 ", version %" PRId64 "\n", (int)name.length,
        (const char *)name.bytes, value_of(batch, "birthOfYear", row).integer,
        batch->identity ? batch->identity->versions[row] : 0);
}

static bool print_got(larder_client *client, Identifier *identifier, larder_error *error) {
    Envelope *reply = larder_get(client, &identifier, 1, error);
    if (!reply) return false;
    size_t count = 0;
    for (size_t index = 0; index < reply->batches->n_batches; index++) {
        const Larder__V1__Batch *batch = reply->batches->batches[index];
        for (size_t row = 0; row < batch->row_count; row++) print_student(batch, row);
        count += batch->row_count;
    }
    if (count == 0) printf("found 0 objects after the deletion\n");
    free_reply(reply);
    return true;
}

// A course with two students, one of whom is new. The set is built once, with its key.
static bool save_lesson(larder_client *client, Identifier *ann, larder_error *error) {
    ObjectChange course, bob;
    insert_student(&bob, "bob", "Bob", 2002);
    change(
        &course, LARDER__V1__CHANGE_KIND__CHANGE_KIND_INSERT, temporary("Course", "course"));
    Identifier *both[] = {ann, &bob.object};
    Larder__V1__Identifiers students = LARDER__V1__IDENTIFIERS__INIT;
    students.items = both;
    students.n_items = 2;
    Value list = LARDER__V1__VALUE__INIT;
    list.kind_case = LARDER__V1__VALUE__KIND_OBJECTS_VALUE;
    list.objects_value = &students;
    set(&course, "title", text("Maths"));
    set(&course, "students", list);
    char key[33];
    Change *changes[] = {&course.change, &bob.change};
    Larder__V1__ChangeSet lesson = change_set(changes, 2, key);

    Envelope *first = larder_save_repeatedly(client, &lesson, SAVE_MILLISECONDS, error);
    if (!first) return false;
    printf("saved %zu objects in transaction %" PRId64 "\n", first->saved->n_inserted,
        first->saved->transaction);
    Envelope *again = larder_save_repeatedly(client, &lesson, SAVE_MILLISECONDS, error);
    if (again) {
        bool is_same = again->saved->transaction == first->saved->transaction;
        printf("sent again: %s\n", is_same ? "the same reply" : "another reply");
    }
    free_reply(first);
    free_reply(again);
    return again != NULL;
}

static Larder__V1__Term term(const char *format) {
    Larder__V1__Term made = LARDER__V1__TERM__INIT;
    made.form_case = LARDER__V1__TERM__FORM_FORMAT;
    made.format = (char *)format;
    return made;
}

// Fetches students that match, by name; with columns those, otherwise the objects.
static bool fetch(
    larder_client *client, const char *format, Value *given, size_t count,
    Larder__V1__NamedTerm **columns, size_t column_count, larder_batch_function *each,
    void *context, larder_error *error) {
    Larder__V1__Term predicate = term(format), name = term("name");
    Larder__V1__SortKey key = LARDER__V1__SORT_KEY__INIT;
    key.term = &name;
    Larder__V1__SortKey *keys[] = {&key};
    Larder__V1__FetchQuery body = LARDER__V1__FETCH_QUERY__INIT;
    body.entity = "Student";
    body.predicate = &predicate;
    body.sort = keys;
    body.n_sort = 1;
    body.columns = columns;
    body.n_columns = column_count;
    body.selection = columns ? LARDER__V1__SELECTION__SELECTION_COLUMNS
                             : LARDER__V1__SELECTION__SELECTION_OBJECTS;
    Larder__V1__Query query = LARDER__V1__QUERY__INIT;
    query.kind_case = LARDER__V1__QUERY__KIND_FETCH;
    query.fetch = &body;
    Larder__V1__Argument arguments[2], *listed[2];
    for (size_t index = 0; index < count; index++) {
        arguments[index] = (Larder__V1__Argument)LARDER__V1__ARGUMENT__INIT;
        arguments[index].kind_case = LARDER__V1__ARGUMENT__KIND_VALUE;
        arguments[index].value = &given[index];
        listed[index] = &arguments[index];
    }
    return larder_query(client, &query, listed, count, each, context, error);
}

static bool print_rows(void *context, const Larder__V1__Batch *batch) {
    (void)context;
    for (size_t row = 0; row < batch->row_count; row++) {
        larder_value name = value_of(batch, "name", row), course = value_of(batch, "course", row);
        printf("%.*s, born in %" PRId64 ", course: %.*s\n", (int)name.length,
            (const char *)name.bytes, value_of(batch, "year", row).integer,
            course.is_nil ? 4 : (int)course.length,
            course.is_nil ? "none" : (const char *)course.bytes);
    }
    return true;
}

static bool print_columns(larder_client *client, larder_error *error) {
    static const char *const pairs[][2] = {
        {"name", "name"}, {"year", "birthOfYear"}, {"course", "courses.@min.title"}};
    Larder__V1__Term terms[3];
    Larder__V1__NamedTerm columns[3], *listed[3];
    for (size_t index = 0; index < 3; index++) {
        terms[index] = term(pairs[index][1]);
        columns[index] = (Larder__V1__NamedTerm)LARDER__V1__NAMED_TERM__INIT;
        columns[index].name = (char *)pairs[index][0];
        columns[index].term = &terms[index];
        listed[index] = &columns[index];
    }
    Value arguments[] = {integer(2001), text("Zoe")};
    return fetch(
        client, "birthOfYear >= %@ AND name != %@", arguments, 2, listed, 3, print_rows, NULL,
        error);
}

// More students than fit into one reply.
static bool save_crowd(larder_client *client, larder_error *error) {
    typedef struct {
        ObjectChange change;
        char name[16], student[32];
    } Member;
    Member *members = calloc(MANY, sizeof *members);
    Change **changes = calloc(MANY, sizeof *changes);
    if (!members || !changes) abort();
    for (int n = 0; n < MANY; n++) {
        Member *member = &members[n];
        snprintf(member->name, sizeof member->name, "%d", n);
        snprintf(member->student, sizeof member->student, "Student %04d of the school", n);
        insert_student(&member->change, member->name, member->student, 1900 + n % 100);
        changes[n] = &member->change.change;
    }
    char key[33];
    Larder__V1__ChangeSet crowd = change_set(changes, MANY, key);
    Envelope *reply = larder_save_repeatedly(client, &crowd, SAVE_MILLISECONDS, error);
    free(members);
    free(changes);
    free_reply(reply);
    return reply != NULL;
}

typedef struct {
    size_t parts, rows;
    char first[64], last[64];
    bool leaves;
} Names;

static void copy_name(char *name, const Larder__V1__Batch *batch, size_t row) {
    larder_value value = value_of(batch, "name", row);
    snprintf(name, 64, "%.*s", (int)value.length, (const char *)value.bytes);
}

static bool collect(void *context, const Larder__V1__Batch *batch) {
    Names *names = context;
    if (names->rows == 0 && batch->row_count > 0) copy_name(names->first, batch, 0);
    if (batch->row_count > 0) copy_name(names->last, batch, batch->row_count - 1);
    names->parts++;
    names->rows += batch->row_count;
    return !names->leaves;
}

static bool queried(larder_client *client, larder_error *error) {
    if (!print_columns(client, error) || !save_crowd(client, error)) return false;
    Value prefix = text("Student ");
    Names all = {0}, some = {.leaves = true};
    if (!fetch(
            client, "name BEGINSWITH %@", &prefix, 1, NULL, 0, collect, &all, error) ||
        !fetch(client, "name BEGINSWITH %@", &prefix, 1, NULL, 0, collect, &some, error)) {
        return false;
    }
    printf("fetched %zu students in %s, from %s to %s\n", all.rows,
        all.parts > 1 ? "several parts" : "one part", all.first, all.last);
    printf("left a result after %s of its rows\n", some.rows < MANY ? "some" : "all");
    return true;
}

// Prints an error of the server. Returns false for other ones.
static bool expected(const larder_error *error) {
    if (error->code < 200 || error->code >= 500) return false;
    print_error(error, stdout);
    if (error->hint[0]) printf("  hint: %s\n", error->hint);
    return true;
}

static bool refused(larder_client *client, larder_error *error) {
    Value ann = text("Ann");
    if (!fetch(client, "nam == %@", &ann, 1, NULL, 0, print_rows, NULL, error) &&
        !expected(error)) {
        return false;
    }
    ObjectChange course;
    change(&course, LARDER__V1__CHANGE_KIND__CHANGE_KIND_INSERT, temporary("Course", "new"));
    set(&course, "title", text("Maths"));
    Envelope *reply = save(client, &course, error);
    free_reply(reply);
    return reply || expected(error);
}

typedef struct {
    larder_client *client;
    Identifier *ann;
    int64_t start;
    bool has_failed;
    larder_error *error;
} Feed;

static bool print_part(void *context, const Larder__V1__HistoryReply *part) {
    Feed *feed = context;
    for (size_t index = 0; index < part->n_transactions; index++) {
        print_transaction(part->transactions[index]);
    }
    if (feed && part->position->number == feed->start + 4) {
        ObjectChange update;
        change(&update, LARDER__V1__CHANGE_KIND__CHANGE_KIND_UPDATE, *feed->ann);
        set(&update, "name", text("Anna"));
        Envelope *reply = save(feed->client, &update, feed->error);
        feed->has_failed = reply == NULL;
        free_reply(reply);
    }
    return !feed || (!feed->has_failed && part->position->number < feed->start + 5);
}

// Prints what has been committed since the start, and then what is committed now by another
// connection.
static bool fed(
    larder_client *client, const char *path, Larder__V1__HistoryToken *position, Identifier *ann,
    larder_error *error) {
    larder_client *follower = larder_connect(path, "tour", error);
    if (!follower) return false;
    Feed feed = {client, ann, position->number, false, error};
    bool is_complete =
        larder_follow(follower, position, FOLLOW_MILLISECONDS, print_part, &feed, error);
    larder_close(follower);
    if (!is_complete || feed.has_failed) return false;
    ObjectChange deletion;
    change(&deletion, LARDER__V1__CHANGE_KIND__CHANGE_KIND_DELETE, *ann);
    Envelope *reply = save(client, &deletion, error);
    free_reply(reply);
    return reply && print_got(client, ann, error);
}

static bool take_position(void *context, const Larder__V1__HistoryReply *part) {
    Larder__V1__HistoryToken *position = context;
    position->epoch = part->position->epoch;
    position->number = part->position->number;
    return true;
}

// Sets the position after the last transaction.
static bool find_position(
    larder_client *client, Larder__V1__HistoryToken *position, uint8_t store[16],
    larder_error *error) {
    const Larder__V1__WelcomeReply *welcome = larder_welcome(client);
    if (welcome->store.len == 16) memcpy(store, welcome->store.data, 16);
    *position = (Larder__V1__HistoryToken)LARDER__V1__HISTORY_TOKEN__INIT;
    position->store = (ProtobufCBinaryData){16, store};
    Larder__V1__HistoryRequest request = LARDER__V1__HISTORY_REQUEST__INIT;
    request.newest_first = true;
    request.limit_presence_case = LARDER__V1__HISTORY_REQUEST__LIMIT_PRESENCE_LIMIT;
    return larder_history(client, &request, take_position, position, error);
}

static bool toured(larder_client *client, const char *path, larder_error *error) {
    const Larder__V1__WelcomeReply *welcome = larder_welcome(client);
    printf("connected: protocol %" PRIu32 ", schema %s\n", welcome->protocol_version,
        welcome->schema_version);
    uint8_t store[16] = {0};
    Larder__V1__HistoryToken start;
    if (!find_position(client, &start, store, error)) return false;
    ObjectChange insertion;
    insert_student(&insertion, "new", "Ann", 2001);
    Envelope *inserted = save(client, &insertion, error);
    if (!inserted) return false;
    bool is_complete = inserted->saved->n_inserted == 1;
    if (is_complete) {
        Identifier *ann = inserted->saved->inserted[0];
        char uri[256];
        if (larder_uri(ann, uri, sizeof uri)) printf("inserted %s\n", uri);
        is_complete = print_got(client, ann, error);
        insert_student(&insertion, "new", "Cid", 2003);
        Envelope *other = is_complete ? save(client, &insertion, error) : NULL;
        is_complete = other && save_lesson(client, ann, error) && queried(client, error) &&
                      refused(client, error) && fed(client, path, &start, ann, error);
        free_reply(other);
    }
    free_reply(inserted);
    return is_complete;
}

static bool followed(larder_client *client, larder_error *error) {
    uint8_t store[16] = {0};
    Larder__V1__HistoryToken position;
    if (!find_position(client, &position, store, error)) return false;
    printf("following after transaction %" PRId64 "\n", position.number);
    fflush(stdout);
    return larder_follow(client, &position, FOLLOW_MILLISECONDS, print_part, NULL, error);
}

int main(int count, char **arguments) {
    bool follows = count == 3 && strcmp(arguments[2], "follow") == 0;
    if (count != 2 && !follows) {
        fprintf(stderr, "usage: tour SOCKET [follow]\n");
        return 64;
    }
    larder_error error = {0};
    larder_client *client = larder_connect(arguments[1], "tour", &error);
    bool is_complete = client && (follows ? followed(client, &error)
                                          : toured(client, arguments[1], &error));
    larder_close(client);
    if (is_complete) return 0;
    fprintf(stderr, "tour: ");
    print_error(&error, stderr);
    return 1;
}
