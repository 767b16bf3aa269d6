#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"

enum {
    OUTPUT_BYTES_MIN = 4096,
    // A longer buffer is freed when it is empty.
    OUTPUT_BYTES_KEPT = 1 << 20,
    // The memory of a message besides 32 times its length, and its maximum besides its length.
    MESSAGE_BYTES_MIN = 1 << 20,
    MESSAGE_BYTES_MAX = 96 << 20,
};

int64_t larder_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

int64_t larder_after(int milliseconds) {
    return milliseconds < 0 ? NEVER : larder_now() + milliseconds;
}

static int left_until(int64_t deadline) {
    if (deadline == NEVER) return -1;
    int64_t left = deadline - larder_now();
    return left < 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left;
}

bool larder_socket_open(larder_client *client, int64_t deadline, larder_error *error) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(client->path);
    errno = ENAMETOOLONG;
    if (length < sizeof address.sun_path) {
        memcpy(address.sun_path, client->path, length);
        client->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    }
    while (client->socket >= 0) {
        if (connect(client->socket, (struct sockaddr *)&address, sizeof address) == 0) return true;
        // The server's queue of connections is full.
        bool waits = errno == EAGAIN || errno == EINTR;
        if (!waits || larder_now() >= deadline) break;
        if (!larder_pause(client, PAUSE_MILLISECONDS_MIN, error)) return false;
    }
    return larder_fail(
        error, LARDER_ERROR_CONNECTION_FAILED, "%s: %s", client->path, strerror(errno));
}

static void lose(larder_client *client, uint32_t code, const char *what, int number) {
    larder_error reason;
    larder_fail(&reason, code, "%s%s%s", what, number ? ": " : "", number ? strerror(number) : "");
    larder_disconnect(client, &reason);
}

// Memory for a message is limited, because an empty message in a frame has two bytes and many more
// in memory.
typedef struct {
    size_t left;
    bool is_exhausted;
} Allowance;

static void *limited_alloc(void *context, size_t size) {
    Allowance *allowance = context;
    void *memory = size <= allowance->left ? malloc(size ? size : 1) : NULL;
    if (!memory) {
        allowance->is_exhausted = true;
        return NULL;
    }
    allowance->left -= size;
    return memory;
}

static void limited_free(void *context, void *memory) {
    (void)context;
    free(memory);
}

static void unpack_frame(larder_client *client) {
    uint8_t *input = client->input;
    size_t length = client->input_length;
    client->input = NULL;
    client->input_count = 0;
    size_t needed = MESSAGE_BYTES_MIN + 32 * length, most = MESSAGE_BYTES_MAX + length;
    Allowance allowance = {needed < most ? needed : most, false};
    ProtobufCAllocator allocator = {limited_alloc, limited_free, &allowance};
    Envelope *envelope = larder__v1__envelope__unpack(&allocator, length, input);
    free(input);
    if (envelope) {
        larder_dispatch(client, envelope, length);
    } else if (allowance.is_exhausted) {
        lose(client, LARDER_ERROR_RESOURCE_EXHAUSTED, "there is no memory for a reply", 0);
    } else {
        lose(
            client, LARDER_ERROR_MALFORMED_FRAME,
            "the server sent a frame that is not an envelope", 0);
    }
}

// Takes memory for the content of a frame whose length has arrived.
static void begin_frame(larder_client *client) {
    const uint8_t *header = client->header;
    size_t length = (size_t)header[0] << 24 | (size_t)header[1] << 16 | (size_t)header[2] << 8 |
                    header[3];
    if (length > client->reply_bytes_max) {
        larder_error reason;
        larder_fail(
            &reason, LARDER_ERROR_FRAME_TOO_LONG,
            "the server sent a frame of %zu bytes; at most %zu are allowed", length,
            client->reply_bytes_max);
        larder_disconnect(client, &reason);
        return;
    }
    client->input_length = length;
    client->input = malloc(length ? length : 1);
    if (!client->input) {
        lose(client, LARDER_ERROR_RESOURCE_EXHAUSTED, "there is no memory for a reply", 0);
    } else if (length == 0) {
        unpack_frame(client);
    }
}

// Receives until a frame is complete or nothing more has arrived. `input_count` counts the bytes of
// the header while there is no input, and then those of the content.
void larder_receive(larder_client *client) {
    while (client->socket >= 0) {
        bool is_header = client->input == NULL;
        size_t length = is_header ? LENGTH_BYTES : client->input_length;
        uint8_t *bytes = is_header ? client->header : client->input;
        ssize_t count = recv(
            client->socket, bytes + client->input_count, length - client->input_count,
            MSG_DONTWAIT);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && errno == EAGAIN) return;
        if (count < 0) {
            lose(client, LARDER_ERROR_CONNECTION_FAILED, "the connection broke", errno);
            return;
        }
        if (count == 0) {
            lose(client, LARDER_ERROR_CONNECTION_FAILED, "the server closed the connection", 0);
            return;
        }
        client->input_count += (size_t)count;
        if (client->input_count < length) continue;
        client->input_count = 0;
        if (!is_header) {
            unpack_frame(client);
            return;
        }
        begin_frame(client);
        if (!client->input) return;
    }
}

// Sends what the socket accepts.
static void send_some(larder_client *client) {
    while (client->socket >= 0 && client->output_start < client->output_end) {
        ssize_t count = send(
            client->socket, client->output + client->output_start,
            client->output_end - client->output_start, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && errno == EAGAIN) return;
        if (count < 0) {
            int number = errno;
            // The server's reason for closing may have arrived.
            uint64_t generation = client->generation;
            for (size_t frame = 0; frame < 64 && client->socket >= 0; frame++) {
                larder_receive(client);
            }
            if (client->socket >= 0 && client->generation == generation) {
                lose(client, LARDER_ERROR_CONNECTION_FAILED, "the connection broke", number);
            }
            return;
        }
        client->output_start += (size_t)count;
        client->sent_bytes += (uint64_t)count;
    }
    client->output_start = client->output_end = 0;
    if (client->output_capacity > OUTPUT_BYTES_KEPT) {
        free(client->output);
        client->output = NULL;
        client->output_capacity = 0;
    }
}

// Makes room for more bytes after those that are to be sent.
static bool reserve(larder_client *client, size_t length) {
    if (client->output_start > 0) {
        size_t unsent = client->output_end - client->output_start;
        memmove(client->output, client->output + client->output_start, unsent);
        client->output_start = 0;
        client->output_end = unsent;
    }
    size_t needed = client->output_end + length;
    if (needed <= client->output_capacity) return true;
    size_t capacity = client->output_capacity ? client->output_capacity : OUTPUT_BYTES_MIN;
    while (capacity < needed) capacity *= 2;
    uint8_t *output = realloc(client->output, capacity);
    if (!output) return false;
    client->output = output;
    client->output_capacity = capacity;
    return true;
}

bool larder_enqueue(larder_client *client, Envelope *request, larder_error *error) {
    size_t length = larder__v1__envelope__get_packed_size(request);
    if (length > client->request_bytes_max) {
        larder_fail(
            error, LARDER_ERROR_FRAME_TOO_LONG,
            "the request has %zu bytes; at most %zu are allowed", length,
            client->request_bytes_max);
        static const char hint[] = "divide it; larder_insert_many inserts any number of objects";
        if (error) larder_copy_text(error->hint, sizeof error->hint, hint, strlen(hint));
        return false;
    }
    if (!reserve(client, LENGTH_BYTES + length)) return larder_fail_memory(error);
    uint8_t *frame = client->output + client->output_end;
    for (int index = 0; index < LENGTH_BYTES; index++) {
        frame[index] = (uint8_t)(length >> (24 - 8 * index));
    }
    larder__v1__envelope__pack(request, frame + LENGTH_BYTES);
    client->output_end += LENGTH_BYTES + length;
    client->queued_bytes += LENGTH_BYTES + length;
    return true;
}

// Whether larder_cancel was called since the last cancellation.
static bool take_cancellation(larder_client *client) {
    uint64_t count;
    return read(client->wake, &count, sizeof count) == sizeof count;
}

Wait larder_wait(larder_client *client, int64_t deadline) {
    for (;;) {
        if (client->socket < 0) return WAIT_LOST;
        bool has_output = client->output_start < client->output_end;
        struct pollfd ready[] = {
            {.fd = client->wake, .events = POLLIN},
            {.fd = client->socket, .events = (short)(POLLIN | (has_output ? POLLOUT : 0))},
        };
        int count = poll(ready, 2, left_until(deadline));
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) {
            lose(client, LARDER_ERROR_CONNECTION_FAILED, "the connection broke", errno);
            return WAIT_LOST;
        }
        if (count == 0) return WAIT_TIMEOUT;
        if (ready[0].revents && take_cancellation(client)) return WAIT_CANCELLED;
        if (ready[1].revents & ~POLLOUT) larder_receive(client);
        if (ready[1].revents & POLLOUT) send_some(client);
        if (ready[1].revents) return client->socket < 0 ? WAIT_LOST : WAIT_READY;
    }
}

bool larder_flush(larder_client *client, int64_t deadline, larder_error *error) {
    uint64_t generation = client->generation;
    send_some(client);
    while (client->socket >= 0 && client->generation == generation &&
           client->output_start < client->output_end) {
        Wait wait = larder_wait(client, deadline);
        if (wait == WAIT_CANCELLED) {
            return larder_fail(error, LARDER_ERROR_CANCELLED, "the call was cancelled");
        }
        if (wait == WAIT_TIMEOUT) {
            lose(client, LARDER_ERROR_CONNECTION_FAILED, "the server does not read", ETIMEDOUT);
        }
    }
    if (client->socket >= 0) return true;
    larder_copy_error(error, &client->error);
    return false;
}

void larder_post(larder_client *client, Envelope *request) {
    larder_error error;
    request->id = ++client->last_id;
    if (larder_enqueue(client, request, &error)) {
        send_some(client);
    } else {
        larder_disconnect(client, &error);
    }
}

bool larder_pause(larder_client *client, int milliseconds, larder_error *error) {
    int64_t deadline = larder_after(milliseconds);
    struct pollfd ready = {.fd = client->wake, .events = POLLIN};
    for (;;) {
        int count = poll(&ready, 1, left_until(deadline));
        if (count == 0) return true;
        if (count > 0 && take_cancellation(client)) {
            return larder_fail(error, LARDER_ERROR_CANCELLED, "the call was cancelled");
        }
        if (count < 0 && errno != EINTR) return true;
    }
}
