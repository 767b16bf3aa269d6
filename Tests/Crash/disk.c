// A disk that fails on purpose. Preloaded into larderd (LD_PRELOAD), it intercepts the system calls
// for the files of one store, passes their contents on, and injects failures:
//
//   LARDER_DISK_STORE     the store's path; files whose path begins with it are this disk's
//   LARDER_DISK_SEED      the seed of the disk's random choices
//   LARDER_DISK_KILL_AT   the process is killed at this operation, possibly after half of it
//   LARDER_DISK_POWER_AT  power is lost at this operation: a random part of the unsynced writes is
//                         undone, and the process is killed
//   LARDER_DISK_ERROR_AT  this operation of LARDER_DISK_KINDS (characters: w write,
//                         s sync, f sync of the folder, t truncate, u unlink, r read) fails with
//                         LARDER_DISK_ERRNO, and so do all later ones if LARDER_DISK_FOREVER is
//                         set
//   LARDER_DISK_LIES      syncs succeed and do nothing
//   LARDER_DISK_STALL     a sync waits while this file exists
//   LARDER_DISK_AFTER     operations are numbered, and fail, only after this file was first seen
//
// Operations are numbered from 1, without reads. Effects of a power loss:
// - each sector of 512 bytes has any of its versions since its file's last sync, so that writes are
//   lost, kept, torn between sectors, and reordered;
// - a file's size, and its directory entry until the folder is synced, are lost in the same way;
// - data of a failed sync is not written by a later sync that succeeds, as on Linux.
// Real syncs are not made: no file here has to survive a real power loss. Other ways to write (a
// shared mapping, fallocate) cannot be intercepted in this way, so they end the process.

#define _GNU_SOURCE
#include "unsynced.h"

#include <pthread.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *kinds = "";
static uint64_t kill_at, power_at, error_at;
static int error_number;
static bool errors_forever, lies;
static const char *stall, *after;
static bool has_begun;
// Operations since the first one that counts, and those of the kinds that fail.
static uint64_t counted, matched;

static uint64_t number(const char *name) {
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : 0;
}

__attribute__((constructor)) static void configure(void) {
    const char *path = getenv("LARDER_DISK_STORE");
    if (!path || strlen(path) >= PATH_MAX - 64) return;
    strcpy(store, path);
    strcpy(folder, path);
    char *slash = strrchr(folder, '/');
    if (slash) *slash = 0;
    kinds = getenv("LARDER_DISK_KINDS") ? getenv("LARDER_DISK_KINDS") : "";
    kill_at = number("LARDER_DISK_KILL_AT");
    power_at = number("LARDER_DISK_POWER_AT");
    error_at = number("LARDER_DISK_ERROR_AT");
    error_number = (int)number("LARDER_DISK_ERRNO");
    errors_forever = number("LARDER_DISK_FOREVER") != 0;
    lies = number("LARDER_DISK_LIES") != 0;
    stall = getenv("LARDER_DISK_STALL");
    after = getenv("LARDER_DISK_AFTER");
    has_begun = !after;
    // All bits are used; the state is never zero.
    random_state = (number("LARDER_DISK_SEED") + 1) * 0x9e3779b97f4a7c15ull | 1;
}

// MARK: - Operations

// `operations` orders the versions of sectors, so every operation has a number there.
static void count_operation(void) {
    operations++;
    if (!has_begun) has_begun = syscall(SYS_access, after, F_OK) == 0;
    if (has_begun) counted++;
}

static bool is_reached(uint64_t number) { return number && counted == number; }

static bool fails(char kind) {
    if (!has_begun || !strchr(kinds, kind)) return false;
    matched++;
    if (error_at == 0 || matched < error_at || (matched > error_at && !errors_forever))
        return false;
    if (matched == error_at) dprintf(2, "disk: error at %c\n", kind);
    errno = error_number;
    return true;
}

static File *file_at(int descriptor) {
    return descriptor >= 0 && descriptor < DESCRIPTORS ? file_of[descriptor] : NULL;
}

static ssize_t write_through(
    File *file, int descriptor, const void *bytes, size_t length, off_t offset
) {
    remember(file, descriptor, offset, offset + length, false);
    ssize_t written = syscall(SYS_pwrite64, descriptor, bytes, length, offset);
    if (written <= 0) return written;
    off_t end = offset + written;
    remember(file, descriptor, offset, end, true);
    change_size(file, end > file->size ? end : file->size);
    return written;
}

static ssize_t write_at(int descriptor, const void *bytes, size_t length, off_t offset) {
    File *file = file_at(descriptor);
    if (!file) return syscall(SYS_pwrite64, descriptor, bytes, length, offset);
    pthread_mutex_lock(&lock);
    count_operation();
    bool is_killed = is_reached(kill_at), fail = fails('w');
    int reason = errno;
    // A write that fails or is interrupted may have written a part.
    size_t part = is_killed || fail ? below(length / SECTOR + 1) * SECTOR : length;
    ssize_t written = part ? write_through(file, descriptor, bytes, part, offset) : 0;
    if (is_killed) end("killed");
    if (is_reached(power_at)) lose_power();
    if (fail) {
        written = -1;
        errno = reason;
    }
    pthread_mutex_unlock(&lock);
    return written;
}

ssize_t pwrite(int descriptor, const void *bytes, size_t length, off_t offset) {
    return write_at(descriptor, bytes, length, offset);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t length, off64_t offset) {
    return write_at(descriptor, bytes, length, offset);
}

static ssize_t read_at(int descriptor, void *bytes, size_t length, off_t offset) {
    if (file_at(descriptor) && strchr(kinds, 'r')) {
        pthread_mutex_lock(&lock);
        bool fail = fails('r');
        pthread_mutex_unlock(&lock);
        if (fail) return -1;
    }
    return syscall(SYS_pread64, descriptor, bytes, length, offset);
}

ssize_t pread(int descriptor, void *bytes, size_t length, off_t offset) {
    return read_at(descriptor, bytes, length, offset);
}

ssize_t pread64(int descriptor, void *bytes, size_t length, off64_t offset) {
    return read_at(descriptor, bytes, length, offset);
}

static int truncate_to(int descriptor, off_t size) {
    File *file = file_at(descriptor);
    if (!file) return (int)syscall(SYS_ftruncate, descriptor, size);
    pthread_mutex_lock(&lock);
    count_operation();
    if (is_reached(kill_at)) end("killed");
    int result = -1;
    if (!fails('t')) {
        off_t end = file->size;
        remember(file, descriptor, size, end, false);
        result = (int)syscall(SYS_ftruncate, descriptor, size);
        remember(file, descriptor, size, end, true);
        change_size(file, size);
    }
    if (is_reached(power_at)) lose_power();
    pthread_mutex_unlock(&lock);
    return result;
}

int ftruncate(int descriptor, off_t size) { return truncate_to(descriptor, size); }
int ftruncate64(int descriptor, off64_t size) { return truncate_to(descriptor, size); }

static int sync_descriptor(int descriptor, long call) {
    bool of_folder = descriptor >= 0 && descriptor < DESCRIPTORS && is_folder[descriptor];
    if (!file_at(descriptor) && !of_folder) return (int)syscall(call, descriptor);
    // A real disk takes time, in which other writes accumulate.
    do
        nanosleep(&(struct timespec){.tv_nsec = 100 * 1000}, NULL);
    while (stall && syscall(SYS_access, stall, F_OK) == 0);
    pthread_mutex_lock(&lock);
    count_operation();
    if (is_reached(kill_at)) end("killed");
    // Power loss during a sync keeps a part of the writes; the sync has not returned.
    if (is_reached(power_at)) lose_power();
    bool fail = fails(of_folder ? 'f' : 's');
    if (!lies && of_folder && !fail) sync_folder();
    if (!lies && !of_folder) sync_file(file_at(descriptor), !fail);
    pthread_mutex_unlock(&lock);
    if (fail) errno = error_number;
    return fail ? -1 : 0;
}

int fsync(int descriptor) { return sync_descriptor(descriptor, SYS_fsync); }
int fdatasync(int descriptor) { return sync_descriptor(descriptor, SYS_fdatasync); }

// MARK: - Names and descriptors

static bool is_ours(const char *path) {
    return store[0] && strncmp(path, store, strlen(store)) == 0;
}

static File *named(const char *path) {
    for (int each = 0; each < FILES; each++)
        if (files[each].used && !files[each].removed && strcmp(files[each].path, path) == 0)
            return &files[each];
    return NULL;
}

static File *add(const char *path, off_t size, bool is_new) {
    for (int each = 0; each < FILES; each++) {
        if (files[each].used) continue;
        memset(&files[each], 0, sizeof files[each]);
        files[each].used = true;
        files[each].named_durably = !is_new;
        files[each].size = files[each].durable_size = size;
        snprintf(files[each].path, PATH_MAX, "%s", path);
        return &files[each];
    }
    end("too many files");
}

static int open_at(const char *path, int flags, mode_t mode) {
    bool of_folder = store[0] && strcmp(path, folder) == 0;
    if (!is_ours(path) && !of_folder) return (int)syscall(SYS_open, path, flags, mode);
    pthread_mutex_lock(&lock);
    bool is_new = syscall(SYS_access, path, F_OK) != 0;
    int descriptor = (int)syscall(SYS_open, path, flags, mode);
    if (descriptor >= DESCRIPTORS) end("too many descriptors");
    if (descriptor >= 0 && of_folder) is_folder[descriptor] = true;
    if (descriptor >= 0 && !of_folder) {
        struct stat status;
        if (fstat(descriptor, &status)) end("no status");
        if (flags & O_TRUNC && status.st_size) end("truncated by opening, which is not modelled");
        File *file = named(path);
        file_of[descriptor] = file ? file : add(path, status.st_size, is_new);
    }
    pthread_mutex_unlock(&lock);
    return descriptor;
}

int open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return open_at(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return open_at(path, flags, mode);
}

int close(int descriptor) {
    pthread_mutex_lock(&lock);
    if (descriptor >= 0 && descriptor < DESCRIPTORS) {
        file_of[descriptor] = NULL;
        is_folder[descriptor] = false;
    }
    pthread_mutex_unlock(&lock);
    return (int)syscall(SYS_close, descriptor);
}

int unlink(const char *path) {
    if (!is_ours(path)) return (int)syscall(SYS_unlink, path);
    pthread_mutex_lock(&lock);
    count_operation();
    if (is_reached(kill_at)) end("killed");
    int result = -1;
    if (!fails('u')) {
        File *file = named(path);
        struct stat status;
        if (!file && stat(path, &status) == 0) file = add(path, status.st_size, false);
        if (file && file->named_durably) {
            snprintf(
                file->hidden, PATH_MAX, "%.4000s/removed-%llu", folder,
                (unsigned long long)operations);
            file->removed = true;
            result = (int)syscall(SYS_rename, path, file->hidden);
        } else {
            result = (int)syscall(SYS_unlink, path);
            if (file) forget(file);
        }
    }
    if (is_reached(power_at)) lose_power();
    pthread_mutex_unlock(&lock);
    return result;
}

void *mmap(void *address, size_t length, int protection, int flags, int descriptor, off_t offset) {
    if (file_at(descriptor)) end("the store is mapped, which is not modelled");
    return (void *)syscall(SYS_mmap, address, length, protection, flags, descriptor, offset);
}

void *mmap64(
    void *address, size_t length, int protection, int flags, int descriptor, off64_t offset
) {
    return mmap(address, length, protection, flags, descriptor, offset);
}

int fallocate(int descriptor, int mode, off_t offset, off_t length) {
    if (file_at(descriptor)) end("space is reserved, which is not modelled");
    return (int)syscall(SYS_fallocate, descriptor, mode, offset, length);
}
