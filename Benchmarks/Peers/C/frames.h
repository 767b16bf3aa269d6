// Larder's frames, written and read by hand: a length of 4 bytes, big-endian, and an `Envelope`
// of Proto/larder.proto. A client of protobuf-c would cost more than the server that it measures.
#pragma once
#include "peer.h"
#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static inline int put_varint(unsigned char *out, uint64_t value) {
    int length = 0;
    for (; value > 127; value >>= 7) out[length++] = value | 128;
    out[length++] = value;
    return length;
}

static inline int put_number(unsigned char *out, int number, uint64_t value) {
    int used = put_varint(out, (uint64_t)number << 3);
    return used + put_varint(out + used, value);
}

static inline int put_field(unsigned char *out, int number, const void *bytes, size_t length) {
    int used = put_varint(out, (uint64_t)number << 3 | 2);
    used += put_varint(out + used, length);
    memcpy(out + used, bytes, length);
    return used + length;
}

// Writes a frame with the request id and a body, whose field number selects the request.
static inline int put_frame(
    unsigned char *out, uint64_t id, int body, const void *bytes, size_t length
) {
    int used = 4 + put_number(out + 4, 1, id);
    used += put_field(out + used, body, bytes, length);
    uint32_t size = htonl(used - 4);
    memcpy(out, &size, 4);
    return used;
}

// The length of the first frame with its header; 0 if the frame is incomplete.
static inline size_t whole_frame(const unsigned char *bytes, size_t filled) {
    uint32_t size;
    if (filled < 4) return 0;
    memcpy(&size, bytes, 4);
    size_t length = 4 + (size_t)ntohl(size);
    return filled >= length ? length : 0;
}

// One field of a message. Fixed-width numbers are not decoded: `bytes` points at them.
typedef struct { int number, type; uint64_t value; const unsigned char *bytes; } field;

static inline uint64_t take_varint(const unsigned char **bytes, const unsigned char *end) {
    uint64_t value = 0;
    for (int shift = 0; *bytes < end && shift < 64; shift += 7) {
        unsigned char byte = *(*bytes)++;
        value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) return value;
    }
    fail("frame", "a number is incomplete");
    return 0;
}

// Reads the next field; returns 0 at the end of the message. The value of a field with a length is
// that length.
static inline int take_field(const unsigned char **bytes, const unsigned char *end, field *out) {
    if (*bytes == end) return 0;
    uint64_t tag = take_varint(bytes, end);
    out->number = tag >> 3;
    out->type = tag & 7;
    size_t length = 0;
    if (out->type == 1) length = 8;
    else if (out->type == 5) length = 4;
    else out->value = take_varint(bytes, end);
    if (out->type == 2) length = out->value;
    if (length > (size_t)(end - *bytes)) fail("frame", "a field is incomplete");
    out->bytes = *bytes;
    *bytes += length;
    return 1;
}

// Opens the envelope of a whole frame: returns its body. A reply `failed` (37) ends the program.
static inline field frame_body(const unsigned char *frame, size_t length) {
    const unsigned char *bytes = frame + 4, *end = frame + length;
    field body = {0, 0, 0, NULL};
    while (take_field(&bytes, end, &body) && body.number < 10) {}
    if (body.number == 37) {
        const unsigned char *error = body.bytes;
        for (field part; take_field(&error, body.bytes + body.value, &part);)
            if (part.number == 2)
                fprintf(stderr, "larderd: %.*s\n", (int)part.value, (const char *)part.bytes);
        fail("larderd", "a request failed");
    }
    return body;
}

static inline int connect_unix(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(descriptor, (struct sockaddr *)&address, sizeof address))
        fail(path, "cannot connect");
    return descriptor;
}

static inline void send_all(int descriptor, const void *bytes, size_t length) {
    const char *next = bytes;
    while (length) {
        ssize_t sent = send(descriptor, next, length, MSG_NOSIGNAL);
        if (sent <= 0) fail("send", "the server has closed the connection");
        next += sent;
        length -= sent;
    }
}
