import CLinux

/// How much freed memory the process keeps. A server in a user's process leaves that to it.
enum ProcessMemory {
    /// Larger blocks of memory are returned to the system when they are freed. By default glibc
    /// keeps blocks of up to 32 MiB, in each of the areas that it has for the threads.
    private static let keptBlockBytesMax: Int32 = 256 << 10
    /// More free memory than this at the end of a thread's area is returned to the system. With
    /// glibc's 128 KiB, a reader would return its page cache after each commit, and the system
    /// would clear as many pages again for the next query.
    private static let keptEndBytesMax: Int32 = 8 << 20

    static func boundKeptMemory() {
        mallopt(M_MMAP_THRESHOLD, keptBlockBytesMax)
        mallopt(M_TRIM_THRESHOLD, keptEndBytesMax)
    }

    /// Returns all free pages to the system, also those between blocks that are in use.
    static func release() { malloc_trim(0) }
}
