// PostgreSQL with libpq: one statement inserts a student and notifies with its id, so that a commit
// takes one round trip. `feed-postgres CONNECTION FILE`, where CONNECTION is libpq's string.
#include "feed.h"
#include <endian.h>
#include <libpq-fe.h>
#include <poll.h>

static const char *connection_text;

static void expect(PGconn *c, PGresult *result, ExecStatusType status) {
    if (PQresultStatus(result) != status) fail("postgres", PQerrorMessage(c));
    PQclear(result);
}

static void run(PGconn *c, const char *sql) { expect(c, PQexec(c, sql), PGRES_COMMAND_OK); }

static PGconn *open_connection(void) {
    PGconn *c = PQconnectdb(connection_text);
    if (PQstatus(c) != CONNECTION_OK) fail(connection_text, PQerrorMessage(c));
    run(c, "SET client_min_messages = warning");
    return c;
}

void reset_store(void) {
    PGconn *c = open_connection();
    run(c, "DROP TABLE IF EXISTS student");
    run(c, "CREATE TABLE student (id bigserial PRIMARY KEY, name text NOT NULL, "
           "birthOfYear bigint NOT NULL, score float8 NOT NULL)");
    PQfinish(c);
}

void *open_writer(void) {
    PGconn *c = open_connection();
    expect(c, PQprepare(c, "insert",
        "WITH made AS (INSERT INTO student (name, birthOfYear, score) "
        "VALUES ($1, $2::bigint, $3::float8) RETURNING id) "
        "SELECT pg_notify('feed', id::text) FROM made", 0, NULL), PGRES_COMMAND_OK);
    return c;
}

void commit_student(void *writer, int64_t number) {
    student made = make_student(number);
    int64_t year = htobe64(made.birth_of_year), score;
    memcpy(&score, &made.score, 8);
    score = htobe64(score);
    const char *values[] = {made.name, (const char *)&year, (const char *)&score};
    int lengths[] = {strlen(made.name), 8, 8}, formats[] = {1, 1, 1};
    expect(writer, PQexecPrepared(writer, "insert", 3, values, lengths, formats, 1),
        PGRES_TUPLES_OK);
}

void close_writer(void *writer) { PQfinish(writer); }

void *open_subscriber(void) {
    PGconn *c = open_connection();
    run(c, "LISTEN feed");
    return c;
}

int64_t next_event(void *subscriber) {
    PGnotify *event;
    while (!(event = PQnotifies(subscriber))) {
        struct pollfd socket = {.fd = PQsocket(subscriber), .events = POLLIN};
        if (poll(&socket, 1, -1) < 0 || !PQconsumeInput(subscriber))
            fail("postgres", PQerrorMessage(subscriber));
    }
    int64_t number = atoll(event->extra);
    PQfreemem(event);
    return number;
}

int main(int argc, char **argv) {
    if (argc != 3) fail("usage", "feed-postgres CONNECTION FILE");
    connection_text = argv[1];
    measure_feed(argv[2]);
}
