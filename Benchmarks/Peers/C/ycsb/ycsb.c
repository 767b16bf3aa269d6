// Loads and drives a store with the YCSB core workloads: `ycsb larder|postgres|redis SOCKET`.
// One loop of epoll for all connections of a thread, with one operation in flight on each; only
// the bytes of the protocols differ. On a machine with few processors it has one thread, so that
// it takes little from the server (../threads.h).
//
//   load COUNT                     replaces the records
//   run WORKLOAD DISTRIBUTION CONNECTIONS SECONDS RATE SEED
//                                  operations per second, the median, the 99th and the 99.9th
//                                  percentile in microseconds. RATE is operations per second; 0 is
//                                  a closed loop, in which each connection starts its next
//                                  operation when it has the reply. With a rate an operation starts
//                                  when it is due, and its latency counts from then also if no
//                                  connection is free.
//   check COUNT SEED               reads records (Zipfian): their number and a checksum of their
//                                  fields
//   sequence WORKLOAD COUNT SEED FILE
//                                  writes operations (Zipfian) for a driver in another language:
//                                  for each a kind and a number, of 8 bytes each
#include "histogram.h"
#include "workload.h"
#include "../threads.h"
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>

const char *socket_path;
static const protocol *store;
static int64_t records;                  // loaded
static _Atomic int64_t inserted, latest; // assigned numbers; all up to `latest` are stored
static _Atomic int64_t *keys;            // 0 where nothing is stored

enum { WARM_UP_PERCENT = 10, NANOSECONDS = 1000000000, RECORDS_MAX = 1 << 27 };

int64_t key_of(int64_t number) { return keys[number]; }

void put_text(unsigned char *out, int64_t number, int field, uint64_t variant) {
    static const char alphabet[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 -";
    uint64_t state = (uint64_t)number * FIELDS + field + variant * 0x632be59bd9b4e019, word = 0;
    for (int i = 0; i < FIELD_BYTES; i++, word >>= 6) {
        if (i % 10 == 0) word = splitmix(&state);
        out[i] = alphabet[word & 63];
    }
}

static int64_t nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * (int64_t)NANOSECONDS + now.tv_nsec;
}

// Address space for the keys of all records; a page has memory when a key is written.
static void reserve_keys(void) {
    size_t bytes = RECORDS_MAX * sizeof *keys;
    if (keys) munmap(keys, bytes);
    keys = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (keys == MAP_FAILED) fail("ycsb", "no memory");
}

static void load(int64_t count) {
    if (count >= RECORDS_MAX) fail("load", "too many records");
    store->load(count);
    reserve_keys();
    for (int64_t number = 1; number <= count; number++) keys[number] = number;
    records = count;
    inserted = latest = count;
}

// MARK: One operation

static operation part_of(const operation *op, int step) {
    operation part = *op;
    if (op->kind == READ_MODIFY_WRITE) part.kind = step == 0 ? READ : UPDATE;
    return part;
}

// Sends the request of the operation's next step; returns 0 if it has no more.
static int send_step(connection *c) {
    static _Thread_local unsigned char request[REQUEST_BYTES_MAX];
    operation part = part_of(&c->operation, c->step);
    int step = c->operation.kind == READ_MODIFY_WRITE && c->step < 2 ? 0 : c->step;
    size_t length = store->encode(c, &part, step, request);
    if (length) send_all(c->descriptor, request, length);
    return length > 0;
}

static void begin(connection *c, operation op, int64_t started) {
    if (op.kind == INSERT) {
        op.number = ++inserted;
        if (op.number >= RECORDS_MAX) fail("insert", "too many records");
        c->inserted_key = op.number;
    }
    c->operation = op;
    c->step = 0;
    c->started = started;
    c->rows = c->bytes = c->checksum = 0;
    c->is_busy = 1;
    send_step(c);
}

static void finish(connection *c) {
    const operation *op = &c->operation;
    c->is_busy = 0;
    if (op->kind == INSERT) {
        keys[op->number] = c->inserted_key;
        int64_t known = latest;
        while (known < inserted && keys[known + 1])
            if (atomic_compare_exchange_weak(&latest, &known, known + 1)) known++;
    }
    int reads = op->kind != UPDATE && op->kind != INSERT;
    if (reads && (c->rows < 1 || c->bytes != c->rows * FIELDS * FIELD_BYTES))
        fail(store->name, "returned other fields than were written");
}

// Takes what has come; returns 1 if the operation is complete.
static int receive(connection *c) {
    ssize_t got = recv(c->descriptor, c->reply + c->filled, REPLY_BYTES_MAX - c->filled, 0);
    if (got <= 0) fail(store->name, "has closed the connection");
    c->filled += got;
    size_t used = 0, length;
    while (c->pending && (length = store->decode(c, c->reply + used, c->filled - used)))
        used += length;
    memmove(c->reply, c->reply + used, c->filled -= used);
    if (c->pending) return 0;
    c->step++;
    if (send_step(c)) return 0;
    finish(c);
    return 1;
}

// MARK: Many connections

// The idle ones are a queue, so that a load of less than all keeps each connection in use.
typedef struct {
    connection *all, **idle;
    int count, idle_first, idle_count, epoll;
} connections;

static void add_idle(connections *opened, connection *c) {
    opened->idle[(opened->idle_first + opened->idle_count++) % opened->count] = c;
}

static connection *take_idle(connections *opened) {
    connection *c = opened->idle[opened->idle_first];
    opened->idle_first = (opened->idle_first + 1) % opened->count;
    opened->idle_count--;
    return c;
}

static connections open_connections(int count) {
    connections opened = {
        calloc(count, sizeof(connection)), calloc(count, sizeof(connection *)), count, 0, 0,
        epoll_create1(EPOLL_CLOEXEC)};
    for (int i = 0; i < count; i++) {
        connection *c = opened.all + i;
        c->reply = malloc(REPLY_BYTES_MAX);
        store->open(c);
        struct epoll_event event = {EPOLLIN, {.ptr = c}};
        epoll_ctl(opened.epoll, EPOLL_CTL_ADD, c->descriptor, &event);
        add_idle(&opened, c);
    }
    return opened;
}

static void close_connections(connections *opened) {
    for (int i = 0; i < opened->count; i++) {
        close(opened->all[i].descriptor);
        free(opened->all[i].reply);
    }
    close(opened->epoll);
    free(opened->all), free(opened->idle);
}

// Waits for replies, until a time if it is not 0.
static int wait_for_events(const connections *opened, struct epoll_event *events, int64_t until) {
    int64_t left = until - nanoseconds();
    if (until && left < 0) left = 0;
    struct timespec timeout = {left / NANOSECONDS, left % NANOSECONDS};
    return epoll_pwait2(opened->epoll, events, 64, until ? &timeout : NULL, NULL);
}

// The share of one thread in the load, over connections of its own.
typedef struct {
    workload workload;
    int connections;
    double seconds, rate;
    pthread_barrier_t *opened;
    histogram latencies;
    double operations; // per second
} share;

static void *run_share(void *argument) {
    share *s = argument;
    double rate = s->rate;
    connections opened = open_connections(s->connections);
    pthread_barrier_wait(s->opened);
    int64_t begun = nanoseconds(), length = s->seconds * NANOSECONDS, due = begun, issued = 0;
    int64_t measured = begun + length * WARM_UP_PERCENT / 100, end = begun + length;
    int64_t completed = 0, last = measured, now = begun;
    for (;;) {
        while (opened.idle_count && (now = nanoseconds()) < end + (rate > 0 ? length : 0)) {
            if (rate > 0) due = begun + (int64_t)(issued / rate * NANOSECONDS);
            else due = now;
            if (due > now || due >= end) break;
            begin(take_idle(&opened), next_operation(&s->workload, latest), due);
            issued++;
        }
        int is_over = rate > 0 ? due >= end || now >= end + length : now >= end;
        if (is_over && opened.idle_count == opened.count) break;
        struct epoll_event events[64];
        int waits_for_due = rate > 0 && opened.idle_count && !is_over;
        int ready = wait_for_events(&opened, events, waits_for_due ? due : 0);
        for (int i = 0; i < ready; i++) {
            connection *c = events[i].data.ptr;
            if (!receive(c)) continue;
            add_idle(&opened, c);
            now = nanoseconds();
            if (c->started < measured) continue;
            histogram_add(&s->latencies, now - c->started);
            if (now <= end) completed++, last = now;
        }
    }
    close_connections(&opened);
    s->operations = last > measured ? completed * 1e9 / (last - measured) : 0;
    return NULL;
}

// The first thread has the operations of the seed, and the others those of seeds that follow.
static void run(
    char letter, distribution distribution, int count, double seconds, double rate, uint64_t seed
) {
    int threads = thread_count(count);
    share *shares = calloc(threads, sizeof *shares);
    pthread_barrier_t opened;
    pthread_barrier_init(&opened, NULL, threads);
    for (int i = 0; i < threads; i++) {
        share *s = shares + i;
        s->workload = make_workload(letter, distribution, seed + i, records);
        s->connections = part_of_amount(count, i, threads);
        s->seconds = seconds;
        s->rate = rate * s->connections / count;
        s->opened = &opened;
    }
    run_threads(run_share, shares, sizeof *shares, threads);
    histogram *all = &shares->latencies;
    double operations = shares->operations;
    for (int i = 1; i < threads; i++) {
        histogram_merge(all, &shares[i].latencies);
        operations += shares[i].operations;
    }
    printf("%.1f %.1f %.1f %.1f\n", operations, histogram_percentile(all, 0.5),
        histogram_percentile(all, 0.99), histogram_percentile(all, 0.999));
    free(shares);
}

static void check(int64_t count, uint64_t seed) {
    workload w = make_workload('C', ZIPFIAN, seed, records);
    connections opened = open_connections(1);
    connection *c = opened.all;
    uint64_t checksum = 0;
    c->checks = 1;
    for (int64_t i = 0; i < count; i++) {
        begin(c, next_operation(&w, latest), 0);
        while (!receive(c)) {}
        checksum += c->checksum;
    }
    close_connections(&opened);
    printf("%lld %lld\n", (long long)count, (long long)(checksum >> 1));
}

static void write_sequence(char letter, int64_t count, uint64_t seed, const char *path) {
    workload w = make_workload(letter, ZIPFIAN, seed, records);
    FILE *file = fopen(path, "w");
    if (!file) fail(path, "cannot be written");
    for (int64_t i = 0; i < count; i++) {
        operation op = next_operation(&w, latest);
        int64_t words[2] = {op.kind, op.number};
        if (fwrite(words, sizeof words, 1, file) != 1) fail(path, "cannot be written");
    }
    if (fclose(file)) fail(path, "cannot be written");
    printf("%lld 0\n", (long long)count);
}

// MARK: Commands

static distribution distribution_named(const char *name) {
    if (!strcmp(name, "uniform")) return UNIFORM;
    if (!strcmp(name, "zipfian")) return ZIPFIAN;
    if (!strcmp(name, "latest")) return LATEST;
    fail("unknown distribution", name);
    return UNIFORM;
}

static void perform(const char *line) {
    char letter, name[16], path[400];
    long long count, seed;
    double seconds, rate;
    int connections;
    if (sscanf(line, "load %lld", &count) == 1) {
        load(count);
        printf("0 %lld\n", count);
    } else if (sscanf(line, "run %c %15s %d %lf %lf %lld", &letter, name, &connections, &seconds,
            &rate, &seed) == 6) {
        run(letter, distribution_named(name), connections, seconds, rate, seed);
    } else if (sscanf(line, "check %lld %lld", &count, &seed) == 2) {
        check(count, seed);
    } else if (sscanf(line, "sequence %c %lld %lld %399s", &letter, &count, &seed, path) == 4) {
        write_sequence(letter, count, seed, path);
    } else {
        fail("unknown command", line);
    }
}

int main(int argc, char **argv) {
    const protocol *const protocols[] = {&larder_protocol, &postgres_protocol, &redis_protocol};
    for (int i = 0; argc == 3 && i < 3; i++)
        if (!strcmp(argv[1], protocols[i]->name)) store = protocols[i];
    if (!store) fail("usage", "ycsb larder|postgres|redis SOCKET");
    socket_path = argv[2];
    reserve_keys();
    prctl(PR_SET_TIMERSLACK, 1);
    char line[500];
    while (fgets(line, sizeof line, stdin)) {
        perform(line);
        fflush(stdout);
    }
}
