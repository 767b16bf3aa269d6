// A histogram of nanoseconds with buckets as HdrHistogram's: 64 to each power of two, so that a
// percentile is exact to 1.6 %.
#pragma once
#include <stdint.h>
#include <string.h>

enum { SUB_BUCKETS = 64, BUCKETS = SUB_BUCKETS * 40 };
typedef struct { int64_t count, buckets[BUCKETS]; } histogram;

static inline void histogram_add(histogram *h, int64_t value) {
    if (value < 0) value = 0;
    int shift = value < 2 * SUB_BUCKETS ? 0 : 57 - __builtin_clzll(value);
    int64_t bucket = (int64_t)shift * SUB_BUCKETS + (value >> shift);
    h->buckets[bucket < BUCKETS ? bucket : BUCKETS - 1]++;
    h->count++;
}

static inline void histogram_merge(histogram *h, const histogram *other) {
    for (int bucket = 0; bucket < BUCKETS; bucket++) h->buckets[bucket] += other->buckets[bucket];
    h->count += other->count;
}

// The greatest value of the bucket that has the percentile, in microseconds; 0 if it is empty.
static inline double histogram_percentile(const histogram *h, double part) {
    int64_t wanted = (int64_t)(h->count * part), seen = 0;
    for (int bucket = 0; bucket < BUCKETS; bucket++) {
        seen += h->buckets[bucket];
        if (seen <= wanted) continue;
        int shift = bucket < 2 * SUB_BUCKETS ? 0 : bucket / SUB_BUCKETS - 1;
        int64_t least = (int64_t)(bucket - shift * SUB_BUCKETS) << shift;
        return (least + (1LL << shift) - 1) / 1e3;
    }
    return 0;
}
