// Checks of the tests. A failure prints its file and line and is counted; the test continues.
#ifndef LARDER_CHECK_H
#define LARDER_CHECK_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>

#include "larder.h"

extern int check_count, check_failures;

bool check_true(bool is_true, const char *text, const char *file, int line);
bool check_integer(
    int64_t found, int64_t expected, const char *text, const char *file, int line);
bool check_text(
    const char *found, const char *expected, const char *text, const char *file, int line);
// Whether an error has a code; its message is printed if not.
bool check_code(
    const larder_error *error, uint32_t code, const char *text, const char *file, int line);
// Prints the numbers of checks and failures, and returns the exit status.
int check_end(const char *program);

#define CHECK(condition) check_true((condition), #condition, __FILE__, __LINE__)
#define CHECK_INTEGER(found, expected) \
    check_integer((int64_t)(found), (int64_t)(expected), #found, __FILE__, __LINE__)
#define CHECK_TEXT(found, expected) check_text(found, expected, #found, __FILE__, __LINE__)
#define CHECK_CODE(error, code) check_code(error, code, #code, __FILE__, __LINE__)
// Checks that a call succeeded, and otherwise prints its error.
#define CHECK_DONE(call, error) \
    (check_true((call), #call, __FILE__, __LINE__) || \
     (fprintf(stderr, "    %s: %s\n", (error)->name, (error)->message), false))

#endif
