// SQLite in process: the best that a program can do if no other uses the file.
#include "articles.h"
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

// A double for a price: the best that SQLite has.
static sample load_notes(int64_t count) {
    char text[2][200];
    run_sql(database, "DROP TABLE IF EXISTS note; CREATE TABLE note (id INTEGER PRIMARY KEY, "
        "title TEXT, body TEXT, price REAL, quantity INTEGER, created REAL)");
    sqlite3_stmt *insert = prepare(database,
        "INSERT INTO note (title, body, price, quantity, created) VALUES (?, ?, ?, ?, ?)");
    run_sql(database, "BEGIN");
    for (int64_t number = 1; number <= count; number++) {
        make_text(text[0], plain_words, number);
        make_text(text[1], mixed_words, number);
        sqlite3_bind_text(insert, 1, text[0], -1, SQLITE_STATIC);
        sqlite3_bind_text(insert, 2, text[1], -1, SQLITE_STATIC);
        sqlite3_bind_double(insert, 3, make_cents(number) / 100.0);
        sqlite3_bind_int64(insert, 4, make_quantity(number));
        sqlite3_bind_double(insert, 5, make_created(number));
        if (sqlite3_step(insert) != SQLITE_DONE) fail("notes", sqlite3_errmsg(database));
        sqlite3_reset(insert);
    }
    run_sql(database, "COMMIT");
    sqlite3_finalize(insert);
    return (sample){0, count};
}

static const char *const article_indexes[] = {
    "",
    "CREATE VIRTUAL TABLE words USING fts5(title, body, content='article', content_rowid='id');"
    "CREATE TRIGGER added AFTER INSERT ON article BEGIN INSERT INTO words (rowid, title, body) "
    "VALUES (new.id, new.title, new.body); END",
    "CREATE VIRTUAL TABLE parts USING fts5(body, content='article', content_rowid='id', "
    "tokenize='trigram');"
    "CREATE TRIGGER added AFTER INSERT ON article BEGIN INSERT INTO parts (rowid, body) "
    "VALUES (new.id, new.body); END",
};

// The rows per second, and the size of the file.
static sample load_articles(int64_t count, int64_t index) {
    char text[200];
    run_sql(database, "CREATE TABLE article (id INTEGER PRIMARY KEY, title TEXT, body TEXT)");
    run_sql(database, article_indexes[index]);
    sqlite3_stmt *insert = prepare(database, "INSERT INTO article (title, body) VALUES (?, ?)");
    double start = microseconds();
    run_sql(database, "BEGIN");
    for (int64_t number = 1; number <= count; number++) {
        make_title(text, number);
        sqlite3_bind_text(insert, 1, text, -1, SQLITE_TRANSIENT);
        make_body(text, number);
        sqlite3_bind_text(insert, 2, text, -1, SQLITE_TRANSIENT);
        if (sqlite3_step(insert) != SQLITE_DONE) fail("articles", sqlite3_errmsg(database));
        sqlite3_reset(insert);
    }
    run_sql(database, "COMMIT");
    double rate = count / (microseconds() - start) * 1e6;
    sqlite3_finalize(insert);
    return (sample){rate, count};
}

#define FOUND "SELECT count(*) FROM words WHERE words MATCH "
#define BEST(search) "SELECT count(*), max(length(title)) FROM (SELECT article.title FROM " \
    "words JOIN article ON id = words.rowid WHERE words MATCH " search " ORDER BY rank LIMIT 20)"

static const note_query article_queries[] = {
    {"word", FOUND "'tedeba'"},
    {"words", FOUND "'hadaba hababa'"},
    {"phrase", FOUND "'\"hadaba hababa\"'"},
    {"prefix", FOUND "'tede*'"},
    {"best-of-most", BEST("'hababa'")},
    {"best-of-many", BEST("'hadaba'")},
    {"best-of-some", BEST("'tedeba'")},
    {"best-of-both", BEST("'hadaba hababa'")},
    {"part", "SELECT count(*) FROM parts WHERE parts MATCH '\"tedeba\"'"},
    {"bytes", "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"},
};

#define COUNT "SELECT count(*) FROM note WHERE "
#define PART(name) "CAST(strftime('" name "', created + 978307200, 'unixepoch') AS INTEGER)"

static const note_query note_queries[] = {
    {"contains", COUNT "instr(title, 'stone')"},
    {"contains-mixed", COUNT "instr(body, 'погода')"},
    {"contains-marked", COUNT "instr(body, 'ångström')"},
    {"like", COUNT "title LIKE '%st_ne%'"},
    {"like-mixed", COUNT "body LIKE '%wint_r%'"},
    {"ends", COUNT "substr(title, -5) = 'stone'"},
    {"length", COUNT "length(title) > 80"},
    {"length-mixed", COUNT "length(body) > 80"},
    {"price", COUNT "price > 500.005"},
    {"product", COUNT "price * 3 > 1500.005"},
    {"sum", "SELECT CAST(round(sum(price) * 100) AS INTEGER) FROM note"},
    {"average", "SELECT CAST(avg(price) AS INTEGER) FROM note"},
    {"amount", "SELECT CAST(round(sum(price * quantity) * 100) AS INTEGER) FROM note"},
    {"day", COUNT PART("%d") " = 15"},
    {"month", COUNT PART("%m") " = 5"},
};

// The time of the processor, and the only number of the result.
static sample query_notes(const char *sql) {
    sqlite3_stmt *query = prepare(database, sql);
    double start = processor_microseconds();
    if (sqlite3_step(query) != SQLITE_ROW) fail(sql, sqlite3_errmsg(database));
    sample got = {processor_microseconds() - start, sqlite3_column_int64(query, 0)};
    sqlite3_finalize(query);
    return got;
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
    if (argc != 2) fail("usage", "sqlite FILE");
    path = argv[1];
    database = open_database(path);
    answer_commands();
}
