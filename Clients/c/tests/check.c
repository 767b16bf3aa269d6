#include <stdio.h>
#include <string.h>

#include "check.h"

int check_count, check_failures;

static bool report(bool is_true, const char *file, int line) {
    check_count++;
    if (!is_true) {
        check_failures++;
        fprintf(stderr, "%s:%d: failed: ", file, line);
    }
    return is_true;
}

bool check_true(bool is_true, const char *text, const char *file, int line) {
    if (!report(is_true, file, line)) fprintf(stderr, "%s\n", text);
    return is_true;
}

bool check_integer(
    int64_t found, int64_t expected, const char *text, const char *file, int line) {
    bool is_equal = found == expected;
    if (!report(is_equal, file, line)) {
        fprintf(stderr, "%s is %" PRId64 ", not %" PRId64 "\n", text, found, expected);
    }
    return is_equal;
}

bool check_text(
    const char *found, const char *expected, const char *text, const char *file, int line) {
    bool is_equal = found && strcmp(found, expected) == 0;
    if (!report(is_equal, file, line)) {
        fprintf(stderr, "%s is \"%s\", not \"%s\"\n", text, found ? found : "(NULL)", expected);
    }
    return is_equal;
}

bool check_code(
    const larder_error *error, uint32_t code, const char *text, const char *file, int line) {
    bool is_equal = error->code == code;
    if (!report(is_equal, file, line)) {
        fprintf(
            stderr, "the error is %s (%" PRIu32 ": %s), not %s\n",
            error->name ? error->name : "none", error->code, error->message, text);
    }
    return is_equal;
}

int check_end(const char *program) {
    printf("%s: %d checks, %d failed\n", program, check_count, check_failures);
    return check_failures > 0;
}
