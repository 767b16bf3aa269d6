// Linux's statx, which Swift's Glibc module does not have.
#include <linux/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// A relative path starts at the working folder.
static inline int larder_statx(const char *path, unsigned int mask, struct statx *status) {
    const int at_fdcwd = -100;
    return (int)syscall(SYS_statx, at_fdcwd, path, 0, mask, status);
}
