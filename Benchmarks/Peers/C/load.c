// Generates load for a server whose protocol has frames: `load floor SOCKET` or `load larder SOCKET
// STORE`, where STORE is the store's UUID. On a machine with few processors it has one thread, so
// that it takes little from the server (threads.h).
//
//   latency READS COUNT                      one read at a time: the median in microseconds
//   rate CONNECTIONS DEPTH KEYS READS COUNT  reads per second, with DEPTH requests in flight on
//                                            each connection, of KEYS keys each
#include "frames.h"
#include "threads.h"
#include <endian.h>
#include <sys/epoll.h>

enum { BUFFER_BYTES = 1 << 18 };
typedef struct { int descriptor; size_t filled; unsigned char bytes[BUFFER_BYTES]; } connection;

static const char *socket_path;
static unsigned char store[16];
static int is_larder;

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

static size_t next_frame(const connection *c, size_t start) {
    return whole_frame(c->bytes + start, c->filled - start);
}

static void check_frame(const unsigned char *frame, size_t length) {
    if (is_larder) frame_body(frame, length);
}

static void receive(connection *c) {
    ssize_t got = recv(c->descriptor, c->bytes + c->filled, BUFFER_BYTES - c->filled, 0);
    if (got <= 0) fail("recv", "the server has closed the connection");
    c->filled += got;
}

static connection *open_connection(void) {
    connection *c = calloc(1, sizeof *c);
    c->descriptor = connect_unix(socket_path);
    if (is_larder) {
        unsigned char frame[64], hello[16] = {1 << 3, 1};
        int length = 2 + put_field(hello + 2, 2, "load", 4);
        send_all(c->descriptor, frame, put_frame(frame, 1, 10, hello, length));
        while (!next_frame(c, 0)) receive(c);
        check_frame(c->bytes, c->filled);
        c->filled = 0;
    }
    return c;
}

static void close_connection(connection *c) {
    close(c->descriptor);
    free(c);
}

// For the floor server only; the latency of Larder is measured through its client.
static sample latency(int64_t reads, int64_t count) {
    connection *c = open_connection();
    double *times = malloc(reads * sizeof *times);
    int64_t checksum = 0;
    for (int64_t read = 0; read < reads; read++) {
        unsigned char frame[64];
        double start = microseconds(), score;
        send_all(c->descriptor, frame, put_request(frame, read, 1, count));
        size_t length;
        while (!(length = next_frame(c, 0))) receive(c);
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

// The reads of one thread, over connections of its own.
typedef struct {
    int64_t connections, depth, keys, first, reads, count, answered;
    double microseconds;
} reading;

static void *read_all(void *share) {
    reading *r = share;
    unsigned char frames[32 * 4096];
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    connection **all = malloc(r->connections * sizeof *all);
    for (int64_t i = 0; i < r->connections; i++) {
        all[i] = open_connection();
        struct epoll_event event = {EPOLLIN, {.ptr = all[i]}};
        epoll_ctl(epoll, EPOLL_CTL_ADD, all[i]->descriptor, &event);
    }
    int64_t sent = 0, keys = r->keys;
    double start = microseconds();
    for (int64_t i = 0; i < r->connections; i++)
        for (int64_t k = 0; k < r->depth; k++, sent += keys)
            send_all(all[i]->descriptor, frames,
                put_request(frames, r->first + sent, keys, r->count));
    while (r->answered < sent) {
        struct epoll_event events[64];
        int ready = epoll_wait(epoll, events, 64, -1);
        for (int i = 0; i < ready; i++) {
            connection *c = events[i].data.ptr;
            size_t used = 0, length, size = 0;
            for (receive(c); (length = next_frame(c, used)); used += length) {
                check_frame(c->bytes + used, length);
                r->answered += keys;
                if (sent >= r->reads) continue;
                size += put_request(frames + size, r->first + sent, keys, r->count);
                sent += keys;
            }
            memmove(c->bytes, c->bytes + used, c->filled - used);
            c->filled -= used;
            if (size) send_all(c->descriptor, frames, size);
        }
    }
    r->microseconds = microseconds() - start;
    for (int64_t i = 0; i < r->connections; i++) close_connection(all[i]);
    free(all);
    close(epoll);
    return NULL;
}

static sample rate(int64_t connections, int64_t depth, int64_t keys, int64_t reads, int64_t count) {
    int threads = thread_count(connections);
    reading shares[threads];
    int64_t first = 0;
    for (int i = 0; i < threads; i++) {
        int64_t part = part_of_amount(reads, i, threads);
        shares[i] = (reading){
            part_of_amount(connections, i, threads), depth, keys, first, part, count, 0, 0};
        first += part;
    }
    run_threads(read_all, shares, sizeof *shares, threads);
    double rate = 0;
    for (int i = 0; i < threads; i++) rate += shares[i].answered / shares[i].microseconds * 1e6;
    // The number of reads depends on what was in flight at the end, so there is no checksum.
    return (sample){rate, 0};
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
            if (sscanf(text, "%2x", &byte) != 1) fail("usage", "STORE is not a UUID");
            store[i] = byte;
        }
    }
    answer_commands();
}
