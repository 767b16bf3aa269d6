import CSQLite
import Glibc
import LarderModel
import Synchronization

/// The memory of SQLite in this process: counted, and limited as the last line of defence after the
/// bounds of caches and requests.
///
/// It replaces `sqlite3_hard_heap_limit64`, which needs SQLite's memory statistics and so a global
/// mutex for each allocation. An allocation beyond the limit fails. The request that needs it ends
/// with `resourceExhausted`; nothing else happens. The writer may use a reserve, so that reads do
/// not make it fail.
///
/// A process that serves a store for itself sets no limit, and keeps the allocator that it has.
package enum DatabaseMemory {
    /// The memory that the writer may use beyond the limit: its page cache, and the changes of a
    /// long transaction.
    static let writerReserveBytes = 64 << 20

    private static let limit = Atomic(0)
    private static let used = Atomic(0)
    /// SQLite's own allocator. Written once, before SQLite is used, and only read afterwards.
    private nonisolated(unsafe) static var system = sqlite3_mem_methods()
    /// Marks the threads that may use the reserve.
    private static let reserveKey: pthread_key_t = {
        var key = pthread_key_t()
        let result = pthread_key_create(&key, nil)
        precondition(result == 0, "a process has 1,024 keys")
        return key
    }()

    /// Limits the memory of SQLite. It must be called before the first store is opened.
    ///
    /// - Returns: false, without any effect, if SQLite is in use already.
    package static func setLimit(bytes: Int) -> Bool {
        precondition(limit.load(ordering: .relaxed) == 0, "the limit is set once")
        guard larder_sqlite3_get_allocator(&system) == SQLITE_OK else { return false }
        _ = reserveKey
        var methods = system
        methods.xMalloc = { DatabaseMemory.allocate($0) }
        methods.xFree = { DatabaseMemory.free($0) }
        methods.xRealloc = { DatabaseMemory.resize($0, to: $1) }
        guard larder_sqlite3_set_allocator(&methods) == SQLITE_OK else { return false }
        limit.store(bytes, ordering: .relaxed)
        return true
    }

    /// Lets the calling thread use the reserve from now on. It is for the thread of the writer.
    static func useReserve() {
        guard limit.load(ordering: .relaxed) > 0 else { return }
        pthread_setspecific(reserveKey, UnsafeRawPointer(bitPattern: 1))
    }

    /// Metrics for `stats`; none without a limit, because nothing is counted then.
    static var statistics: [Statistic] {
        let limit = limit.load(ordering: .relaxed)
        guard limit > 0 else { return [] }
        return [
            Statistic("databaseMemoryBytes", .int(Int64(used.load(ordering: .relaxed)))),
            Statistic("databaseMemoryBytesMax", .int(Int64(limit))),
        ]
    }

    // MARK: The allocator

    private static func allocate(_ count: Int32) -> UnsafeMutableRawPointer? {
        guard allows(Int(count)), let block = system.xMalloc(count) else { return nil }
        used.add(size(of: block), ordering: .relaxed)
        return block
    }

    private static func free(_ block: UnsafeMutableRawPointer?) {
        guard let block else { return }
        used.subtract(size(of: block), ordering: .relaxed)
        system.xFree(block)
    }

    private static func resize(
        _ block: UnsafeMutableRawPointer?, to count: Int32
    ) -> UnsafeMutableRawPointer? {
        let before = block.map { size(of: $0) } ?? 0
        guard allows(Int(count) - before), let moved = system.xRealloc(block, count) else {
            return nil
        }
        used.add(size(of: moved) - before, ordering: .relaxed)
        return moved
    }

    private static func size(of block: UnsafeMutableRawPointer) -> Int { Int(system.xSize(block)) }

    /// Whether this many more bytes are within the limit. Threads that ask at the same time may
    /// exceed it by what they ask for.
    private static func allows(_ count: Int) -> Bool {
        let total = used.load(ordering: .relaxed) + count
        let limit = limit.load(ordering: .relaxed)
        // Blocks may always become smaller.
        if total <= limit || count <= 0 { return true }
        return total <= limit + writerReserveBytes && pthread_getspecific(reserveKey) != nil
    }
}
