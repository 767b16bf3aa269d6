// liblarder: the C client of larderd. larder(3) and docs/c.md describe its use.
//
// Results. A function that returns `bool` or a pointer fails with false or NULL, and one that
// returns `int` with -1; each then fills its error, which may be NULL. 1 is a row, a change or a
// transaction; 0 is the end, or that there was none in time.
//
// Ownership. The caller frees what a `…_new` or a call returns with the function named there. A
// pointer into a result is valid until the next call of its `…_next`, or until it is freed.
// Arguments are borrowed for the time of a call. Everything else is a value.
//
// Threads. A client, and everything that was made with it, is for one thread at a time. Different
// clients are independent. Only larder_cancel may be called from other threads.
//
// Times are milliseconds, dates are seconds since 1970-01-01T00:00:00Z, strings are UTF-8.
#ifndef LARDER_H
#define LARDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LARDER_API __attribute__((visibility("default")))

// Errors

// The numbers of docs/protocol.md. A later server may send others.
enum larder_error_code {
    LARDER_ERROR_NONE = 0,
    LARDER_ERROR_MALFORMED_FRAME = 100,
    LARDER_ERROR_FRAME_TOO_LONG = 101,
    LARDER_ERROR_HANDSHAKE_REQUIRED = 102,
    LARDER_ERROR_UNSUPPORTED_VERSION = 103,
    LARDER_ERROR_UNKNOWN_MESSAGE = 104,
    LARDER_ERROR_MALFORMED_MESSAGE = 105,
    LARDER_ERROR_MALFORMED_IDENTIFIER = 200,
    LARDER_ERROR_FOREIGN_IDENTIFIER = 201,
    LARDER_ERROR_UNKNOWN_ENTITY = 202,
    LARDER_ERROR_OBJECT_NOT_FOUND = 203,
    LARDER_ERROR_MALFORMED_TOKEN = 204,
    LARDER_ERROR_FOREIGN_TOKEN = 205,
    LARDER_ERROR_FUTURE_TOKEN = 206,
    LARDER_ERROR_TOKEN_EXPIRED = 207,
    LARDER_ERROR_UNKNOWN_PROPERTY = 300,
    LARDER_ERROR_WRONG_TYPE = 301,
    LARDER_ERROR_MALFORMED_PREDICATE = 302,
    LARDER_ERROR_UNSUPPORTED = 303,
    LARDER_ERROR_MISSING_VALUE = 304,
    LARDER_ERROR_VALIDATION_FAILED = 305,
    LARDER_ERROR_UNIQUENESS_VIOLATED = 306,
    LARDER_ERROR_DELETE_DENIED = 307,
    LARDER_ERROR_INVALID_CHANGE_SET = 308,
    LARDER_ERROR_ARITHMETIC_OVERFLOW = 309,
    LARDER_ERROR_MALFORMED_SCHEMA = 310,
    LARDER_ERROR_SCHEMA_MISMATCH = 311,
    LARDER_ERROR_MALFORMED_VALUE = 312,
    LARDER_ERROR_UNSUPPORTED_PREDICATE = 313,
    LARDER_ERROR_IDEMPOTENCY_MISMATCH = 314,
    LARDER_ERROR_MIGRATION_REFUSED = 315,
    LARDER_ERROR_VERSION_CONFLICT = 400,
    LARDER_ERROR_CONDITION_FAILED = 401,
    LARDER_ERROR_RESOURCE_EXHAUSTED = 500,
    LARDER_ERROR_READ_ONLY = 501,
    LARDER_ERROR_PERMISSION_DENIED = 502,
    LARDER_ERROR_TIMEOUT = 600,
    LARDER_ERROR_UNAVAILABLE = 601,
    LARDER_ERROR_CANCELLED = 602,
    LARDER_ERROR_SNAPSHOT_EXPIRED = 603,
    LARDER_ERROR_CONNECTION_FAILED = 700,
    LARDER_ERROR_INDETERMINATE = 701,
    LARDER_ERROR_STORAGE_FAILED = 800,
    LARDER_ERROR_STORAGE_FULL = 801,
    LARDER_ERROR_STORE_IN_USE = 802,
    LARDER_ERROR_NOT_A_STORE = 803,
    LARDER_ERROR_STORE_TOO_NEW = 804,
    LARDER_ERROR_FILE_EXISTS = 805
};

// The class of an error, from the hundreds digit of its number.
typedef enum larder_kind {
    LARDER_KIND_NONE,
    LARDER_KIND_PROTOCOL,
    LARDER_KIND_INVALID,
    LARDER_KIND_CONFLICT,
    LARDER_KIND_LIMIT,
    LARDER_KIND_UNAVAILABLE,
    LARDER_KIND_CONNECTION,
    LARDER_KIND_STORAGE
} larder_kind;

// The error of a call. It owns no memory. Longer texts are cut at a character. A call that succeeds
// leaves it unchanged.
typedef struct larder_error {
    // One of larder_error_code, and its name, as in "UNKNOWN_ENTITY"; a constant.
    uint32_t code;
    // The column of an error in a format string, from 1, in characters; otherwise 0.
    uint32_t column;
    const char *name;
    // The index in the change set, or in the inserted rows, of the change that failed; or -1.
    int64_t change;
    // Sentences: the error, and an advice or "". The URI of the object concerned, or "".
    char message[1024], hint[512], uri[256];
} larder_error;

// The class of an error; that of NULL is LARDER_KIND_NONE.
LARDER_API larder_kind larder_error_kind(const larder_error *error);
// Whether the request may succeed later: CONNECTION_FAILED, TIMEOUT and UNAVAILABLE.
LARDER_API bool larder_error_is_temporary(const larder_error *error);

// Identifiers and tokens

// The permanent identifier of an object, or a temporary one in a change set, whose key is negative.
typedef struct larder_identifier {
    uint8_t store[16];
    int64_t key;
    char entity[129];
} larder_identifier;

// The length of the longest URI and of the longest token, with the zero byte.
enum { LARDER_URI_SIZE = 256, LARDER_TOKEN_SIZE = 96 };

// Writes the URI, x-coredata://<store>/<entity>/p<key>, and returns the text.
LARDER_API const char *larder_identifier_uri(
    const larder_identifier *identifier, char text[LARDER_URI_SIZE]);
// Parses a URI. Does not check that the object exists. Fails with MALFORMED_IDENTIFIER.
LARDER_API bool larder_identifier_parse(
    const char *text, larder_identifier *identifier, larder_error *error);
LARDER_API bool larder_identifier_equal(const larder_identifier *a, const larder_identifier *b);

// A position in the history: after the transaction `number` and before the next.
typedef struct larder_token {
    uint8_t store[16];
    int64_t epoch, number;
} larder_token;

// Writes the text form, <store>-e<epoch>-n<number>, and returns the text.
LARDER_API const char *larder_token_text(const larder_token *token, char text[LARDER_TOKEN_SIZE]);
// Parses the text form. Fails with MALFORMED_TOKEN.
LARDER_API bool larder_token_parse(const char *text, larder_token *token, larder_error *error);

// Values

// The type of a column and of a value.
typedef enum larder_type {
    LARDER_TYPE_NIL = 0,
    LARDER_TYPE_BOOL,
    LARDER_TYPE_INT16,
    LARDER_TYPE_INT32,
    LARDER_TYPE_INT64,
    LARDER_TYPE_FLOAT,
    LARDER_TYPE_DOUBLE,
    LARDER_TYPE_DECIMAL,
    LARDER_TYPE_STRING,
    LARDER_TYPE_DATE,
    LARDER_TYPE_UUID,
    LARDER_TYPE_URL,
    LARDER_TYPE_DATA,
    LARDER_TYPE_JSON,
    LARDER_TYPE_OBJECT,
    LARDER_TYPE_OBJECTS,
    // Arguments only.
    LARDER_TYPE_LIST
} larder_type;

// A value of a property or an argument. Made by the functions below, which copy nothing: text,
// bytes, identifiers and lists must live until the call that gets the value returns.
typedef struct larder_value {
    larder_type type;
    // Bytes, or the number of identifiers or values.
    size_t length;
    union {
        int64_t integer;
        // Dates count from 2001-01-01T00:00:00Z, as in the protocol.
        double number;
        const void *pointer;
        uint8_t uuid[16];
    } as;
} larder_value;

LARDER_API larder_value larder_nil(void);
LARDER_API larder_value larder_bool(bool value);
// For int16, int32 and int64.
LARDER_API larder_value larder_int64(int64_t value);
LARDER_API larder_value larder_float(float value);
LARDER_API larder_value larder_double(double value);
// A decimal number as text, such as "-12.50" or "1e-7"; at most 38 significant digits.
LARDER_API larder_value larder_decimal(const char *text);
// Text that ends with a zero byte; NULL is nil.
LARDER_API larder_value larder_text(const char *text);
// Text with a length, which may have zero bytes.
LARDER_API larder_value larder_text_bytes(const char *text, size_t length);
LARDER_API larder_value larder_date(double seconds);
LARDER_API larder_value larder_timespec(struct timespec time);
// 16 bytes, in the order in which a UUID is written. They are copied.
LARDER_API larder_value larder_uuid(const uint8_t bytes[16]);
LARDER_API larder_value larder_url(const char *text);
LARDER_API larder_value larder_bytes(const void *bytes, size_t length);
LARDER_API larder_value larder_json(const char *text);
// The object of a to-one relationship; NULL is nil.
LARDER_API larder_value larder_object(const larder_identifier *identifier);
// The objects of a to-many relationship.
LARDER_API larder_value larder_objects(const larder_identifier *identifiers, size_t count);
// The right side of IN, or two values for BETWEEN. Arguments and variables only.
LARDER_API larder_value larder_list(const larder_value *values, size_t count);

// A property or a variable, and its value.
typedef struct larder_property {
    const char *name;
    larder_value value;
} larder_property;

// Clients

typedef struct larder_client larder_client;

// Settings of a connection. Zero is the default of each; `reserved` is zero.
typedef struct larder_options {
    // The program, for logs and the history. By default "liblarder".
    const char *name;
    // The schema that the program requires: a version, a fingerprint, or both.
    const char *schema_version, *schema_fingerprint;
    // How long to wait for a server. By default there is one attempt.
    int wait_milliseconds;
    // The longest frame to accept, in bytes; more than 16 MiB for longer objects.
    uint32_t frame_bytes_max;
    uint64_t reserved[4];
} larder_options;

// The store and the limits of a connection. Valid until the client connects again or is closed.
typedef struct larder_welcome {
    uint32_t protocol_version;
    bool is_read_only;
    uint8_t store[16];
    int64_t history_epoch;
    const char *server_name, *schema_version, *schema_fingerprint;
    uint32_t frame_bytes_max, requests_in_flight_max, object_bytes_max;
} larder_welcome;

// Connects to the server at a socket's path. With NULL, to the only socket in
// $XDG_RUNTIME_DIR/larder, or else in /run/larder. `options` may be NULL. Free the client with
// larder_close.
LARDER_API larder_client *larder_open(
    const char *path, const larder_options *options, larder_error *error);
// Closes the connection. Results of the client fail afterwards, and are still to be freed.
LARDER_API void larder_close(larder_client *client);
// Closes the connection and connects again, repeatedly for this time until there is a server. Rows
// that have not been read end with CONNECTION_FAILED; observations and histories continue.
LARDER_API bool larder_reconnect(larder_client *client, int milliseconds, larder_error *error);
// NULL while there is no connection.
LARDER_API const larder_welcome *larder_client_welcome(const larder_client *client);
// The time that the server has for a request. By default 10,000; at least 1.
LARDER_API void larder_set_timeout(larder_client *client, int milliseconds);
// For how long a call connects and sends its request again after a temporary error. By default
// 10,000; 0 is never. A write that may have been applied is sent again only if it has a key.
LARDER_API void larder_set_retry(larder_client *client, int milliseconds);
// The id of all requests from now on in the server's log and in `larder top`, such as a W3C
// traceparent: at most 128 printable ASCII characters without spaces. The server refuses any other.
// The text is copied. NULL is none.
LARDER_API bool larder_set_trace(larder_client *client, const char *trace, larder_error *error);
// Ends the call that waits in another thread, or else the next one that waits, with CANCELLED; a
// write that was sent with INDETERMINATE. Safe in any thread and in a signal handler until
// larder_close begins.
LARDER_API void larder_cancel(larder_client *client);
// The socket, for poll with POLLIN; -1 while there is no connection. Another one after a connect.
LARDER_API int larder_fd(const larder_client *client);
// Makes a round trip through the server.
LARDER_API bool larder_ping(larder_client *client, larder_error *error);

// Queries

// A key path or an expression, and its name; NULL is the term itself. An assignment's name is its
// property.
typedef struct larder_term {
    const char *term, *name;
} larder_term;

typedef enum larder_nil_order {
    // First in ascending order, last in descending order.
    LARDER_NIL_STANDARD,
    LARDER_NIL_FIRST,
    LARDER_NIL_LAST
} larder_nil_order;

typedef enum larder_string_order {
    LARDER_STRINGS_PLAIN,
    LARDER_STRINGS_CASE_INSENSITIVE,
    LARDER_STRINGS_LOCALIZED
} larder_string_order;

typedef struct larder_sort {
    const char *term;
    bool is_descending;
    larder_nil_order nil_order;
    larder_string_order string_order;
} larder_sort;

typedef enum larder_function {
    LARDER_COUNT = 1,
    LARDER_COUNT_DISTINCT,
    LARDER_SUM,
    LARDER_AVERAGE,
    LARDER_MINIMUM,
    LARDER_MAXIMUM,
    LARDER_MEDIAN,
    LARDER_STDDEV,
    LARDER_MODE
} larder_function;

// A column of an aggregate. LARDER_COUNT without a term counts objects.
typedef struct larder_aggregate_column {
    larder_function function;
    // The name is required.
    const char *term, *name;
    // Only objects that match are aggregated; NULL is all.
    const char *filter;
} larder_aggregate_column;

// The content of the rows of a fetch.
typedef enum larder_selection {
    // The columns if there are some, otherwise all attributes and to-one relationships.
    LARDER_SELECT_STANDARD,
    LARDER_SELECT_IDENTIFIERS,
    // The columns without the object's identifier and version.
    LARDER_SELECT_VALUES
} larder_selection;

// A query. Only the entity is required; zero is the default of each other field. Predicates, key
// paths and expressions are the format strings of docs/queries.md. `arguments` replace their
// placeholders in this order: `where`; the columns, or the groups and then each aggregate with its
// filter; `having`; the sort keys; assignments.
typedef struct larder_query {
    const char *entity, *where;
    const larder_value *arguments;
    size_t argument_count;
    // The values of `$name` in format strings.
    const larder_property *variables;
    size_t variable_count;
    const larder_term *columns;
    size_t column_count;
    const larder_sort *sort;
    size_t sort_count;
    // The maximum number of rows, and the number of rows to skip. 0 is no limit.
    int64_t limit, offset;
    larder_selection selection;
    bool is_distinct, excludes_subentities;
    // Aggregates only.
    const larder_term *groups;
    size_t group_count;
    const larder_aggregate_column *aggregates;
    size_t aggregate_count;
    const char *having;
    uint64_t reserved[4];
} larder_query;

// Rows of a result, one of which is the current one. Free them with larder_rows_free.
typedef struct larder_rows larder_rows;

// Reads objects with all properties. Those that do not exist are omitted.
LARDER_API larder_rows *larder_get(
    larder_client *client, const larder_identifier *identifiers, size_t count,
    larder_error *error);
// Fetches rows, which arrive as they are read.
LARDER_API larder_rows *larder_fetch(
    larder_client *client, const larder_query *query, larder_error *error);
LARDER_API bool larder_count(
    larder_client *client, const larder_query *query, int64_t *count, larder_error *error);
// Fetches one row per group: the groups, then the aggregates.
LARDER_API larder_rows *larder_aggregate(
    larder_client *client, const larder_query *query, larder_error *error);

// Moves to the next row; at first to the first one. Returns 1, 0 at the end, or -1.
LARDER_API int larder_rows_next(larder_rows *rows, larder_error *error);
// Ends the result on the server too. NULL is allowed.
LARDER_API void larder_rows_free(larder_rows *rows);
// The number of batches, of about 64 KiB each, whose rows have been reached.
LARDER_API size_t larder_rows_batch_count(const larder_rows *rows);

// The columns; known before the first row. The name is valid as long as the row.
LARDER_API int larder_column_count(const larder_rows *rows);
LARDER_API const char *larder_column_name(const larder_rows *rows, int column);
LARDER_API larder_type larder_column_type(const larder_rows *rows, int column);
// The index of a column by its name; -1 if there is none, with which every reader below fails.
LARDER_API int larder_column(larder_rows *rows, const char *name);

// Readers of the current row. They return 0, "" or NULL for nil. A reader that fails, because there
// is no row or column, or the column has another type, returns the same and makes the next
// larder_rows_next fail with UNKNOWN_PROPERTY, WRONG_TYPE or MALFORMED_VALUE.
LARDER_API bool larder_row_is_nil(larder_rows *rows, int column);
LARDER_API bool larder_row_bool(larder_rows *rows, int column);
// Integers and bools.
LARDER_API int64_t larder_row_int64(larder_rows *rows, int column);
// Floats, doubles and integers.
LARDER_API double larder_row_double(larder_rows *rows, int column);
// Strings, URLs, JSON and decimals. Ends with a zero byte; `length`, if it is not NULL, gets the
// number of bytes before it. NULL for nil.
LARDER_API const char *larder_row_text(larder_rows *rows, int column, size_t *length);
// A decimal number as text; NULL for nil.
LARDER_API const char *larder_row_decimal(larder_rows *rows, int column);
// Data, and the bytes of strings and UUIDs. NULL for nil.
LARDER_API const void *larder_row_bytes(larder_rows *rows, int column, size_t *length);
LARDER_API double larder_row_date(larder_rows *rows, int column);
LARDER_API struct timespec larder_row_timespec(larder_rows *rows, int column);
// 16 bytes; NULL for nil.
LARDER_API const uint8_t *larder_row_uuid(larder_rows *rows, int column);
// The object of a to-one relationship. False, and an identifier of zeros, for nil.
LARDER_API bool larder_row_identifier(
    larder_rows *rows, int column, larder_identifier *identifier);
// The objects of a to-many relationship: returns their number and stores at most `capacity`.
LARDER_API size_t larder_row_identifiers(
    larder_rows *rows, int column, larder_identifier *identifiers, size_t capacity);
// The row's object. False if the rows are not objects.
LARDER_API bool larder_row_object(larder_rows *rows, larder_identifier *identifier);
// The row version of the object, from 1; 0 if the rows are not objects.
LARDER_API int64_t larder_row_version(larder_rows *rows);

// Writing

// Inserts an object. `identifier`, if it is not NULL, gets its identifier.
LARDER_API bool larder_insert(
    larder_client *client, const char *entity, const larder_property *properties, size_t count,
    larder_identifier *identifier, larder_error *error);
LARDER_API bool larder_update(
    larder_client *client, const larder_identifier *object, const larder_property *properties,
    size_t count, larder_error *error);
LARDER_API bool larder_delete(
    larder_client *client, const larder_identifier *object, larder_error *error);

// A change set: one transaction. Its functions copy their arguments. If one fails, larder_save
// reports it. Free it with larder_changes_free.
typedef struct larder_changes larder_changes;

typedef enum larder_merge {
    LARDER_MERGE_ERROR,
    LARDER_MERGE_STORE_WINS,
    LARDER_MERGE_CALLER_WINS,
    LARDER_MERGE_OVERWRITE,
    LARDER_MERGE_ROLLBACK
} larder_merge;

typedef enum larder_edit { LARDER_ADD = 1, LARDER_REMOVE, LARDER_MOVE } larder_edit;

// The index of an edit at the end of a list.
enum { LARDER_END = -1 };

// Makes an empty set; NULL if there is no memory.
LARDER_API larder_changes *larder_changes_new(void);
LARDER_API void larder_changes_free(larder_changes *changes);
// Sets the key under which a set is applied at most once, so that larder_save can send it again. At
// most 64 bytes; NULL chooses 16 random bytes.
LARDER_API void larder_changes_key(larder_changes *changes, const char *key);
// Sets the author for the history; at most 256 bytes.
LARDER_API void larder_changes_author(larder_changes *changes, const char *author);
// Selects how conflicts are resolved; by default they are VERSION_CONFLICT.
LARDER_API void larder_changes_merge(larder_changes *changes, larder_merge policy);
// Makes inserts update the objects that already have their unique values.
LARDER_API void larder_changes_upsert(larder_changes *changes, bool upserts);
// Adds an insert, and returns the temporary identifier of its object in this set.
LARDER_API larder_identifier larder_changes_insert(larder_changes *changes, const char *entity);
LARDER_API void larder_changes_update(larder_changes *changes, const larder_identifier *object);
LARDER_API void larder_changes_delete(larder_changes *changes, const larder_identifier *object);
// These belong to the last insert, update or delete. A property; the version that the object must
// have; a value as it was read; an edit of a to-many relationship, at an index or LARDER_END.
LARDER_API void larder_changes_set(
    larder_changes *changes, const char *property, larder_value value);
LARDER_API void larder_changes_version(larder_changes *changes, int64_t version);
LARDER_API void larder_changes_base(
    larder_changes *changes, const char *property, larder_value value);
LARDER_API void larder_changes_edit(
    larder_changes *changes, larder_edit edit, const char *relationship,
    const larder_identifier *objects, size_t count, int64_t index);
// Updates or deletes all objects that match `where` of a query or, with a limit, the first ones.
LARDER_API void larder_changes_update_all(
    larder_changes *changes, const larder_query *objects, const larder_term *assignments,
    size_t count);
LARDER_API void larder_changes_delete_all(larder_changes *changes, const larder_query *objects);
// Rejects the set with CONDITION_FAILED unless this number of objects match before it.
LARDER_API void larder_changes_require(
    larder_changes *changes, const larder_query *objects, int64_t count);

// Applies a set, all changes or none. The same set with a key can be saved again. After
// INDETERMINATE it may or may not have been applied.
LARDER_API bool larder_save(larder_client *client, larder_changes *changes, larder_error *error);

// Results of the last larder_save that succeeded. The number of the transaction; 0 if nothing
// changed. The number of inserts, and the permanent identifier of each. The versions of updated
// objects. Deleted objects. Objects that the changes by predicate at an index applied to.
LARDER_API int64_t larder_saved_transaction(const larder_changes *changes);
LARDER_API size_t larder_saved_insert_count(const larder_changes *changes);
LARDER_API bool larder_saved_identifier(
    const larder_changes *changes, size_t index, larder_identifier *identifier);
LARDER_API int64_t larder_saved_version(const larder_changes *changes, size_t index);
LARDER_API int64_t larder_saved_deleted_count(const larder_changes *changes);
LARDER_API int64_t larder_saved_affected_count(const larder_changes *changes, size_t index);

// Many rows

// A property of each row, its type, and for relationships the entity of the objects.
typedef struct larder_insert_column {
    const char *name;
    larder_type type;
    const char *entity;
} larder_insert_column;

// How to store rows. Zero is the default of each field; `reserved` is zero.
typedef struct larder_insert_options {
    const char *author;
    // Whether all rows are one transaction. Otherwise each batch is one, as it arrives.
    bool is_atomic;
    // Whether rows update the objects that already have their unique values.
    bool upserts;
    uint64_t reserved[2];
} larder_insert_options;

typedef struct larder_insertion larder_insertion;

// Begins to insert any number of objects. `options` may be NULL. Free the insertion with
// larder_insertion_free.
LARDER_API larder_insertion *larder_insert_many(
    larder_client *client, const char *entity, const larder_insert_column *columns, size_t count,
    const larder_insert_options *options, larder_error *error);
// Adds a row with a value for each column. Rows are sent in batches; an error may be that of an
// earlier row, and `change` is its index. A row that is not of the columns' types is not added;
// after every other error the stream has ended.
LARDER_API bool larder_insertion_add(
    larder_insertion *insertion, const larder_value *values, larder_error *error);
// Sends the rest and waits. `count`, if it is not NULL, gets the number of stored rows.
LARDER_API bool larder_insertion_finish(
    larder_insertion *insertion, int64_t *count, larder_error *error);
// Ends a stream that is not finished: nothing of an atomic one is stored, and of others the rows
// that were sent.
LARDER_API void larder_insertion_free(larder_insertion *insertion);

// Live queries

typedef struct larder_observation larder_observation;

typedef enum larder_row_change_kind {
    LARDER_ROW_INSERTED = 1,
    LARDER_ROW_UPDATED,
    LARDER_ROW_MOVED,
    LARDER_ROW_DELETED
} larder_row_change_kind;

// A change of one row. Old indexes are those before all changes, new ones those after them.
typedef struct larder_row_change {
    larder_row_change_kind kind;
    // Not for inserted rows.
    size_t old_index;
    // Not for deleted rows.
    size_t new_index;
} larder_row_change;

// Runs a query, an aggregate if it has groups or aggregates, and reports how commits change its
// result, at most once in each interval. Free it with larder_observation_free.
LARDER_API larder_observation *larder_observe(
    larder_client *client, const larder_query *query, int interval_milliseconds,
    larder_error *error);
// Waits for the next result; at first the whole one. Returns 1, 0 if there was none in time, or -1.
// A timeout of -1 has no end; with 0 it returns at once and does not connect again. Call it until
// it returns 0 before you poll larder_fd. After a lost connection it observes again.
LARDER_API int larder_observe_next(
    larder_observation *observation, int timeout_milliseconds, larder_error *error);
// The rows of the current result, before the first; valid until the next larder_observe_next. Not
// to be freed.
LARDER_API larder_rows *larder_observe_rows(larder_observation *observation);
LARDER_API size_t larder_observe_row_count(const larder_observation *observation);
// Moves the rows to an index; false if there is no such row.
LARDER_API bool larder_rows_seek(larder_rows *rows, size_t index);
// The changes that led to the current result; NULL if it is whole, because it is the first one or
// was replaced.
LARDER_API const larder_row_change *larder_observe_changes(
    const larder_observation *observation, size_t *count);
// The position in the history that the current result belongs to.
LARDER_API larder_token larder_observe_position(const larder_observation *observation);
LARDER_API void larder_observation_free(larder_observation *observation);

// The history

typedef enum larder_change_kind {
    LARDER_INSERTED = 1,
    LARDER_UPDATED,
    LARDER_DELETED
} larder_change_kind;

// The change of objects of one entity with consecutive keys.
typedef struct larder_run {
    larder_change_kind kind;
    const char *entity;
    int64_t first_key, last_key;
    // The updated properties, sorted.
    const char *const *properties;
    size_t property_count;
} larder_run;

// The preserved values of a deleted object. Texts have a length and no zero byte at their end.
typedef struct larder_tombstone {
    const char *entity;
    int64_t key;
    const larder_property *values;
    size_t value_count;
} larder_tombstone;

// A transaction, or a part of a large one.
typedef struct larder_transaction {
    int64_t number;
    double time;
    const char *author, *client;
    // The user and the process of the client; -1 if they are unknown.
    int64_t user, process;
    // Whether more of it follows, under the same number.
    bool is_partial;
    const larder_run *runs;
    size_t run_count;
    const larder_tombstone *tombstones;
    size_t tombstone_count;
} larder_transaction;

// The transactions to read. Zero is the default of each field; `reserved` is zero. Lists that are
// not empty select.
typedef struct larder_history_query {
    // The position after which to read; NULL is the beginning.
    const larder_token *after;
    const char *const *authors, *const *excluded_authors, *const *entities, *const *properties;
    size_t author_count, excluded_author_count, entity_count, property_count;
    // The newest first, and the maximum number; not for larder_follow.
    bool newest_first;
    int64_t limit;
    bool without_changes;
    uint64_t reserved[4];
} larder_history_query;

typedef struct larder_feed larder_feed;

// Reads the position after the last transaction.
LARDER_API bool larder_position(larder_client *client, larder_token *token, larder_error *error);
// Reads transactions. `query` may be NULL. Free it with larder_feed_free.
LARDER_API larder_feed *larder_history(
    larder_client *client, const larder_history_query *query, larder_error *error);
// Reads transactions, and then each new one as it is committed, also over a lost connection.
LARDER_API larder_feed *larder_follow(
    larder_client *client, const larder_history_query *query, larder_error *error);
// Waits for the next transaction, as larder_observe_next does. Returns 1, 0 at the end or if there
// was none in time, or -1.
LARDER_API int larder_feed_next(
    larder_feed *feed, int timeout_milliseconds, larder_error *error);
// The current transaction; NULL if there is none.
LARDER_API const larder_transaction *larder_feed_transaction(const larder_feed *feed);
// Where to continue: after the last transaction that is complete.
LARDER_API larder_token larder_feed_position(const larder_feed *feed);
LARDER_API void larder_feed_free(larder_feed *feed);

#ifdef __cplusplus
}
#endif

#endif
