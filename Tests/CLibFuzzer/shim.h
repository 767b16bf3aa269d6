// libFuzzer as a library. Only `scripts/fuzz` links it; every build compiles the program.
#include <stddef.h>
#include <stdint.h>

__attribute__((weak)) int LLVMFuzzerRunDriver(
    int *argc, char ***argv, int (*body)(const uint8_t *bytes, size_t count));

/// Calls `body` for inputs until a limit of `argv` is reached. It returns the exit status, or 64 if
/// the program was linked without libFuzzer.
static inline int runLibFuzzer(
    int *argc, char ***argv, int (*body)(const uint8_t *bytes, size_t count)) {
    return LLVMFuzzerRunDriver ? LLVMFuzzerRunDriver(argc, argv, body) : 64;
}
