// Declarations that the files of the library share. None of them is exported.
//
// A client has a list of streams, one for each request whose last reply has not arrived. Replies
// are passed to the stream with their id while any call of the client reads or waits. Credit limits
// how many replies a stream can have, so that a server cannot fill the memory of a client that does
// not read them.
#ifndef LARDER_INTERNAL_H
#define LARDER_INTERNAL_H

#include "larder.h"

#include "error.pb-c.h"
#include "larder.pb-c.h"
#include "query.pb-c.h"

typedef Larder__V1__Envelope Envelope;
typedef Larder__V1__Envelope__BodyCase BodyCase;
typedef Larder__V1__Value Value;
typedef Larder__V1__Batch Batch;
typedef Larder__V1__Column Column;
typedef Larder__V1__Term Term;

enum {
    LENGTH_BYTES = 4,
    HANDSHAKE_BYTES_MAX = 64 << 10,
    REPLY_BYTES_MAX = 16 << 20,
    UUID_BYTES = 16,
    SECONDS_FROM_1970_TO_2001 = 978307200,
    ENTITY_BYTES_MAX = 128,
    // The replies of a stream that may be unread.
    CREDIT = 4,
    NEVER = -1,
    PAUSE_MILLISECONDS_MIN = 10,
    PAUSE_MILLISECONDS_MAX = 1000,
};

// Errors. Each fills an error unless it is NULL, and returns false.

__attribute__((format(printf, 3, 4))) bool larder_fail(
    larder_error *error, uint32_t code, const char *format, ...);
bool larder_fail_memory(larder_error *error);
bool larder_fail_reply(larder_error *error, const Larder__V1__ErrorReply *failed);
void larder_copy_error(larder_error *to, const larder_error *from);
// Copies a text to an array, cut at a character.
void larder_copy_text(char *to, size_t size, const char *text, size_t length);

// Memory that is freed at once.

typedef struct ArenaBlock ArenaBlock;
typedef struct {
    ArenaBlock *blocks;
} Arena;

// Zeroed memory; NULL if there is none.
void *larder_arena_take(Arena *arena, size_t size);
void *larder_arena_copy(Arena *arena, const void *bytes, size_t length);
char *larder_arena_text(Arena *arena, const char *text);
// A longer copy of an array of pointers, if it is full.
void **larder_arena_grow(Arena *arena, void **items, size_t count);
void larder_arena_free(Arena *arena);

// Time

// Milliseconds of a clock that never goes back.
int64_t larder_now(void);
// The time after some milliseconds, or NEVER for -1.
int64_t larder_after(int milliseconds);

// Connections

typedef struct {
    Envelope *envelope;
    size_t length;
} Reply;

// A request and its replies. Its owner releases it with larder_stream_release.
typedef struct Stream {
    struct Stream *next;
    // NULL after the last reply, and after the end of the connection.
    larder_client *client;
    uint64_t id;
    BodyCase kind;
    // The replies that may still arrive.
    uint32_t credit;
    // Whether a reply replaces an unread one: those of an insert stream report a progress.
    bool replaces;
    // Whether it counts towards requests_in_flight_max: not if it follows or observes.
    bool is_in_flight;
    bool is_abandoned;
    // The value of `sent_bytes` once the request was sent.
    uint64_t sent_at;
    // Whether the connection ended before the last reply, and before that the request was sent.
    bool is_lost, was_sent;
    Reply replies[CREDIT];
    size_t reply_count;
    // Why it ended; the code is 0 after a last reply that is not `failed`.
    larder_error error;
} Stream;

struct larder_client {
    size_t references;
    bool is_closed;
    char *path, *name, *schema_version, *schema_fingerprint;
    int socket, wake;
    int timeout_milliseconds, retry_milliseconds;
    // NULL for none.
    char *trace;
    uint32_t frame_bytes_max;
    size_t request_bytes_max, reply_bytes_max;
    uint32_t requests_max;
    uint64_t last_id;
    // Counts the connections.
    uint64_t generation;
    Stream *streams;
    // The frame that is arriving.
    uint8_t header[LENGTH_BYTES];
    uint8_t *input;
    size_t input_length, input_count;
    // Frames that have not been sent.
    uint8_t *output;
    size_t output_capacity, output_start, output_end;
    // The bytes that were added to the output, and those that the socket has accepted, in total.
    uint64_t queued_bytes, sent_bytes;
    Envelope *reply_to_hello;
    larder_welcome welcome;
    // The store of the first connection, which a retry must find again.
    uint8_t store[UUID_BYTES];
    // Why there is no connection.
    larder_error error;
};

// The result of a wait.
typedef enum { WAIT_READY, WAIT_TIMEOUT, WAIT_CANCELLED, WAIT_LOST } Wait;

// Connects once. connection.c.
bool larder_connect(larder_client *client, larder_error *error);
// Ends the connection and all its streams, for this reason.
void larder_disconnect(larder_client *client, const larder_error *reason);
// Connects if there is no connection, until a time, to the store of the first connection.
bool larder_ensure(larder_client *client, int64_t deadline, larder_error *error);
// Waits for a time; false if it was cancelled.
bool larder_pause(larder_client *client, int milliseconds, larder_error *error);
void larder_retain(larder_client *client);
void larder_unretain(larder_client *client);

// Sockets. socket.c.
bool larder_socket_open(larder_client *client, int64_t deadline, larder_error *error);
// Reads what has arrived, without waiting, and passes complete replies to their streams.
void larder_receive(larder_client *client);
// Waits once, until something was read or sent.
Wait larder_wait(larder_client *client, int64_t deadline);
// Adds a frame to those to be sent. Does not wait.
bool larder_enqueue(larder_client *client, Envelope *request, larder_error *error);
// Sends what was added, until a time.
bool larder_flush(larder_client *client, int64_t deadline, larder_error *error);
// Sends a request without a reply, now or later, without waiting. If it does not fit into memory,
// the connection ends.
void larder_post(larder_client *client, Envelope *request);

// Streams. streams.c.

// Adds a request to those to be sent, and returns its stream, which has this credit.
Stream *larder_stream_open(
    larder_client *client, Envelope *request, BodyCase kind, uint32_t credit, bool is_in_flight,
    larder_error *error);
// Takes the next reply. Returns 1, 0 if there is none in time or after the last one, or -1.
int larder_stream_next(Stream *stream, int64_t deadline, Reply *reply, larder_error *error);
// Allows another reply.
void larder_stream_credit(Stream *stream);
// Cancels a stream that has not ended. NULL is allowed.
void larder_stream_release(Stream *stream);
// Passes a reply, which it frees, to its stream.
void larder_dispatch(larder_client *client, Envelope *envelope, size_t length);

// The treatment of a request whose reply was lost.
typedef enum { REPEAT_NEVER, REPEAT_WRITE, REPEAT_ALWAYS } Repeat;

// Sends a request, again after temporary errors, until it has a reply, and returns the first one.
// If `stream` is not NULL and more replies follow, it gets the stream.
Envelope *larder_call(
    larder_client *client, Envelope *request, BodyCase kind, Repeat repeat, Stream **stream,
    larder_error *error);
// The time until which the reply to a request that is sent now is awaited.
int64_t larder_reply_deadline(const larder_client *client);

// A stream that is opened again after a lost connection, if it follows: an observed query or the
// history. follower.c.
typedef struct {
    larder_client *client;
    BodyCase kind;
    bool follows;
    // NULL before it is opened again. What had arrived of an incomplete reply is then sent again.
    Stream *stream;
    size_t restart_count;
    // Attempts without a reply: the pause before the next one, until when, and the last error.
    int pause;
    int64_t retry_deadline;
    larder_error failure;
    // The error that has ended it.
    larder_error error;
} Follower;

bool larder_follower_start(Follower *follower, Envelope *request, larder_error *error);
void larder_follower_stop(Follower *follower);
// Takes the next reply. The request is used to open the stream again, but with a timeout of 0 no
// connection is opened. Returns 1, 0 if there is none in time or after the last one, or -1.
int larder_follower_next(
    Follower *follower, Envelope *request, int timeout_milliseconds, Reply *reply,
    larder_error *error);

// Whether the reply is valid and, if it has batches, these are. validation.c.
bool larder_is_valid_reply(const Envelope *reply, larder_error *error);
bool larder_is_valid_batch(const Batch *batch);
bool larder_has_more(const Envelope *reply);

// Values. values.c.

bool larder_build_identifier(
    Arena *arena, const larder_identifier *identifier, Larder__V1__Identifier **built);
bool larder_build_value(Arena *arena, const larder_value *value, Value *built, larder_error *error);
bool larder_build_arguments(
    Arena *arena, const larder_value *values, size_t count, Larder__V1__Argument ***built,
    larder_error *error);
bool larder_build_variables(
    Arena *arena, const larder_property *variables, size_t count,
    Larder__V1__NamedArgument ***built, larder_error *error);
// A value as the server sent it, whose memory it borrows.
larder_value larder_read_value(const Value *value);
bool larder_read_identifier(
    const Larder__V1__Identifier *from, larder_identifier *identifier);

// Queries. queries.c.

Term *larder_build_term(Arena *arena, const char *format);
Larder__V1__SortKey **larder_build_sort(Arena *arena, const larder_sort *sort, size_t count);
Larder__V1__NamedTerm **larder_build_terms(Arena *arena, const larder_term *terms, size_t count);
typedef enum { FORM_FETCH, FORM_COUNT, FORM_AGGREGATE } QueryForm;
// Builds a request, without what its form does not have.
bool larder_build_query(
    Arena *arena, const larder_query *query, QueryForm form, Larder__V1__QueryRequest *built,
    larder_error *error);

// Rows. rows.c and columns.c.

// A batch, with copies of its texts that end with zero bytes.
typedef struct {
    size_t references;
    Batch *batch;
    char *texts[];
} Page;

// Takes a batch out of its reply; NULL if there is no memory.
Page *larder_page_new(Batch **batch);
// Frees a page without other references. NULL is allowed.
void larder_page_release(Page *page);

// A row of an observed result.
typedef struct {
    Page *page;
    uint32_t row;
} RowReference;

struct larder_rows {
    larder_client *client;
    uint8_t store[UUID_BYTES];
    // The rest of the replies, and the current one.
    Stream *stream;
    Envelope *reply;
    size_t batch_index, batch_count;
    // The current batch and row; the row is -1 before the first and after the last.
    Page *page;
    int64_t row;
    // The first failure of a reader, or of the result.
    larder_error error;
    // The rows of an observation, which owns them, and the index of the next one.
    bool is_observed;
    const RowReference *references;
    size_t reference_count, reference_index;
};

#endif
