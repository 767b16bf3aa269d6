// Linux's statx and renameat2, which Swift's Glibc module does not have. A relative path starts at
// the working folder.
#include <linux/fs.h>
#include <linux/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static const int larder_at_fdcwd = -100;

static inline int larder_statx(const char *path, unsigned int mask, struct statx *status) {
    return (int)syscall(SYS_statx, larder_at_fdcwd, path, 0, mask, status);
}

// Renames a file, and fails with EEXIST if there is one of the new name.
static inline int larder_rename_new(const char *path, const char *new_path) {
    return (int)syscall(
        SYS_renameat2, larder_at_fdcwd, path, larder_at_fdcwd, new_path, RENAME_NOREPLACE);
}
