#include "larder_connection.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum {
    LENGTH_BYTES = 4,
    // The longest frame of either side before the end of the handshake, and of the server after it.
    HANDSHAKE_BYTES_MAX = 64 << 10,
    REPLY_BYTES_MAX = 16 << 20,
    HANDSHAKE_MILLISECONDS = 10000,
    // The server replies with TIMEOUT after the time of a request; a later reply never comes.
    SLACK_MILLISECONDS = 30000,
    PAUSE_MILLISECONDS_MAX = 1000,
};

struct larder_client {
    char *path, *name;
    int socket;
    size_t request_bytes_max, reply_bytes_max;
    uint64_t last_id;
    Envelope *welcome;
};

// Errors

__attribute__((format(printf, 3, 4))) static bool fail(
    larder_error *error, uint32_t code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    error->code = code;
    error->hint[0] = 0;
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return false;
}

bool larder_fail_to_connect(larder_error *error, const char *what) {
    return fail(
        error, LARDER__V1__ERROR_CODE__ERROR_CODE_CONNECTION_FAILED, "%s: %s", what,
        strerror(errno));
}

bool larder_violate(larder_error *error, const char *what) {
    return fail(error, LARDER__V1__ERROR_CODE__ERROR_CODE_MALFORMED_MESSAGE, "%s", what);
}

const char *larder_error_name(const larder_error *error) {
    const ProtobufCEnumValue *found = protobuf_c_enum_descriptor_get_value(
        &larder__v1__error_code__descriptor, (int)error->code);
    return found ? found->name + strlen("ERROR_CODE_") : "UNKNOWN_ERROR";
}

bool larder_error_is_temporary(const larder_error *error) {
    return error->code == LARDER__V1__ERROR_CODE__ERROR_CODE_CONNECTION_FAILED ||
           error->code == LARDER__V1__ERROR_CODE__ERROR_CODE_TIMEOUT ||
           error->code == LARDER__V1__ERROR_CODE__ERROR_CODE_UNAVAILABLE;
}

// Time

int64_t larder_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

void larder_pause(int milliseconds) {
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    nanosleep(&time, NULL);
}

// The connection

static void disconnect(larder_client *client) {
    if (client->socket >= 0) close(client->socket);
    client->socket = -1;
}

// Waits until the socket is ready. A deadline of UNLIMITED never passes.
static bool wait_for(larder_client *client, short events, int64_t deadline, larder_error *error) {
    struct pollfd ready = {.fd = client->socket, .events = events};
    for (;;) {
        int64_t left = deadline == UNLIMITED ? UNLIMITED : deadline - larder_now();
        if (deadline != UNLIMITED && left < 0) left = 0;
        int count = poll(&ready, 1, (int)left);
        if (count > 0) return true;
        if (count == 0) errno = ETIMEDOUT;
        if (count == 0 || errno != EINTR) return larder_fail_to_connect(error, "no reply");
    }
}

static bool write_all(
    larder_client *client, const uint8_t *bytes, size_t count, int64_t deadline,
    larder_error *error) {
    while (count > 0) {
        if (!wait_for(client, POLLOUT, deadline, error)) return false;
        ssize_t sent = send(client->socket, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (sent < 0) return larder_fail_to_connect(error, "the connection broke");
        bytes += sent;
        count -= (size_t)sent;
    }
    return true;
}

static bool read_all(
    larder_client *client, uint8_t *bytes, size_t count, int64_t deadline, larder_error *error) {
    while (count > 0) {
        if (!wait_for(client, POLLIN, deadline, error)) return false;
        ssize_t received = recv(client->socket, bytes, count, MSG_DONTWAIT);
        if (received < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (received < 0) return larder_fail_to_connect(error, "the connection broke");
        if (received == 0) {
            return fail(
                error, LARDER__V1__ERROR_CODE__ERROR_CODE_CONNECTION_FAILED,
                "the server closed the connection");
        }
        bytes += received;
        count -= (size_t)received;
    }
    return true;
}

// Memory for a message is limited, because an empty message in a frame has two bytes and many more
// in memory.
static void *limited_alloc(void *left, size_t size) {
    size_t *bytes = left;
    if (size > *bytes) return NULL;
    *bytes -= size;
    return malloc(size);
}

static void limited_free(void *left, void *memory) {
    (void)left;
    free(memory);
}

static Envelope *read_envelope(larder_client *client, int64_t deadline, larder_error *error) {
    uint8_t header[LENGTH_BYTES];
    if (!read_all(client, header, sizeof header, deadline, error)) return NULL;
    size_t length = (size_t)header[0] << 24 | (size_t)header[1] << 16 | (size_t)header[2] << 8 |
                    header[3];
    if (length > client->reply_bytes_max) {
        fail(
            error, LARDER__V1__ERROR_CODE__ERROR_CODE_FRAME_TOO_LONG,
            "the server sent a frame of %zu bytes; at most %zu are allowed", length,
            client->reply_bytes_max);
        return NULL;
    }
    uint8_t *content = malloc(length ? length : 1);
    if (!content) {
        larder_fail_to_connect(error, "the frame does not fit into memory");
        return NULL;
    }
    Envelope *envelope = NULL;
    if (read_all(client, content, length, deadline, error)) {
        size_t left = (1 << 20) + 32 * length;
        ProtobufCAllocator allocator = {limited_alloc, limited_free, &left};
        envelope = larder__v1__envelope__unpack(&allocator, length, content);
        if (!envelope) {
            fail(
                error, LARDER__V1__ERROR_CODE__ERROR_CODE_MALFORMED_FRAME,
                "the server sent a frame that is not an envelope");
        }
    }
    free(content);
    return envelope;
}

static void take_error(larder_error *error, const Larder__V1__ErrorReply *failed) {
    fail(error, failed->code, "%s", failed->message);
    snprintf(error->hint, sizeof error->hint, "%s", failed->hint);
}

// Returns the next reply, which must be to this request and of this kind.
static Envelope *receive(
    larder_client *client, uint64_t id, BodyCase kind, int milliseconds, larder_error *error) {
    int64_t deadline = milliseconds == UNLIMITED ? UNLIMITED
                                                 : larder_now() + milliseconds + SLACK_MILLISECONDS;
    Envelope *envelope = read_envelope(client, deadline, error);
    if (!envelope) {
        disconnect(client);
        return NULL;
    }
    bool is_failed = envelope->body_case == LARDER__V1__ENVELOPE__BODY_FAILED;
    if (is_failed && (envelope->id == id || envelope->id == 0)) {
        take_error(error, envelope->failed);
        if (envelope->id == 0) disconnect(client);
    } else if (envelope->body_case == LARDER__V1__ENVELOPE__BODY__NOT_SET) {
        fail(
            error, LARDER__V1__ERROR_CODE__ERROR_CODE_UNKNOWN_MESSAGE,
            "the server sent a message that is not a known reply");
        disconnect(client);
    } else if (envelope->id != id || envelope->body_case != kind) {
        larder_violate(
            error, envelope->id != id ? "the server replied to another request"
                                      : "the server replied with another message");
        disconnect(client);
    } else {
        return envelope;
    }
    larder__v1__envelope__free_unpacked(envelope, NULL);
    return NULL;
}

// Sends a request, and gives it an id.
static bool send_request(
    larder_client *client, Envelope *request, int milliseconds, larder_error *error) {
    error->code = 0;
    if (client->socket < 0) {
        errno = ENOTCONN;
        return larder_fail_to_connect(error, "the connection is closed");
    }
    request->id = ++client->last_id;
    request->timeout_milliseconds = milliseconds == UNLIMITED ? 0 : (uint32_t)milliseconds;
    size_t length = larder__v1__envelope__get_packed_size(request);
    if (length > client->request_bytes_max) {
        return fail(
            error, LARDER__V1__ERROR_CODE__ERROR_CODE_FRAME_TOO_LONG,
            "the request has %zu bytes; at most %zu are allowed", length,
            client->request_bytes_max);
    }
    uint8_t *frame = malloc(LENGTH_BYTES + length);
    if (!frame) return larder_fail_to_connect(error, "the request does not fit into memory");
    for (int index = 0; index < LENGTH_BYTES; index++) {
        frame[index] = (uint8_t)(length >> (24 - 8 * index));
    }
    larder__v1__envelope__pack(request, frame + LENGTH_BYTES);
    int64_t deadline = larder_now() + REQUEST_MILLISECONDS + SLACK_MILLISECONDS;
    bool is_sent = write_all(client, frame, LENGTH_BYTES + length, deadline, error);
    if (!is_sent) disconnect(client);
    free(frame);
    return is_sent;
}

Envelope *larder_call(
    larder_client *client, Envelope *request, BodyCase kind, larder_error *error) {
    if (!send_request(client, request, REQUEST_MILLISECONDS, error)) return NULL;
    return receive(client, request->id, kind, REQUEST_MILLISECONDS, error);
}

static bool open_socket(larder_client *client, larder_error *error) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(client->path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return larder_fail_to_connect(error, client->path);
    }
    memcpy(address.sun_path, client->path, strlen(client->path));
    client->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (client->socket < 0) return larder_fail_to_connect(error, client->path);
    // The time for the connection; the requests have their own.
    struct timeval time = {HANDSHAKE_MILLISECONDS / 1000, 0};
    if (setsockopt(client->socket, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time) != 0 ||
        connect(client->socket, (struct sockaddr *)&address, sizeof address) != 0) {
        return larder_fail_to_connect(error, client->path);
    }
    return true;
}

static bool open_connection(larder_client *client, larder_error *error) {
    disconnect(client);
    if (client->welcome) larder__v1__envelope__free_unpacked(client->welcome, NULL);
    client->welcome = NULL;
    client->last_id = 0;
    client->request_bytes_max = client->reply_bytes_max = HANDSHAKE_BYTES_MAX;
    if (open_socket(client, error)) {
        Larder__V1__Hello hello = LARDER__V1__HELLO__INIT;
        hello.protocol_version = 1;
        hello.client_name = client->name;
        Envelope request = LARDER__V1__ENVELOPE__INIT;
        request.body_case = LARDER__V1__ENVELOPE__BODY_HELLO;
        request.hello = &hello;
        client->welcome = larder_call(client, &request, LARDER__V1__ENVELOPE__BODY_WELCOME, error);
    }
    if (!client->welcome) {
        disconnect(client);
        return false;
    }
    client->request_bytes_max = client->welcome->welcome->frame_bytes_max;
    client->reply_bytes_max = REPLY_BYTES_MAX;
    return true;
}

larder_client *larder_connect(const char *path, const char *name, larder_error *error) {
    larder_client *client = calloc(1, sizeof *client);
    if (client) {
        client->socket = -1;
        client->path = strdup(path);
        client->name = strdup(name);
    }
    if (!client || !client->path || !client->name) {
        larder_fail_to_connect(error, path);
        larder_close(client);
        return NULL;
    }
    if (!open_connection(client, error)) {
        larder_close(client);
        return NULL;
    }
    return client;
}

bool larder_reconnect(larder_client *client, int milliseconds, larder_error *error) {
    int64_t deadline = larder_now() + milliseconds;
    for (int pause = PAUSE_MILLISECONDS_MIN; !open_connection(client, error); pause *= 2) {
        if (pause > PAUSE_MILLISECONDS_MAX) pause = PAUSE_MILLISECONDS_MAX;
        if (!larder_error_is_temporary(error) || larder_now() + pause > deadline) return false;
        larder_pause(pause);
    }
    return true;
}

void larder_close(larder_client *client) {
    if (!client) return;
    disconnect(client);
    if (client->welcome) larder__v1__envelope__free_unpacked(client->welcome, NULL);
    free(client->path);
    free(client->name);
    free(client);
}

const Larder__V1__WelcomeReply *larder_welcome(const larder_client *client) {
    return client->welcome ? client->welcome->welcome : NULL;
}

// Streams

static bool has_more(const Envelope *reply) {
    return reply->body_case == LARDER__V1__ENVELOPE__BODY_BATCHES ? reply->batches->more
                                                                   : reply->transactions->more;
}

// Cancels a stream, and reads the replies that are on their way.
static void cancel(larder_client *client, uint64_t id, BodyCase kind) {
    Larder__V1__CancelRequest body = LARDER__V1__CANCEL_REQUEST__INIT;
    body.request_id = id;
    Envelope request = LARDER__V1__ENVELOPE__INIT;
    request.body_case = LARDER__V1__ENVELOPE__BODY_CANCEL;
    request.cancel = &body;
    larder_error error;
    if (!send_request(client, &request, REQUEST_MILLISECONDS, &error)) return;
    for (bool more = true; more;) {
        Envelope *reply = receive(client, id, kind, REQUEST_MILLISECONDS, &error);
        if (!reply) return;
        more = has_more(reply);
        larder__v1__envelope__free_unpacked(reply, NULL);
    }
}

bool larder_stream(
    larder_client *client, Envelope *request, BodyCase kind, int milliseconds,
    larder_reply_function *each, void *context, larder_error *error) {
    if (!send_request(client, request, milliseconds, error)) return false;
    uint64_t id = request->id;
    for (;;) {
        Envelope *reply = receive(client, id, kind, milliseconds, error);
        if (!reply) return false;
        bool more = has_more(reply);
        bool continues = each(context, reply, error);
        larder__v1__envelope__free_unpacked(reply, NULL);
        if (!continues && more) cancel(client, id, kind);
        if (!continues || !more) return error->code == 0;
        Larder__V1__CreditRequest body = LARDER__V1__CREDIT_REQUEST__INIT;
        body.request_id = id;
        body.batches = 1;
        Envelope credit = LARDER__V1__ENVELOPE__INIT;
        credit.body_case = LARDER__V1__ENVELOPE__BODY_CREDIT;
        credit.credit = &body;
        if (!send_request(client, &credit, REQUEST_MILLISECONDS, error)) return false;
    }
}
