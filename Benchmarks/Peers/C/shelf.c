// Authors with books in SQLite, in process: what a program in C makes of the work of `models`.
#include "database.h"

typedef struct {
    int64_t id, pages, author;
    double price, published;
    int is_read;
    char *title;
} book;

static sqlite3 *database;

static void insert_book(sqlite3_stmt *insert, int64_t number, int64_t author) {
    char title[40];
    snprintf(title, sizeof title, "Book %lld", (long long)number);
    sqlite3_bind_int64(insert, 1, number + 1);
    sqlite3_bind_text(insert, 2, title, -1, SQLITE_TRANSIENT);
    sqlite3_bind_int64(insert, 3, 100 + number % 400);
    sqlite3_bind_double(insert, 4, number % 1000 / 4.0);
    sqlite3_bind_double(insert, 5, number * 3600.0);
    sqlite3_bind_int(insert, 6, number % 3 == 0);
    if (author) sqlite3_bind_int64(insert, 7, author);
    else sqlite3_bind_null(insert, 7);
    if (sqlite3_step(insert) != SQLITE_DONE) fail("insert", sqlite3_errmsg(database));
    sqlite3_reset(insert);
}

#define INSERT "INSERT INTO book VALUES (?, ?, ?, ?, ?, ?, ?)"

static sample load(int64_t count) {
    run_sql(database, "CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT);"
        "CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT, pages INTEGER, price REAL, "
        "published REAL, isRead INTEGER, author INTEGER);"
        "CREATE INDEX book_author ON book (author); BEGIN");
    sqlite3_stmt *author = prepare(database, "INSERT INTO author VALUES (?, 'Author ' || ?)");
    sqlite3_stmt *insert = prepare(database, INSERT);
    for (int64_t number = 0; number < count; number++) {
        sqlite3_bind_int64(author, 1, number + 1);
        sqlite3_bind_int64(author, 2, number);
        if (sqlite3_step(author) != SQLITE_DONE) fail("load", sqlite3_errmsg(database));
        sqlite3_reset(author);
        for (int64_t i = 0; i < 10; i++) insert_book(insert, number * 10 + i, number + 1);
    }
    run_sql(database, "COMMIT");
    sqlite3_finalize(author);
    sqlite3_finalize(insert);
    return (sample){0, count};
}

// All books, in memory of their own.
static book *read_books(int64_t *count) {
    sqlite3_stmt *query = prepare(database, "SELECT * FROM book ORDER BY id");
    int64_t size = 1024;
    book *books = malloc(size * sizeof *books);
    *count = 0;
    while (sqlite3_step(query) == SQLITE_ROW) {
        if (*count == size) books = realloc(books, (size *= 2) * sizeof *books);
        books[(*count)++] = (book){
            .id = sqlite3_column_int64(query, 0),
            .title = strdup((const char *)sqlite3_column_text(query, 1)),
            .pages = sqlite3_column_int64(query, 2),
            .price = sqlite3_column_double(query, 3),
            .published = sqlite3_column_double(query, 4),
            .is_read = sqlite3_column_int(query, 5),
            .author = sqlite3_column_int64(query, 6)};
    }
    sqlite3_finalize(query);
    return books;
}

static void free_books(book *books, int64_t count) {
    for (int64_t i = 0; i < count; i++) free(books[i].title);
    free(books);
}

static sample fetch(void) {
    int64_t count;
    double start = microseconds();
    book *books = read_books(&count);
    double time = microseconds() - start;
    free_books(books, count);
    return (sample){time, count};
}

static sample properties(void) {
    int64_t count, checksum = 0;
    book *books = read_books(&count);
    double start = microseconds();
    for (int64_t i = 0; i < count; i++)
        checksum += (int64_t)strlen(books[i].title) + books[i].pages
            + (int64_t)(books[i].price * 4) + (int64_t)(books[i].published / 3600)
            + books[i].is_read;
    double time = microseconds() - start;
    free_books(books, count);
    return (sample){time, checksum};
}

// A join, and no objects.
static sample follow(void) {
    int64_t checksum = 0;
    double start = microseconds();
    sqlite3_stmt *query = prepare(database,
        "SELECT pages FROM author JOIN book ON author.id = book.author");
    while (sqlite3_step(query) == SQLITE_ROW) checksum += sqlite3_column_int64(query, 0);
    double time = microseconds() - start;
    sqlite3_finalize(query);
    return (sample){time, checksum};
}

static sample insert(int64_t count) {
    double start = microseconds();
    sqlite3_stmt *insert = prepare(database, INSERT);
    run_sql(database, "BEGIN");
    for (int64_t number = 1; number <= count; number++) insert_book(insert, 1000000 + number, 0);
    run_sql(database, "COMMIT");
    double time = microseconds() - start;
    sqlite3_finalize(insert);
    run_sql(database, "DELETE FROM book WHERE id > 1000001");
    return (sample){time, sqlite3_changes(database)};
}

static sample change(int64_t count) {
    double start = microseconds();
    sqlite3_stmt *update = prepare(database, "UPDATE book SET isRead = NOT isRead WHERE id = ?");
    run_sql(database, "BEGIN");
    for (int64_t id = 1; id <= count; id++) {
        sqlite3_bind_int64(update, 1, id);
        if (sqlite3_step(update) != SQLITE_DONE) fail("change", sqlite3_errmsg(database));
        sqlite3_reset(update);
    }
    run_sql(database, "COMMIT");
    double time = microseconds() - start;
    sqlite3_finalize(update);
    return (sample){time, count};
}

sample answer(const char *command, const int64_t n[5]) {
    if (!strcmp(command, "load")) return load(n[0]);
    if (!strcmp(command, "fetch")) return fetch();
    if (!strcmp(command, "properties")) return properties();
    if (!strcmp(command, "follow")) return follow();
    if (!strcmp(command, "insert")) return insert(n[0]);
    if (!strcmp(command, "change")) return change(n[0]);
    fail("unknown command", command);
    return (sample){0, 0};
}

int main(int argc, char **argv) {
    if (argc != 2) fail("usage", "shelf FILE");
    database = open_database(argv[1]);
    answer_commands();
}
