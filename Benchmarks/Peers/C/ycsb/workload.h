// Which operation comes next: YCSB's core workloads A to F with YCSB's distributions, from a seed.
// A seed gives each store the same operations.
#pragma once
#include "ycsb.h"
#include <math.h>

typedef enum { UNIFORM, ZIPFIAN, LATEST } distribution;

typedef struct {
    operation_kind most, other;
    double part_of_most;
    distribution distribution;
    uint64_t random;
    int64_t records;  // what was loaded
    double zeta;      // of the distribution `latest`, over the first `zeta_count` records
    int64_t zeta_count;
} workload;

// The exponent, and the constants that YCSB uses for its scrambled Zipfian numbers: drawn from
// 10^10 items and then hashed into the records, so that the popular ones are far apart.
static const double zipfian_exponent = 0.99;
static const int64_t scrambled_items = 10000000000;
static const double scrambled_zeta = 26.46902820178302;

static inline uint64_t splitmix(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static inline double random_unit(workload *w) { return (splitmix(&w->random) >> 11) * 0x1p-53; }

static inline int64_t random_below(workload *w, int64_t bound) {
    return splitmix(&w->random) % (uint64_t)bound;
}

// Gray et al., "Quickly generating billion-record synthetic databases": from 0, the most frequent.
static inline int64_t zipfian(workload *w, int64_t items, double zeta) {
    double alpha = 1 / (1 - zipfian_exponent), zeta2 = 1 + pow(0.5, zipfian_exponent);
    double eta = (1 - pow(2.0 / items, 1 - zipfian_exponent)) / (1 - zeta2 / zeta);
    double u = random_unit(w), uz = u * zeta;
    if (uz < 1) return 0;
    if (uz < zeta2) return 1;
    return (int64_t)(items * pow(eta * u - eta + 1, alpha));
}

static inline uint64_t fnv_hash(uint64_t value) {
    uint64_t hash = 14695981039346656037u;
    for (int i = 0; i < 8; i++, value >>= 8) hash = (hash ^ (value & 255)) * 1099511628211u;
    return hash;
}

// `latest` is the newest record of which all before it are inserted, too.
static inline int64_t next_number(workload *w, int64_t latest) {
    switch (w->distribution) {
    case UNIFORM: return 1 + random_below(w, w->records);
    case ZIPFIAN: {
        uint64_t item = zipfian(w, scrambled_items, scrambled_zeta);
        return 1 + fnv_hash(item) % w->records;
    }
    case LATEST:
        while (w->zeta_count < latest) w->zeta += pow(++w->zeta_count, -zipfian_exponent);
        int64_t back = zipfian(w, latest, w->zeta);
        return back < latest ? latest - back : 1;
    }
    return 1;
}

static inline workload make_workload(
    char letter, distribution distribution, uint64_t seed, int64_t records
) {
    workload w = {READ, READ, 1, distribution, seed, records, 0, 0};
    switch (letter) {
    case 'A': w.other = UPDATE, w.part_of_most = 0.5; break;
    case 'B': w.other = UPDATE, w.part_of_most = 0.95; break;
    case 'C': break;
    case 'D': w.other = INSERT, w.part_of_most = 0.95; break;
    case 'E': w.most = SCAN, w.other = INSERT, w.part_of_most = 0.95; break;
    case 'F': w.other = READ_MODIFY_WRITE, w.part_of_most = 0.5; break;
    default: fail("workload", "neither of A to F");
    }
    return w;
}

// The next operation. An insert gets its number from the caller.
static inline operation next_operation(workload *w, int64_t latest) {
    operation op = {random_unit(w) < w->part_of_most ? w->most : w->other, 0, 0, 0, 0};
    if (op.kind != INSERT) op.number = next_number(w, latest);
    if (op.kind == SCAN) op.rows = 1 + random_below(w, SCAN_ROWS_MAX);
    if (op.kind == UPDATE || op.kind == READ_MODIFY_WRITE) {
        op.field = random_below(w, FIELDS);
        op.variant = splitmix(&w->random) | 1;
    }
    return op;
}
