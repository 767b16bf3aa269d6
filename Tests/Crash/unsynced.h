// The unsynced writes to the store's files, and the result of a power loss. disk.c calls these
// functions, and holds its lock during each call.

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SECTOR = 512, BUCKETS = 4096, FILES = 64, DESCRIPTORS = 4096 };

typedef struct Version {
    struct Version *older;
    uint64_t operation;
    unsigned char bytes[SECTOR];
} Version;

// A sector that was written since its file's last sync.
typedef struct Sector {
    struct Sector *next;
    off_t index;
    unsigned char durable[SECTOR];
    Version *newest;
} Sector;

typedef struct SizeChange {
    struct SizeChange *older;
    uint64_t operation;
    off_t size;
} SizeChange;

typedef struct {
    bool used;
    // Whether the directory entry survives a power loss.
    bool named_durably;
    // Removed by the process, but not yet from the folder on the disk; `hidden` has its contents.
    bool removed;
    char path[PATH_MAX], hidden[PATH_MAX];
    off_t size, durable_size;
    SizeChange *size_change;
    Sector *sectors[BUCKETS];
} File;

// How a power loss selects among the unsynced writes.
enum Loss { LOSE_ALL, KEEP_ALL, KEEP_FIRST, KEEP_WRITES, KEEP_SECTORS, LOSSES };

static char store[PATH_MAX], folder[PATH_MAX];
static uint64_t random_state, operations, operations_at_sync;
static File files[FILES];
static File *file_of[DESCRIPTORS];
static bool is_folder[DESCRIPTORS];

// xorshift64*; its upper bits have good quality.
static uint64_t below(uint64_t limit) {
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return (random_state * 2685821657736338717ull >> 16) % limit;
}

static _Noreturn void end(const char *reason) {
    dprintf(2, "disk: %s at operation %llu\n", reason, (unsigned long long)operations);
    syscall(SYS_kill, getpid(), SIGKILL);
    for (;;) pause();
}

static void *allocate(size_t size) {
    void *memory = calloc(1, size);
    if (!memory) end("no memory");
    return memory;
}

// MARK: - Unsynced data

static Sector **slot_of(File *file, off_t index) {
    Sector **slot = &file->sectors[index % BUCKETS];
    while (*slot && (*slot)->index != index) slot = &(*slot)->next;
    return slot;
}

static void free_versions(Sector *sector) {
    for (Version *version = sector->newest; version;) {
        Version *older = version->older;
        free(version);
        version = older;
    }
    sector->newest = NULL;
}

static void remove_sector(Sector **slot) {
    Sector *sector = *slot;
    *slot = sector->next;
    free_versions(sector);
    free(sector);
}

static void free_size_changes(File *file) {
    for (SizeChange *change = file->size_change; change;) {
        SizeChange *older = change->older;
        free(change);
        change = older;
    }
    file->size_change = NULL;
}

static void forget(File *file) {
    for (int bucket = 0; bucket < BUCKETS; bucket++)
        while (file->sectors[bucket]) remove_sector(&file->sectors[bucket]);
    free_size_changes(file);
    for (int descriptor = 0; descriptor < DESCRIPTORS; descriptor++)
        if (file_of[descriptor] == file) file_of[descriptor] = NULL;
    file->used = false;
}

// Records the sectors of a range: before a change as durable, after it as a version.
static void remember(File *file, int descriptor, off_t from, off_t to, bool changed) {
    off_t first = from / SECTOR, count = (to + SECTOR - 1) / SECTOR - first;
    if (count <= 0) return;
    unsigned char *bytes = allocate(count * SECTOR);
    if (syscall(SYS_pread64, descriptor, bytes, count * SECTOR, first * SECTOR) < 0)
        end("cannot read back");
    for (off_t each = 0; each < count; each++) {
        Sector **slot = slot_of(file, first + each);
        if (!*slot) {
            *slot = allocate(sizeof(Sector));
            (*slot)->index = first + each;
            memcpy((*slot)->durable, bytes + each * SECTOR, SECTOR);
        }
        if (!changed) continue;
        Version *version = allocate(sizeof(Version));
        *version = (Version){.older = (*slot)->newest, .operation = operations};
        memcpy(version->bytes, bytes + each * SECTOR, SECTOR);
        (*slot)->newest = version;
    }
    free(bytes);
}

static void change_size(File *file, off_t size) {
    if (size == file->size) return;
    SizeChange *change = allocate(sizeof(SizeChange));
    *change = (SizeChange){.older = file->size_change, .operation = operations, .size = size};
    file->size_change = change;
    file->size = size;
}

// A successful sync makes the writes since the last sync durable, whether that one succeeded or
// failed. Writes before a failed sync are not made durable.
static void sync_file(File *file, bool succeeds) {
    for (int bucket = 0; bucket < BUCKETS; bucket++) {
        Sector **slot = &file->sectors[bucket];
        while (*slot) {
            if (!succeeds) free_versions(*slot);
            if (succeeds && (*slot)->newest)
                remove_sector(slot);
            else
                slot = &(*slot)->next;
        }
    }
    if (!succeeds) return;
    free_size_changes(file);
    file->durable_size = file->size;
    operations_at_sync = operations;
}

static void sync_folder(void) {
    for (int each = 0; each < FILES; each++) {
        if (!files[each].used) continue;
        files[each].named_durably = true;
        if (!files[each].removed) continue;
        syscall(SYS_unlink, files[each].hidden);
        forget(&files[each]);
    }
}

// MARK: - Power loss

static enum Loss loss;
static uint64_t last_kept, salt;
static uint64_t sectors_lost, sectors_at_risk, sectors_of_store;

static bool keeps(uint64_t operation) {
    switch (loss) {
        case LOSE_ALL: return false;
        case KEEP_ALL: return true;
        case KEEP_FIRST: return operation < last_kept || (operation == last_kept && below(2));
        case KEEP_WRITES: return (operation * 11400714819323198485ull ^ salt) >> 17 & 1;
        default: return below(2);
    }
}

static void lose_contents(File *file) {
    int descriptor = (int)syscall(SYS_open, file->path, O_RDWR | O_CLOEXEC, 0);
    if (descriptor < 0) end("cannot open what lost power");
    SizeChange *change = file->size_change;
    while (change && !keeps(change->operation)) change = change->older;
    off_t size = change ? change->size : file->durable_size;
    if (syscall(SYS_ftruncate, descriptor, size)) end("cannot truncate");
    for (int bucket = 0; bucket < BUCKETS; bucket++)
        for (Sector *sector = file->sectors[bucket]; sector; sector = sector->next) {
            Version *version = sector->newest;
            while (version && !keeps(version->operation)) version = version->older;
            sectors_at_risk++;
            sectors_of_store += strcmp(file->path, store) == 0;
            if (version != sector->newest || !version) sectors_lost++;
            off_t offset = sector->index * SECTOR;
            size_t length = size - offset < SECTOR ? size - offset : SECTOR;
            if (offset >= size) continue;
            unsigned char *bytes = version ? version->bytes : sector->durable;
            if (syscall(SYS_pwrite64, descriptor, bytes, length, offset) != (ssize_t)length)
                end("cannot undo");
        }
    syscall(SYS_close, descriptor);
}

static _Noreturn void lose_power(void) {
    loss = (enum Loss)below(LOSSES);
    salt = below(UINT64_MAX);
    last_kept = operations - below(operations - operations_at_sync + 1);
    for (int each = 0; each < FILES; each++) {
        File *file = &files[each];
        if (!file->used || file->removed || file->named_durably) continue;
        if (loss != KEEP_ALL && below(2)) {
            syscall(SYS_unlink, file->path);
            file->used = false;
        }
    }
    for (int each = 0; each < FILES; each++) {
        File *file = &files[each];
        if (!file->used || !file->removed) continue;
        // The name is restored, unless another file has it.
        if (loss == KEEP_ALL || below(2) || syscall(SYS_access, file->path, F_OK) == 0) {
            syscall(SYS_unlink, file->hidden);
            file->used = false;
        } else {
            syscall(SYS_rename, file->hidden, file->path);
        }
    }
    for (int each = 0; each < FILES; each++)
        if (files[each].used) lose_contents(&files[each]);
    char reason[128];
    snprintf(
        reason, sizeof reason, "power lost, %llu of %llu sectors, %llu at risk in the store",
        (unsigned long long)sectors_lost, (unsigned long long)sectors_at_risk,
        (unsigned long long)sectors_of_store);
    end(reason);
}
