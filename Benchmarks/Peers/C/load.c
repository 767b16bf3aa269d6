// Puts load on a server that speaks in frames: `load floor SOCKET` or `load larder SOCKET
// STORE`, where STORE is the store's UUID. One thread, so that it takes little from the server.
//
//   latency READS COUNT                              a read at a time, its median in microseconds
//   rate CONNECTIONS DEPTH KEYS READS COUNT          reads a second: so many requests under way on
//                                                    each connection, of so many keys each
#include "peer.h"
#include <arpa/inet.h>
#include <endian.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { BUFFER_BYTES = 1 << 18 };
typedef struct { int descriptor, filled; int64_t unanswered; char bytes[BUFFER_BYTES]; } connection;

static const char *socket_path;
static unsigned char store[16];
static int is_larder;

static int put_varint(unsigned char *out, uint64_t value) {
    int length = 0;
    for (; value > 127; value >>= 7) out[length++] = value | 128;
    out[length++] = value;
    return length;
}

static int put_field(unsigned char *out, int number, const void *bytes, int length) {
    int used = put_varint(out, number << 3 | 2);
    used += put_varint(out + used, length);
    memcpy(out + used, bytes, length);
    return used + length;
}

static int put_frame(unsigned char *out, uint64_t id, int body, const void *bytes, int length) {
    out[4] = 1 << 3;
    int used = 5 + put_varint(out + 5, id);
    used += put_field(out + used, body, bytes, length);
    uint32_t size = htonl(used - 4);
    memcpy(out, &size, 4);
    return used;
}

// A `get` of Larder's protocol (Proto/larder.proto) for three properties of some students.
static int put_get(unsigned char *out, int64_t read, int keys, int64_t count) {
    unsigned char body[4096], identifier[64], names[64];
    int used = 0;
    for (int i = 0; i < keys; i++) {
        int length = put_field(identifier, 1, store, 16);
        length += put_field(identifier + length, 2, "Student", 7);
        identifier[length++] = 3 << 3;
        length += put_varint(identifier + length, key_of_read(read + i, count));
        used += put_field(body + used, 1, identifier, length);
    }
    int length = put_field(names, 1, "name", 4);
    length += put_field(names + length, 1, "birthOfYear", 11);
    length += put_field(names + length, 1, "score", 5);
    used += put_field(body + used, 2, names, length);
    return put_frame(out, read + 2, 11, body, used);
}

static int put_request(unsigned char *out, int64_t read, int keys, int64_t count) {
    if (is_larder) return put_get(out, read, keys, count);
    uint32_t size = htonl(8);
    int64_t key = htobe64(key_of_read(read, count));
    memcpy(out, &size, 4);
    memcpy(out + 4, &key, 8);
    return 12;
}

static void send_all(int descriptor, const void *bytes, size_t length) {
    if (send(descriptor, bytes, length, MSG_NOSIGNAL) != (ssize_t)length) fail("send", "cut short");
}

// The length of the first frame with its head if it has come whole, else 0.
static int whole_frame(const connection *c, int start) {
    uint32_t size;
    if (c->filled - start < 4) return 0;
    memcpy(&size, c->bytes + start, 4);
    int length = 4 + ntohl(size);
    return c->filled - start >= length ? length : 0;
}

// A reply is `failed` if its body has the number 37: after the id, the bytes aa 02.
static void check_frame(const char *frame) {
    if (!is_larder) return;
    const unsigned char *body = (const unsigned char *)frame + 5;
    while (*body++ & 128) {}
    if (body[0] == 0xaa && body[1] == 0x02) fail("larderd", "a read failed");
}

static void receive(connection *c) {
    ssize_t got = recv(c->descriptor, c->bytes + c->filled, BUFFER_BYTES - c->filled, 0);
    if (got <= 0) fail("recv", "the server has gone");
    c->filled += got;
}

static connection *open_connection(void) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", socket_path);
    connection *c = calloc(1, sizeof *c);
    c->descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(c->descriptor, (struct sockaddr *)&address, sizeof address))
        fail(socket_path, "cannot connect");
    if (is_larder) {
        unsigned char frame[64], hello[16] = {1 << 3, 1};
        int length = 2 + put_field(hello + 2, 2, "load", 4);
        send_all(c->descriptor, frame, put_frame(frame, 1, 10, hello, length));
        while (!whole_frame(c, 0)) receive(c);
        check_frame(c->bytes);
        c->filled = 0;
    }
    return c;
}

static void close_connection(connection *c) {
    close(c->descriptor);
    free(c);
}

// Of the floor's frames; Larder's own client measures its latency.
static sample latency(int64_t reads, int64_t count) {
    connection *c = open_connection();
    double *times = malloc(reads * sizeof *times);
    int64_t checksum = 0;
    for (int64_t read = 0; read < reads; read++) {
        unsigned char frame[64];
        double start = microseconds(), score;
        send_all(c->descriptor, frame, put_request(frame, read, 1, count));
        int length;
        while (!(length = whole_frame(c, 0))) receive(c);
        int64_t year;
        memcpy(&year, c->bytes + 4, 8);
        memcpy(&score, c->bytes + 12, 8);
        times[read] = microseconds() - start;
        checksum += student_checksum(length - 20, year, score);
        c->filled = 0;
    }
    sample got = {median(times, reads), checksum};
    free(times);
    close_connection(c);
    return got;
}

static sample rate(int64_t connections, int64_t depth, int64_t keys, int64_t reads, int64_t count) {
    static unsigned char frames[32 * 4096];
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    connection **all = malloc(connections * sizeof *all);
    for (int64_t i = 0; i < connections; i++) {
        all[i] = open_connection();
        struct epoll_event event = {EPOLLIN, {.ptr = all[i]}};
        epoll_ctl(epoll, EPOLL_CTL_ADD, all[i]->descriptor, &event);
    }
    int64_t sent = 0, answered = 0;
    double start = microseconds();
    for (int64_t i = 0; i < connections; i++, all[i - 1]->unanswered = depth)
        for (int64_t k = 0; k < depth; k++, sent += keys)
            send_all(all[i]->descriptor, frames, put_request(frames, sent, keys, count));
    while (answered < sent) {
        struct epoll_event events[64];
        int ready = epoll_wait(epoll, events, 64, -1);
        for (int i = 0; i < ready; i++) {
            connection *c = events[i].data.ptr;
            int used = 0, length, size = 0;
            for (receive(c); (length = whole_frame(c, used)); used += length) {
                check_frame(c->bytes + used);
                answered += keys;
                if (sent >= reads) continue;
                size += put_request(frames + size, sent, keys, count);
                sent += keys;
            }
            memmove(c->bytes, c->bytes + used, c->filled - used);
            c->filled -= used;
            if (size) send_all(c->descriptor, frames, size);
        }
    }
    double time = microseconds() - start;
    for (int64_t i = 0; i < connections; i++) close_connection(all[i]);
    free(all);
    close(epoll);
    // How many reads were made differs by what was under way at the end; all were answered.
    return (sample){answered / time * 1e6, 0};
}

sample answer(const char *command, const int64_t n[5]) {
    if (!strcmp(command, "latency") && !is_larder) return latency(n[0], n[1]);
    if (!strcmp(command, "rate")) return rate(n[0], n[1], n[2], n[3], n[4]);
    fail("unknown command", command);
    return (sample){0, 0};
}

int main(int argc, char **argv) {
    if (argc < 3) fail("usage", "load floor|larder SOCKET [STORE]");
    is_larder = !strcmp(argv[1], "larder");
    socket_path = argv[2];
    if (is_larder) {
        const char *text = argc > 3 ? argv[3] : "";
        for (int i = 0; i < 16; i++, text += 2) {
            text += *text == '-';
            unsigned byte;
            if (sscanf(text, "%2x", &byte) != 1) fail("usage", "STORE is no UUID");
            store[i] = byte;
        }
    }
    answer_commands();
}
