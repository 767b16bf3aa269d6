// The threads of a load generator, so that the server is the limit and not the generator.
#pragma once
#include "peer.h"
#include <pthread.h>
#include <sched.h>

// One on up to three processors, otherwise one for two processors, or LARDER_BENCH_THREADS; no more
// than there are connections.
static inline int thread_count(int connections) {
    const char *given = getenv("LARDER_BENCH_THREADS");
    cpu_set_t processors;
    int count = 1;
    if (given) count = atoi(given);
    else if (!sched_getaffinity(0, sizeof processors, &processors))
        count = CPU_COUNT(&processors) > 3 ? CPU_COUNT(&processors) / 2 : 1;
    if (count > connections) count = connections;
    return count < 1 ? 1 : count;
}

// Part `index` of `count` parts of an amount, which differ by 1 at most.
static inline int64_t part_of_amount(int64_t amount, int index, int count) {
    return amount / count + (index < amount % count);
}

// Calls a function for each of `count` elements of an array, all at the same time, and waits.
static inline void run_threads(void *(*work)(void *), void *shares, size_t bytes, int count) {
    pthread_t threads[count];
    for (int i = 1; i < count; i++)
        if (pthread_create(threads + i, NULL, work, (char *)shares + i * bytes))
            fail("thread", "cannot be started");
    work(shares);
    for (int i = 1; i < count; i++) pthread_join(threads[i], NULL);
}
