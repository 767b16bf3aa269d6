// SQLite in process: the best that a program can do if no other uses the file.
#include "database.h"
#include <sys/wait.h>
#include <unistd.h>

static const char *path;
static sqlite3 *database;

static sample read_latency(int64_t reads, int64_t count) {
    sqlite3_stmt *read = prepare(database, READ_STUDENT);
    double *times = malloc(reads * sizeof *times);
    int64_t checksum = 0;
    for (int64_t i = 0; i < reads; i++) {
        double start = microseconds();
        sqlite3_bind_int64(read, 1, key_of_read(i, count));
        if (sqlite3_step(read) == SQLITE_ROW) checksum += row_checksum(read);
        sqlite3_reset(read);
        times[i] = microseconds() - start;
    }
    sample got = {median(times, reads), checksum};
    free(times);
    sqlite3_finalize(read);
    return got;
}

static sample scan(const char *sql, int is_grouped) {
    sqlite3_stmt *query = prepare(database, sql);
    int64_t checksum = 0;
    double start = microseconds();
    while (sqlite3_step(query) == SQLITE_ROW)
        checksum += is_grouped ? sqlite3_column_int64(query, 0) * sqlite3_column_int64(query, 1)
                               : row_checksum(query);
    sample got = {microseconds() - start, checksum};
    sqlite3_finalize(query);
    return got;
}

static sample insert_latency(int64_t count) {
    sqlite3_stmt *insert = prepare(database, INSERT_STUDENT);
    double *times = malloc(count * sizeof *times);
    for (int64_t i = 0; i < count; i++) {
        double start = microseconds();
        insert_student(insert, i + 1);
        times[i] = microseconds() - start;
    }
    sample got = {median(times, count), count};
    free(times);
    sqlite3_finalize(insert);
    return got;
}

// This number of processes, each with the file open, insert at the same time.
static sample insert_rate(int64_t processes, int64_t each) {
    int gate[2];
    if (pipe(gate)) fail("pipe", NULL);
    for (int64_t i = 0; i < processes; i++) {
        if (fork()) continue;
        close(gate[1]);
        sqlite3 *own = open_database(path);
        sqlite3_stmt *insert = prepare(own, INSERT_STUDENT);
        char byte;
        if (read(gate[0], &byte, 1) < 0) _exit(1);
        for (int64_t number = 1; number <= each; number++) {
            run_sql(own, "BEGIN IMMEDIATE");
            insert_student(insert, number);
            run_sql(own, "COMMIT");
        }
        _exit(0);
    }
    // The time starts when all processes may start.
    close(gate[0]);
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

static sample bulk(int64_t count) {
    run_sql(database, "DELETE FROM student");
    double start = microseconds();
    sqlite3_stmt *insert = prepare(database, INSERT_STUDENT);
    // As many rows per transaction as Larder's client sends in a change set.
    for (int64_t number = 1; number <= count; number++) {
        if (number % 5000 == 1) run_sql(database, "BEGIN");
        insert_student(insert, number);
        if (number % 5000 == 0 || number == count) run_sql(database, "COMMIT");
    }
    sqlite3_finalize(insert);
    double rate = count / (microseconds() - start) * 1e6;
    sample stored = scan("SELECT 1, count(*) FROM student", 1);
    return (sample){rate, stored.checksum};
}

sample answer(const char *command, const int64_t n[5]) {
    if (!strcmp(command, "load")) {
        insert_students(database, n[0]);
        return (sample){0, n[0]};
    }
    if (!strcmp(command, "latency")) return read_latency(n[0], n[1]);
    if (!strcmp(command, "scan")) return scan("SELECT name, birthOfYear, score FROM student", 0);
    if (!strcmp(command, "group"))
        return scan("SELECT birthOfYear, count(*) FROM student GROUP BY birthOfYear", 1);
    if (!strcmp(command, "insert")) return insert_latency(n[0]);
    if (!strcmp(command, "inserts")) return insert_rate(n[0], n[1]);
    if (!strcmp(command, "bulk")) return bulk(n[0]);
    fail("unknown command", command);
    return (sample){0, 0};
}

int main(int argc, char **argv) {
    if (argc != 2) fail("usage", "sqlite FILE");
    path = argv[1];
    database = open_database(path);
    answer_commands();
}
