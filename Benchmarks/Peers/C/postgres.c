// PostgreSQL with libpq over its Unix socket: prepared statements, binary values, and pipelines
// for what Larder sends without waiting. `postgres CONNECTION`, where CONNECTION is libpq's string.
#include "articles.h"
#include <endian.h>
#include <libpq-fe.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *connection_text;
static PGconn *database;

static const char *const statements[][2] = {
    {"read", "SELECT name, birthOfYear, score FROM student WHERE id = $1::bigint"},
    {"insert", "INSERT INTO student (name, birthOfYear, score) VALUES ($1, $2::bigint, $3::float8)"
               " RETURNING id"},
    {"update", "UPDATE student SET birthOfYear = 2000 WHERE id = $1::bigint"},
    {"delete", "DELETE FROM student WHERE id = $1::bigint"},
};

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

static void prepare(PGconn *c) {
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
        expect(c, PQprepare(c, statements[i][0], statements[i][1], 0, NULL), PGRES_COMMAND_OK);
}

static void send_keyed(PGconn *c, const char *statement, int64_t key) {
    int64_t swapped = htobe64(key);
    const char *values[] = {(const char *)&swapped};
    int lengths[] = {8}, formats[] = {1};
    if (!PQsendQueryPrepared(c, statement, 1, values, lengths, formats, 1))
        fail("postgres", PQerrorMessage(c));
}

static void send_insert(PGconn *c, int64_t number) {
    student made = make_student(number);
    int64_t year = htobe64(made.birth_of_year), score;
    memcpy(&score, &made.score, 8);
    score = htobe64(score);
    const char *values[] = {made.name, (const char *)&year, (const char *)&score};
    int lengths[] = {strlen(made.name), 8, 8}, formats[] = {1, 1, 1};
    if (!PQsendQueryPrepared(c, "insert", 3, values, lengths, formats, 1))
        fail("postgres", PQerrorMessage(c));
}

// Takes the only result of a statement and the NULL that ends it.
static PGresult *next_result(PGconn *c) {
    PGresult *result = PQgetResult(c), *end = PQgetResult(c);
    if (end) fail("postgres", "more results than one");
    return result;
}

static int64_t integer(const PGresult *result, int row, int column) {
    int64_t value;
    memcpy(&value, PQgetvalue(result, row, column), 8);
    return be64toh(value);
}

static int64_t row_checksum(const PGresult *result, int row) {
    int64_t bits = integer(result, row, 2);
    double score;
    memcpy(&score, &bits, 8);
    return student_checksum(PQgetlength(result, row, 0), integer(result, row, 1), score);
}

static sample load(int64_t count) {
    char sql[400];
    run(database, "DROP TABLE IF EXISTS student");
    run(database, "CREATE TABLE student (id bigserial PRIMARY KEY, name text NOT NULL, "
                  "birthOfYear bigint NOT NULL, score float8 NOT NULL)");
    snprintf(sql, sizeof sql,
        "INSERT INTO student (name, birthOfYear, score) "
        "SELECT 'Student ' || lpad(i::text, 7, '0'), 1950 + i * 7919 %% 60, (i %% 1000) / 2.0 "
        "FROM generate_series(1::bigint, %lld) AS i ORDER BY i", (long long)count);
    run(database, sql);
    run(database, "VACUUM ANALYZE student");
    run(database, "CHECKPOINT");
    // Statements that were prepared for the old table would be planned again.
    run(database, "DEALLOCATE ALL");
    prepare(database);
    return (sample){0, count};
}

static sample latency(int64_t reads, int64_t count) {
    double *times = malloc(reads * sizeof *times);
    int64_t checksum = 0;
    for (int64_t read = 0; read < reads; read++) {
        double start = microseconds();
        send_keyed(database, "read", key_of_read(read, count));
        PGresult *result = next_result(database);
        times[read] = microseconds() - start;
        if (PQntuples(result) != 1) fail("postgres", PQerrorMessage(database));
        checksum += row_checksum(result, 0);
        PQclear(result);
    }
    sample got = {median(times, reads), checksum};
    free(times);
    return got;
}

// One read in flight on each connection.
static sample rate(int64_t connections, int64_t reads, int64_t count) {
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    PGconn **all = malloc(connections * sizeof *all);
    for (int64_t i = 0; i < connections; i++) {
        prepare(all[i] = open_connection());
        struct epoll_event event = {EPOLLIN, {.ptr = all[i]}};
        epoll_ctl(epoll, EPOLL_CTL_ADD, PQsocket(all[i]), &event);
    }
    int64_t sent = 0, answered = 0;
    double start = microseconds();
    for (int64_t i = 0; i < connections; i++)
        send_keyed(all[i], "read", key_of_read(sent++, count));
    while (answered < sent) {
        struct epoll_event events[64];
        int ready = epoll_wait(epoll, events, 64, -1);
        for (int i = 0; i < ready; i++) {
            PGconn *c = events[i].data.ptr;
            if (!PQconsumeInput(c)) fail("postgres", PQerrorMessage(c));
            if (PQisBusy(c)) continue;
            expect(c, next_result(c), PGRES_TUPLES_OK);
            answered++;
            if (sent < reads) send_keyed(c, "read", key_of_read(sent++, count));
        }
    }
    double time = microseconds() - start;
    for (int64_t i = 0; i < connections; i++) PQfinish(all[i]);
    free(all);
    close(epoll);
    return (sample){answered / time * 1e6, 0};
}

static void begin_pipeline(PGconn *c) {
    if (!PQenterPipelineMode(c)) fail("postgres", "no pipeline");
}

// Sends the pipeline and takes this number of results; returns the number of rows in them.
static int64_t end_pipeline(PGconn *c, int64_t count) {
    int64_t done = 0;
    if (!PQpipelineSync(c)) fail("postgres", PQerrorMessage(c));
    for (int64_t i = 0; i < count; i++) {
        PGresult *result = next_result(c);
        ExecStatusType status = PQresultStatus(result);
        if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
            fail("postgres", PQerrorMessage(c));
        done += atoll(PQcmdTuples(result));
        PQclear(result);
    }
    expect(c, PQgetResult(c), PGRES_PIPELINE_SYNC);
    return done;
}

static sample pipelined_rate(int64_t depth, int64_t reads, int64_t count) {
    double start = microseconds();
    int64_t found = 0;
    begin_pipeline(database);
    for (int64_t sent = 0; sent < reads;) {
        int64_t batch = reads - sent < depth ? reads - sent : depth;
        for (int64_t i = 0; i < batch; i++)
            send_keyed(database, "read", key_of_read(sent++, count));
        found += end_pipeline(database, batch);
    }
    double time = microseconds() - start;
    if (!PQexitPipelineMode(database) || found != reads) fail("postgres", "reads are missing");
    return (sample){reads / time * 1e6, 0};
}

// All rows at once, copied into structs as an application would.
static sample scan(void) {
    double start = microseconds();
    PGresult *result = PQexecParams(
        database, "SELECT name, birthOfYear, score FROM student", 0, NULL, NULL, NULL, NULL, 1);
    int rows = PQntuples(result);
    struct { char *name; int64_t year; double score; } *students = malloc(rows * sizeof *students);
    for (int row = 0; row < rows; row++) {
        int64_t bits = integer(result, row, 2);
        students[row].name = strdup(PQgetvalue(result, row, 0));
        students[row].year = integer(result, row, 1);
        memcpy(&students[row].score, &bits, 8);
    }
    double time = microseconds() - start;
    int64_t checksum = 0;
    for (int row = 0; row < rows; row++) {
        checksum += row_checksum(result, row);
        free(students[row].name);
    }
    free(students);
    PQclear(result);
    return (sample){time, checksum};
}

static sample group(void) {
    double start = microseconds();
    PGresult *result = PQexecParams(
        database, "SELECT birthOfYear, count(*) FROM student GROUP BY birthOfYear", 0, NULL, NULL,
        NULL, NULL, 1);
    int64_t checksum = 0;
    for (int row = 0; row < PQntuples(result); row++)
        checksum += integer(result, row, 0) * integer(result, row, 1);
    double time = microseconds() - start;
    PQclear(result);
    return (sample){time, checksum};
}

static void insert(PGconn *c, int64_t number) {
    send_insert(c, number);
    expect(c, next_result(c), PGRES_TUPLES_OK);
}

static sample insert_latency(int64_t count) {
    double *times = malloc(count * sizeof *times);
    for (int64_t i = 0; i < count; i++) {
        double start = microseconds();
        insert(database, i + 1);
        times[i] = microseconds() - start;
    }
    sample got = {median(times, count), count};
    free(times);
    return got;
}

static sample insert_rate(int64_t processes, int64_t each) {
    int gate[2], ready[2];
    if (pipe(gate) || pipe(ready)) fail("pipe", NULL);
    for (int64_t i = 0; i < processes; i++) {
        if (fork()) continue;
        close(gate[1]);
        PGconn *own = open_connection();
        prepare(own);
        char byte = 0;
        if (write(ready[1], &byte, 1) != 1 || read(gate[0], &byte, 1) < 0) _exit(1);
        for (int64_t number = 1; number <= each; number++) insert(own, number);
        _exit(0);
    }
    char byte;
    for (int64_t i = 0; i < processes; i++)
        if (read(ready[0], &byte, 1) != 1) fail("insert_rate", "a process failed");
    close(gate[0]);
    close(ready[0]);
    close(ready[1]);
    double start = microseconds();
    close(gate[1]);
    int status, failed = 0;
    for (int64_t i = 0; i < processes; i++) {
        wait(&status);
        failed |= status;
    }
    if (failed) fail("insert_rate", "a process failed");
    int64_t count = processes * each;
    return (sample){count / (microseconds() - start) * 1e6, count};
}

// COPY in its binary format.
static sample bulk(int64_t count) {
    run(database, "TRUNCATE student");
    run(database, "CHECKPOINT");
    double start = microseconds();
    expect(database,
        PQexec(database, "COPY student (name, birthOfYear, score) FROM STDIN (FORMAT binary)"),
        PGRES_COPY_IN);
    PQputCopyData(database, "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0", 19);
    for (int64_t number = 1; number <= count; number++) {
        student made = make_student(number);
        char row[80] = {0, 3};
        int32_t name_length = strlen(made.name), size = htobe32(name_length);
        int64_t year = htobe64(made.birth_of_year), score;
        memcpy(&score, &made.score, 8);
        score = htobe64(score);
        char *end = row + 2;
        memcpy(end, &size, 4);
        memcpy(end + 4, made.name, name_length);
        end += 4 + name_length;
        size = htobe32(8);
        memcpy(end, &size, 4);
        memcpy(end + 4, &year, 8);
        memcpy(end + 12, &size, 4);
        memcpy(end + 16, &score, 8);
        if (PQputCopyData(database, row, end + 24 - row) != 1)
            fail("copy", PQerrorMessage(database));
    }
    PQputCopyData(database, "\377\377", 2);
    if (PQputCopyEnd(database, NULL) != 1) fail("copy", PQerrorMessage(database));
    expect(database, next_result(database), PGRES_COMMAND_OK);
    double rate = count / (microseconds() - start) * 1e6;
    PGresult *stored = PQexec(database, "SELECT count(*) FROM student");
    sample got = {rate, atoll(PQgetvalue(stored, 0, 0))};
    PQclear(stored);
    return got;
}

// An insert, an update and a delete alternately, as one transaction in one pipeline.
static sample changes(int64_t count) {
    int64_t first = 0;
    run(database, "BEGIN");
    for (int64_t number = 1; number <= count; number++) {
        send_insert(database, number);
        PGresult *result = next_result(database);
        if (number == 1) first = integer(result, 0, 0);
        expect(database, result, PGRES_TUPLES_OK);
    }
    run(database, "COMMIT");
    double start = microseconds();
    begin_pipeline(database);
    PQsendQueryParams(database, "BEGIN", 0, NULL, NULL, NULL, NULL, 0);
    for (int64_t i = 0; i < count; i++) {
        if (i % 3 == 0) send_insert(database, i + 1);
        else send_keyed(database, i % 3 == 1 ? "update" : "delete", first + i);
    }
    PQsendQueryParams(database, "COMMIT", 0, NULL, NULL, NULL, NULL, 0);
    int64_t done = end_pipeline(database, count + 2);
    double time = microseconds() - start;
    if (!PQexitPipelineMode(database)) fail("postgres", PQerrorMessage(database));
    return (sample){time, done};
}

// All properties, as on the other sides: a query that reads only prices reads rows with texts too.
static sample load_notes(int64_t count) {
    char text[2][200], row[500];
    // Workers would take part in a query, and their time is not that of the session.
    run(database, "SET max_parallel_workers_per_gather = 0");
    run(database, "DROP TABLE IF EXISTS note");
    run(database, "CREATE TABLE note (id bigserial PRIMARY KEY, title text, body text, "
                  "price numeric, quantity bigint, created float8)");
    expect(database, PQexec(database, "COPY note (title, body, price, quantity, created) "
                                      "FROM STDIN"), PGRES_COPY_IN);
    for (int64_t number = 1; number <= count; number++) {
        make_text(text[0], plain_words, number);
        make_text(text[1], mixed_words, number);
        int64_t cents = make_cents(number);
        int length = snprintf(row, sizeof row, "%s\t%s\t%lld.%02lld\t%lld\t%lld\n", text[0],
            text[1], (long long)(cents / 100), (long long)(cents % 100),
            (long long)make_quantity(number), (long long)make_created(number));
        if (PQputCopyData(database, row, length) != 1) fail("copy", PQerrorMessage(database));
    }
    if (PQputCopyEnd(database, NULL) != 1) fail("copy", PQerrorMessage(database));
    expect(database, next_result(database), PGRES_COMMAND_OK);
    run(database, "VACUUM ANALYZE note");
    return (sample){0, count};
}

static const char *const article_indexes[][2] = {
    {"", NULL},
    // The weights say of which text a word is, so that a phrase is not found across both.
    {", words tsvector GENERATED ALWAYS AS (setweight(to_tsvector('simple', title), 'A') || "
     "setweight(to_tsvector('simple', body), 'B')) STORED",
        "CREATE INDEX ON article USING gin (words)"},
    {"", "CREATE INDEX ON article USING gin (body gin_trgm_ops)"},
};

// The rows per second.
static sample load_articles(int64_t count, int64_t index) {
    char row[400], sql[300];
    run(database, "SET max_parallel_workers_per_gather = 0");
    run(database, "CREATE EXTENSION IF NOT EXISTS pg_trgm");
    run(database, "DROP TABLE IF EXISTS article");
    snprintf(sql, sizeof sql,
        "CREATE TABLE article (id bigserial PRIMARY KEY, title text, body text%s)",
        article_indexes[index][0]);
    run(database, sql);
    if (article_indexes[index][1]) run(database, article_indexes[index][1]);
    double start = microseconds();
    expect(database, PQexec(database, "COPY article (title, body) FROM STDIN"), PGRES_COPY_IN);
    for (int64_t number = 1; number <= count; number++) {
        make_title(row, number);
        strcat(row, "\t");
        make_body(row + strlen(row), number);
        strcat(row, "\n");
        if (PQputCopyData(database, row, strlen(row)) != 1) fail("copy", PQerrorMessage(database));
    }
    if (PQputCopyEnd(database, NULL) != 1) fail("copy", PQerrorMessage(database));
    expect(database, next_result(database), PGRES_COMMAND_OK);
    double rate = count / (microseconds() - start) * 1e6;
    run(database, "VACUUM ANALYZE article");
    return (sample){rate, count};
}

#define FOUND "SELECT count(*) FROM article WHERE words @@ "
#define BEST(search) "SELECT count(*), max(length(title)) FROM (SELECT title FROM article, " \
    search " AS query WHERE words @@ query ORDER BY ts_rank(words, query) DESC LIMIT 20) AS best"

static const note_query article_queries[] = {
    {"word", FOUND "to_tsquery('simple', 'tedeba')"},
    {"words", FOUND "to_tsquery('simple', 'hadaba & hababa')"},
    {"phrase", FOUND "to_tsquery('simple', '(hadaba:A <-> hababa:A) | (hadaba:B <-> hababa:B)')"},
    {"prefix", FOUND "to_tsquery('simple', 'tede:*')"},
    {"best-of-most", BEST("to_tsquery('simple', 'hababa')")},
    {"best-of-many", BEST("to_tsquery('simple', 'hadaba')")},
    {"best-of-some", BEST("to_tsquery('simple', 'tedeba')")},
    {"best-of-both", BEST("to_tsquery('simple', 'hadaba & hababa')")},
    {"part", "SELECT count(*) FROM article WHERE body ILIKE '%tedeba%'"},
    {"bytes", "SELECT pg_total_relation_size('article')"},
};

#define COUNT "SELECT count(*) FROM note WHERE "

static const note_query note_queries[] = {
    {"price", COUNT "price > 500.005"},
    {"product", COUNT "price * 3 > 1500.005"},
    {"sum", "SELECT CAST(sum(price) * 100 AS bigint) FROM note"},
    {"average", "SELECT CAST(floor(avg(price)) AS bigint) FROM note"},
    {"amount", "SELECT CAST(sum(price * quantity) * 100 AS bigint) FROM note"},
};

// The time of the processor that the session's process has used, in microseconds.
static double session_microseconds(void) {
    clockid_t clock;
    struct timespec used;
    if (clock_getcpuclockid(PQbackendPID(database), &clock) || clock_gettime(clock, &used))
        fail("postgres", "the session has no clock");
    return used.tv_sec * 1e6 + used.tv_nsec / 1e3;
}

static sample query_notes(const char *sql) {
    double start = session_microseconds();
    PGresult *result = PQexec(database, sql);
    double time = session_microseconds() - start;
    if (PQresultStatus(result) != PGRES_TUPLES_OK) fail(sql, PQerrorMessage(database));
    sample got = {time, atoll(PQgetvalue(result, 0, 0))};
    PQclear(result);
    return got;
}

sample answer(const char *command, const int64_t n[5]) {
    if (!strcmp(command, "load")) return load(n[0]);
    if (!strcmp(command, "latency")) return latency(n[0], n[1]);
    if (!strcmp(command, "rate"))
        return n[1] > 1 ? pipelined_rate(n[1], n[3], n[4]) : rate(n[0], n[3], n[4]);
    if (!strcmp(command, "scan")) return scan();
    if (!strcmp(command, "group")) return group();
    if (!strcmp(command, "insert")) return insert_latency(n[0]);
    if (!strcmp(command, "inserts")) return insert_rate(n[0], n[1]);
    if (!strcmp(command, "bulk")) return bulk(n[0]);
    if (!strcmp(command, "changes")) return changes(n[0]);
    if (!strcmp(command, "notes")) return load_notes(n[0]);
    if (!strcmp(command, "articles")) return load_articles(n[0], n[1]);
    const char *found =
        find_query(article_queries, sizeof article_queries / sizeof *article_queries, command);
    if (found) return query_notes(found);
    const char *sql =
        find_query(note_queries, sizeof note_queries / sizeof *note_queries, command);
    if (sql) return query_notes(sql);
    fail("unknown command", command);
    return (sample){0, 0};
}

int main(int argc, char **argv) {
    if (argc != 2) fail("usage", "postgres CONNECTION");
    connection_text = argv[1];
    database = open_connection();
    answer_commands();
}
