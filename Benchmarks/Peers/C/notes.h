// Notes: texts, decimals and dates that every side computes from the number of a note, from 1.
#pragma once
#include "peer.h"

enum { WORDS = 16, WORDS_IN_TEXT = 14 };

static const char *const plain_words[WORDS] = {"order", "of", "things", "harbor", "the", "larder",
    "paper", "winter", "and", "letters", "from", "an", "island", "stone", "about", "weather"};

static const char *const mixed_words[WORDS] = {"über", "straße", "café", "naïve", "привет",
    "погода", "ελλάδα", "νησί", "日本語", "世界", "한국어", "letters", "winter", "😀", "señor",
    "ångström"};

// Up to 200 bytes.
static inline void make_text(char *text, const char *const words[WORDS], int64_t number) {
    char *end = text;
    for (int64_t i = 0; i < WORDS_IN_TEXT; i++) {
        const char *word = words[(number / 16 * (2 * i + 1) + number * 7 + i * i) % WORDS];
        if (i > 0) *end++ = ' ';
        end = stpcpy(end, word);
    }
}

// The price in hundredths.
static inline int64_t make_cents(int64_t number) { return number * 7919 % 100000; }

static inline int64_t make_quantity(int64_t number) { return number % 7 + 1; }

// Seconds from 2001, within 20 years.
static inline int64_t make_created(int64_t number) { return number * 1047291 % 630720000; }

// The time of the processor that this process has used, in microseconds.
static inline double processor_microseconds(void) {
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return used.tv_sec * 1e6 + used.tv_nsec / 1e3;
}

typedef struct { const char *name, *sql; } note_query;

// The SQL of a query by its name; NULL for an unknown name.
static inline const char *find_query(
    const note_query *queries, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++)
        if (!strcmp(queries[i].name, name)) return queries[i].sql;
    return NULL;
}
