// Functions of Linux and glibc that Swift's Glibc module lacks. A relative path starts at the working
// folder. The functions set errno as those of glibc do.
#include <linux/fs.h>
#include <linux/stat.h>
#include <malloc.h>
#include <sys/syscall.h>
#include <unistd.h>

// AT_FDCWD, and O_NONBLOCK | O_CLOEXEC, whose headers belong to the Glibc module.
static const int larder_at_fdcwd = -100;
static const int larder_nonblock_cloexec = 04000 | 02000000;

static inline int larder_statx(const char *path, unsigned int mask, struct statx *status) {
    return (int)syscall(SYS_statx, larder_at_fdcwd, path, 0, mask, status);
}

// Renames a file, and fails with EEXIST if there is one of the new name.
static inline int larder_rename_new(const char *path, const char *new_path) {
    return (int)syscall(
        SYS_renameat2, larder_at_fdcwd, path, larder_at_fdcwd, new_path, RENAME_NOREPLACE);
}

// Accepts a connection. Its socket does not block, and is closed when a program is executed.
static inline int larder_accept(int socket) {
    return (int)syscall(SYS_accept4, socket, 0, 0, larder_nonblock_cloexec);
}

// A descriptor that can be read after 8 bytes have been written to it.
static inline int larder_event(void) {
    return (int)syscall(SYS_eventfd2, 0, larder_nonblock_cloexec);
}

// The number of processors to which the process is bound; 0 if it cannot be found.
static inline int larder_bound_processors(void) {
    unsigned long set[1024];
    long bytes = syscall(SYS_sched_getaffinity, 0, sizeof set, set);
    int count = 0;
    for (long index = 0; index < bytes / (long)sizeof *set; index++)
        count += __builtin_popcountl(set[index]);
    return count;
}
