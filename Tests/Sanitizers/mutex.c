// Shows the thread sanitizer the slow paths of Swift's Mutex, which are in a library that is not
// instrumented. Without it, the data of each mutex for which a thread has waited is reported as a
// race. The fast paths are part of the instrumented code. `scripts/sanitize` preloads this library.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

// Defined by programs with the thread sanitizer only.
__attribute__((weak)) void __tsan_acquire(void *address);
__attribute__((weak)) void __tsan_release(void *address);

// The names are those of Synchronization._MutexHandle in Swift 6.
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

typedef __attribute__((swiftcall)) void (*Lock)(
    uint32_t thread, __attribute__((swift_context)) void *mutex);
typedef __attribute__((swiftcall)) void (*Unlock)(__attribute__((swift_context)) void *mutex);

__attribute__((swiftcall)) void lockMutex(
    uint32_t thread, __attribute__((swift_context)) void *mutex) __asm__(LOCK);
__attribute__((swiftcall)) void unlockMutex(
    __attribute__((swift_context)) void *mutex) __asm__(UNLOCK);

__attribute__((swiftcall)) void lockMutex(
    uint32_t thread, __attribute__((swift_context)) void *mutex) {
    ((Lock)dlsym(RTLD_NEXT, LOCK))(thread, mutex);
    if (__tsan_acquire) __tsan_acquire(mutex);
}

__attribute__((swiftcall)) void unlockMutex(__attribute__((swift_context)) void *mutex) {
    if (__tsan_release) __tsan_release(mutex);
    ((Unlock)dlsym(RTLD_NEXT, UNLOCK))(mutex);
}
