#include <sqlite3.h>

// The parts of sqlite3.h that Swift cannot import: variadic functions, and macros that are casts.

static inline int larder_sqlite3_configure(sqlite3 *database, int option, int value) {
    return sqlite3_db_config(database, option, value, (int *)0);
}

// Before anything else is called: afterwards it changes nothing.
static inline int larder_sqlite3_forget_memory_use(void) {
    return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

// The allocator of the library, and another one. Before anything else is called, too.
static inline int larder_sqlite3_get_allocator(sqlite3_mem_methods *methods) {
    return sqlite3_config(SQLITE_CONFIG_GETMALLOC, methods);
}

static inline int larder_sqlite3_set_allocator(const sqlite3_mem_methods *methods) {
    return sqlite3_config(SQLITE_CONFIG_MALLOC, methods);
}

static const int larder_sqlite3_short_read = SQLITE_IOERR_SHORT_READ;

static inline int larder_sqlite3_bind_text(
    sqlite3_stmt *statement, int index, const char *bytes, int count) {
    return sqlite3_bind_text(statement, index, bytes, count, SQLITE_TRANSIENT);
}

static inline int larder_sqlite3_bind_blob(
    sqlite3_stmt *statement, int index, const void *bytes, int count) {
    return sqlite3_bind_blob(statement, index, bytes, count, SQLITE_TRANSIENT);
}

static inline void larder_sqlite3_result_text(
    sqlite3_context *context, const char *bytes, int count) {
    sqlite3_result_text(context, bytes, count, SQLITE_TRANSIENT);
}

static inline void larder_sqlite3_result_blob(
    sqlite3_context *context, const void *bytes, int count) {
    sqlite3_result_blob(context, bytes, count, SQLITE_TRANSIENT);
}

// The interface of the extension FTS5; NULL if SQLite was built without it. SQLite compares the type
// of the pointer after this function has returned.
static inline fts5_api *larder_fts5_api(sqlite3 *database) {
    fts5_api *api = (fts5_api *)0;
    sqlite3_stmt *statement = (sqlite3_stmt *)0;
    if (sqlite3_prepare_v2(database, "SELECT fts5(?1)", -1, &statement, (const char **)0)
        == SQLITE_OK) {
        sqlite3_bind_pointer(
            statement, 1, (void *)&api, "fts5_api_ptr", (void (*)(void *))0);
        sqlite3_step(statement);
    }
    sqlite3_finalize(statement);
    return api;
}
