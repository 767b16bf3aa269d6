// The floor: a server with one epoll loop that answers reads from SQLite inline and does nothing
// else.
//
// A request is a big-endian length, 8, and the key. A reply is a length and year, score, name.
#include "database.h"
#include <arpa/inet.h>
#include <endian.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { BUFFER_BYTES = 65536 };
typedef struct { int descriptor, filled; char bytes[BUFFER_BYTES]; } connection;

static sqlite3_stmt *read_student;

static int reply(char *out, const char *request) {
    int64_t key, year;
    memcpy(&key, request + 4, 8);
    sqlite3_bind_int64(read_student, 1, be64toh(key));
    if (sqlite3_step(read_student) != SQLITE_ROW) fail("read", "no such student");
    const char *name = (const char *)sqlite3_column_text(read_student, 0);
    int name_length = sqlite3_column_bytes(read_student, 0);
    uint32_t length = htonl(16 + name_length);
    double score = sqlite3_column_double(read_student, 2);
    year = sqlite3_column_int64(read_student, 1);
    memcpy(out, &length, 4);
    memcpy(out + 4, &year, 8);
    memcpy(out + 12, &score, 8);
    memcpy(out + 20, name, name_length);
    sqlite3_reset(read_student);
    return 20 + name_length;
}

// Answers all complete requests that were received; returns 0 at the end of the connection.
static int serve(connection *c) {
    static char out[8 * BUFFER_BYTES];
    ssize_t got = recv(c->descriptor, c->bytes + c->filled, BUFFER_BYTES - c->filled, 0);
    if (got <= 0) return 0;
    c->filled += got;
    int used = 0, written = 0;
    for (; c->filled - used >= 12; used += 12) written += reply(out + written, c->bytes + used);
    memmove(c->bytes, c->bytes + used, c->filled - used);
    c->filled -= used;
    for (int sent = 0; sent < written;) {
        ssize_t part = send(c->descriptor, out + sent, written - sent, MSG_NOSIGNAL);
        if (part < 0) return 0;
        sent += part;
    }
    return 1;
}

static void watch(int epoll, int descriptor, void *data) {
    struct epoll_event event = {EPOLLIN, {.ptr = data}};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event)) fail("epoll_ctl", NULL);
}

int main(int argc, char **argv) {
    if (argc != 3) fail("usage", "floor FILE SOCKET");
    char line[64];
    if (!fgets(line, sizeof line, stdin)) return 0;
    long long count = 0;
    if (sscanf(line, "load %lld", &count) != 1) fail("unknown command", line);
    sqlite3 *database = open_database(argv[1]);
    insert_students(database, count);
    run_sql(database, "PRAGMA locking_mode = EXCLUSIVE");
    read_student = prepare(database, READ_STUDENT);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", argv[2]);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 128))
        fail(argv[2], "cannot listen");
    printf("0 %lld\n", count);
    fflush(stdout);
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    watch(epoll, listener, &listener);
    watch(epoll, STDIN_FILENO, NULL);
    struct epoll_event events[64];
    for (;;) {
        int ready = epoll_wait(epoll, events, 64, -1);
        for (int i = 0; i < ready; i++) {
            // The end of the commands ends the program.
            if (!events[i].data.ptr) return 0;
            if (events[i].data.ptr == &listener) {
                connection *c = calloc(1, sizeof *c);
                c->descriptor = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
                watch(epoll, c->descriptor, c);
            } else if (!serve(events[i].data.ptr)) {
                connection *c = events[i].data.ptr;
                close(c->descriptor);
                free(c);
            }
        }
    }
}
