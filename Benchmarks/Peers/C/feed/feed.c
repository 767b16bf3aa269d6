// Measures how commits reach subscribers, for each store in the same way:
//
//   run SUBSCRIBERS WRITERS EACH PACED
//
// commits EACH students on each of the writers' connections, a thread per connection, while the
// subscribers, a thread per connection in another process, receive every event. If PACED is 1, a
// writer commits its next student when all subscribers have the event of the last one.
//
// The answer's checksum is the sum of the numbers that subscribers have received. The file contains
// times of CLOCK_MONOTONIC in nanoseconds, as numbers of 8 bytes: when each commit was sent, when
// each was acknowledged, and for each subscriber when each event arrived, by its number.
#include "feed.h"
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

// Ends a subscriber that waits for an event that has been lost.
enum { SECONDS_MAX = 300 };

// Both processes map it.
typedef struct {
    atomic_llong checksum, received;
    int64_t times[];
} trace;

static const char *path;
static trace *shared;
static int64_t subscribers, writers, each, events;
static int is_paced, progress[2];

typedef struct { pthread_t thread; void *connection; int64_t index; } worker;

static int64_t nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * (int64_t)1000000000 + now.tv_nsec;
}

static void report_progress(void) {
    if (write(progress[1], "", 1) != 1) fail("feed", "the writers have ended");
}

static void await_progress(void) {
    char byte;
    if (read(progress[0], &byte, 1) != 1) fail("feed", "the subscribers have ended");
}

static void *receive(void *argument) {
    worker *own = argument;
    int64_t *arrivals = shared->times + (2 + own->index) * events, sum = 0;
    for (int64_t i = 0; i < events; i++) {
        int64_t number = next_event(own->connection), now = nanoseconds();
        if (number < 1 || number > events) fail("feed", "an unknown event has arrived");
        if (arrivals[number - 1]) fail("feed", "an event has arrived twice");
        arrivals[number - 1] = now;
        sum += number;
        if (is_paced && (atomic_fetch_add(&shared->received, 1) + 1) % subscribers == 0)
            report_progress();
    }
    atomic_fetch_add(&shared->checksum, sum);
    return NULL;
}

static void *commit(void *argument) {
    worker *own = argument;
    for (int64_t i = own->index * each; i < (own->index + 1) * each; i++) {
        shared->times[i] = nanoseconds();
        commit_student(own->connection, i + 1);
        shared->times[events + i] = nanoseconds();
        if (is_paced && subscribers) await_progress();
    }
    return NULL;
}

// Runs a thread per connection.
static void perform(worker *workers, int64_t count, void *(*body)(void *)) {
    for (int64_t i = 0; i < count; i++)
        if (pthread_create(&workers[i].thread, NULL, body, &workers[i]))
            fail("feed", "a thread cannot be created");
    for (int64_t i = 0; i < count; i++) pthread_join(workers[i].thread, NULL);
}

static worker *open_workers(int64_t count, void *(*open_connection)(void)) {
    worker *workers = calloc(count + 1, sizeof *workers);
    for (int64_t i = 0; i < count; i++) {
        workers[i].connection = open_connection();
        workers[i].index = i;
    }
    return workers;
}

static pid_t start_subscribers(void) {
    pid_t process = fork();
    if (process < 0) fail("feed", "a process cannot be created");
    if (process) return process;
    alarm(SECONDS_MAX);
    worker *workers = open_workers(subscribers, open_subscriber);
    report_progress();
    perform(workers, subscribers, receive);
    // Without the parent's buffered output.
    _exit(0);
}

static void write_times(size_t count) {
    FILE *file = fopen(path, "w");
    if (!file || fwrite(shared->times, 8, count, file) != count || fclose(file))
        fail(path, "cannot be written");
}

sample answer(const char *command, const int64_t n[5]) {
    if (strcmp(command, "run")) fail("unknown command", command);
    subscribers = n[0], writers = n[1], each = n[2], is_paced = n[3], events = writers * each;
    size_t count = (2 + subscribers) * events, bytes = sizeof *shared + 8 * count;
    shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || pipe(progress)) fail("feed", "no memory or no pipe");
    // Otherwise the first writes of the times would wait for the kernel.
    memset(shared, 0, bytes);
    reset_store();
    pid_t process = subscribers ? start_subscribers() : 0;
    // Without this end, the end of the subscribers' process is the end of the pipe.
    close(progress[1]);
    worker *workers = open_workers(writers, open_writer);
    if (subscribers) await_progress();
    perform(workers, writers, commit);
    for (int64_t i = 0; i < writers; i++) close_writer(workers[i].connection);
    int status = 0;
    if (subscribers) waitpid(process, &status, 0);
    if (status) fail("feed", "a subscriber has failed");
    write_times(count);
    sample got = {0, shared->checksum};
    free(workers);
    close(progress[0]);
    munmap(shared, bytes);
    return got;
}

void measure_feed(const char *file) {
    path = file;
    answer_commands();
}
