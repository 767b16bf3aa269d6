// Articles: titles and bodies of words, few of which are frequent, that every side computes from
// the number of an article, from 1.
#pragma once
#include "notes.h"

enum { TITLE_WORDS = 6, BODY_WORDS = 16 };

// The word with a number: three syllables.
static inline char *append_word(char *end, uint64_t number) {
    for (int i = 0; i < 3; i++, number /= 64) {
        *end++ = "bdfghklmnprstvwz"[number % 16];
        *end++ = "aeio"[number / 16 % 4];
    }
    return end;
}

// Words whose numbers are below a random power of two.
static inline void make_words(char *text, int64_t number, int first, int count) {
    char *end = text;
    for (int i = first; i < first + count; i++) {
        uint64_t x = (uint64_t)number * 0x9E3779B97F4A7C15u + (uint64_t)i * 0xBF58476D1CE4E5B9u;
        x = (x ^ x >> 31) * 0x94D049BB133111EBu;
        x ^= x >> 29;
        if (end > text) *end++ = ' ';
        end = append_word(end, (x >> 8) % (1u << (x & 15)));
    }
    *end = 0;
}

static inline void make_title(char *text, int64_t number) {
    make_words(text, number, 0, TITLE_WORDS);
}

static inline void make_body(char *text, int64_t number) {
    make_words(text, number, TITLE_WORDS, BODY_WORDS);
}

// The result of an index.
enum { PLAIN, INDEX_OF_WORDS, INDEX_OF_PARTS };
