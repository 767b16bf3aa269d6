// A table of students in SQLite, for the peers that use it in process.
#pragma once
#include "peer.h"
#include <sqlite3.h>

static inline void run_sql(sqlite3 *database, const char *sql) {
    int status;
    while ((status = sqlite3_exec(database, sql, NULL, NULL, NULL)) == SQLITE_BUSY) {}
    if (status != SQLITE_OK) fail(sql, sqlite3_errmsg(database));
}

// Opens the file as Larder's writer does: in WAL mode, with each commit synced.
static inline sqlite3 *open_database(const char *path) {
    sqlite3 *database;
    if (sqlite3_open(path, &database) != SQLITE_OK) fail(path, sqlite3_errmsg(database));
    sqlite3_busy_timeout(database, 60000);
    run_sql(database, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
        "CREATE TABLE IF NOT EXISTS student ("
        "id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT, birthOfYear INTEGER, score REAL)");
    return database;
}

static inline sqlite3_stmt *prepare(sqlite3 *database, const char *sql) {
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL))
        fail(sql, sqlite3_errmsg(database));
    return statement;
}

#define INSERT_STUDENT "INSERT INTO student (name, birthOfYear, score) VALUES (?, ?, ?)"
#define READ_STUDENT "SELECT name, birthOfYear, score FROM student WHERE id = ?"

static inline void insert_student(sqlite3_stmt *insert, int64_t number) {
    student made = make_student(number);
    sqlite3_bind_text(insert, 1, made.name, -1, SQLITE_STATIC);
    sqlite3_bind_int64(insert, 2, made.birth_of_year);
    sqlite3_bind_double(insert, 3, made.score);
    if (sqlite3_step(insert) != SQLITE_DONE)
        fail("insert", sqlite3_errmsg(sqlite3_db_handle(insert)));
    sqlite3_reset(insert);
}

static inline void insert_students(sqlite3 *database, int64_t count) {
    sqlite3_stmt *insert = prepare(database, INSERT_STUDENT);
    run_sql(database, "BEGIN");
    for (int64_t number = 1; number <= count; number++) insert_student(insert, number);
    run_sql(database, "COMMIT");
    sqlite3_finalize(insert);
}

static inline int64_t row_checksum(sqlite3_stmt *row) {
    sqlite3_column_text(row, 0);
    return student_checksum(
        sqlite3_column_bytes(row, 0), sqlite3_column_int64(row, 1), sqlite3_column_double(row, 2));
}
