// Shared by the peers in C: the data, the clock, and the loop that reads one command per line and
// answers each with "value checksum".
#pragma once
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct { double value; int64_t checksum; } sample;
typedef struct { char name[32]; int64_t birth_of_year; double score; } student;

static inline void fail(const char *what, const char *why) {
    fprintf(stderr, "%s: %s\n", what, why ? why : "");
    exit(1);
}

static inline double microseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e6 + now.tv_nsec / 1e3;
}

// The student with a number, from 1; the same in every peer.
static inline student make_student(int64_t number) {
    student made = {"", 1950 + number * 7919 % 60, (double)(number % 1000) / 2};
    snprintf(made.name, sizeof made.name, "Student %07lld", (long long)number);
    return made;
}

static inline int64_t student_checksum(int64_t name_length, int64_t year, double score) {
    return name_length + year + (int64_t)(score * 2);
}

// The key that a read is for; the same sequence in every peer.
static inline int64_t key_of_read(int64_t read, int64_t count) { return read * 7919 % count + 1; }

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline double median(double *values, size_t count) {
    qsort(values, count, sizeof *values, compare_doubles);
    return values[count / 2];
}

// Performs a command. Missing arguments are 0.
sample answer(const char *command, const int64_t arguments[5]);

static inline void answer_commands(void) {
    char line[200], command[32];
    while (fgets(line, sizeof line, stdin)) {
        long long n[5] = {0};
        if (sscanf(line, "%31s %lld %lld %lld %lld %lld",
                command, n, n + 1, n + 2, n + 3, n + 4) < 1)
            fail("no command", line);
        int64_t arguments[5] = {n[0], n[1], n[2], n[3], n[4]};
        sample got = answer(command, arguments);
        printf("%.3f %lld\n", got.value, (long long)got.checksum);
        fflush(stdout);
    }
}
