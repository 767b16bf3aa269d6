import CSQLite
import Glibc

/// A file system for SQLite that is `unix-excl` but for the write-ahead log: what a transaction
/// appends to the log is written in one piece, before it is synced.
///
/// SQLite writes each page to the log by itself, and its header before it: two calls of the system
/// a page, which take longer than all else that SQLite does for a short commit.
///
/// Only for a connection that syncs the log at each commit (`synchronous = full`): other
/// connections read the log's pages once the commit is done, and by then they have been written.
/// What the connection itself reads of the log, cuts off or asks of it is preceded by the write.
enum GatheredLog {
    static let fileSystemName = "larder-gathered-log"
    static let plainFileSystemName = "unix-excl"

    /// Whether SQLite knows the file system, which this sees to.
    static let isRegistered: Bool = {
        guard let base = sqlite3_vfs_find(plainFileSystemName) else { return false }
        let own = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        own.initialize(to: base.pointee)
        own.pointee.zName = UnsafePointer(strdup(fileSystemName))
        own.pointee.pNext = nil
        own.pointee.szOsFile += Int32(headBytes)
        own.pointee.xOpen = open
        // Both live as long as the process.
        return sqlite3_vfs_register(own, 0) == SQLITE_OK
    }()

    /// What stands in front of the file of `unix-excl`, in memory that SQLite provides.
    fileprivate struct Head {
        var file: sqlite3_file
        var writes: Unmanaged<GatheredWrites>
    }

    private static var headBytes: Int { MemoryLayout<Head>.stride }

    private static let open:
        @convention(c) (
            UnsafeMutablePointer<sqlite3_vfs>?, UnsafePointer<CChar>?,
            UnsafeMutablePointer<sqlite3_file>?, Int32, UnsafeMutablePointer<Int32>?
        ) -> Int32 = { _, path, file, flags, flagsSet in
            guard let base = sqlite3_vfs_find(plainFileSystemName), let file else {
                return SQLITE_CANTOPEN
            }
            // All other files are those of `unix-excl` and nothing else.
            guard flags & SQLITE_OPEN_WAL != 0 else {
                return base.pointee.xOpen(base, path, file, flags, flagsSet)
            }
            let memory = UnsafeMutableRawPointer(file)
            let real = (memory + headBytes).bindMemory(to: sqlite3_file.self, capacity: 1)
            let result = base.pointee.xOpen(base, path, real, flags, flagsSet)
            guard result == SQLITE_OK else {
                // SQLite closes what has methods, opened or not.
                if real.pointee.pMethods != nil { _ = real.pointee.pMethods.pointee.xClose(real) }
                file.pointee.pMethods = nil
                return result
            }
            let head = Head(
                file: sqlite3_file(pMethods: methods),
                writes: Unmanaged.passRetained(GatheredWrites(real)))
            memory.bindMemory(to: Head.self, capacity: 1).initialize(to: head)
            return SQLITE_OK
        }

    /// Of the first version: the later ones have what only the database's file needs. Nobody writes
    /// to them once they are made.
    private nonisolated(unsafe) static let methods: UnsafePointer<sqlite3_io_methods> = {
        var methods = sqlite3_io_methods()
        methods.iVersion = 1
        methods.xClose = { file in
            let writes = head(file).takeUnretainedValue()
            _ = writes.flush()
            let result = writes.methods.xClose(writes.real)
            head(file).release()
            return result
        }
        methods.xRead = { file, bytes, count, offset in
            flushed(file) { $0.xRead($1, bytes, count, offset) }
        }
        methods.xWrite = { file, bytes, count, offset in
            head(file)._withUnsafeGuaranteedRef { writes in
                writes.write(UnsafeRawBufferPointer(start: bytes, count: Int(count)), at: offset)
            }
        }
        methods.xTruncate = { file, size in flushed(file) { $0.xTruncate($1, size) } }
        methods.xSync = { file, flags in flushed(file) { $0.xSync($1, flags) } }
        methods.xFileSize = { file, size in flushed(file) { $0.xFileSize($1, size) } }
        methods.xLock = { file, kind in flushed(file) { $0.xLock($1, kind) } }
        methods.xUnlock = { file, kind in flushed(file) { $0.xUnlock($1, kind) } }
        methods.xCheckReservedLock = { file, result in
            flushed(file) { $0.xCheckReservedLock($1, result) }
        }
        methods.xFileControl = { file, code, argument in
            flushed(file) { $0.xFileControl($1, code, argument) }
        }
        methods.xSectorSize = { file in
            let writes = head(file).takeUnretainedValue()
            return writes.methods.xSectorSize(writes.real)
        }
        methods.xDeviceCharacteristics = { file in
            let writes = head(file).takeUnretainedValue()
            return writes.methods.xDeviceCharacteristics(writes.real)
        }
        let kept = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
        kept.initialize(to: methods)
        return UnsafePointer(kept)
    }()

    private static func head(
        _ file: UnsafeMutablePointer<sqlite3_file>?
    ) -> Unmanaged<GatheredWrites> {
        guard let file else { preconditionFailure("SQLite calls methods of files") }
        return UnsafeMutableRawPointer(file).assumingMemoryBound(to: Head.self).pointee.writes
    }

    /// As ``GatheredWrites/flushed(_:)``.
    private static func flushed(
        _ file: UnsafeMutablePointer<sqlite3_file>?,
        _ call: (sqlite3_io_methods, UnsafeMutablePointer<sqlite3_file>) -> Int32
    ) -> Int32 {
        head(file).takeUnretainedValue().flushed(call)
    }
}

/// What is to be written to a file, one piece behind the other. Used on the thread of the
/// connection whose file it is.
private final class GatheredWrites {
    /// Sixteen pages with their headers, as many as a group of short saves changes.
    private static let bytesMax = 16 * (4_096 + 24)

    let real: UnsafeMutablePointer<sqlite3_file>
    private var memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private var start: Int64 = 0
    private var count = 0

    init(_ real: UnsafeMutablePointer<sqlite3_file>) { self.real = real }

    deinit { memory.deallocate() }

    var methods: sqlite3_io_methods { real.pointee.pMethods.pointee }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) -> Int32 {
        if count > 0, offset != start + Int64(count) || count + bytes.count > memory.count {
            let result = flush()
            guard result == SQLITE_OK else { return result }
        }
        guard bytes.count <= Self.bytesMax else {
            return writeNow(bytes, at: offset)
        }
        if memory.count == 0 {
            memory = .allocate(byteCount: Self.bytesMax, alignment: 8)
        }
        if count == 0 { start = offset }
        UnsafeMutableRawBufferPointer(rebasing: memory[count...]).copyMemory(from: bytes)
        count += bytes.count
        return SQLITE_OK
    }

    /// Writes what was gathered. What cannot be written is forgotten: SQLite gives the transaction
    /// up that it is of, and writes those pages again with the next one.
    func flush() -> Int32 {
        guard count > 0 else { return SQLITE_OK }
        defer { count = 0 }
        return writeNow(UnsafeRawBufferPointer(rebasing: memory[..<count]), at: start)
    }

    private func writeNow(_ bytes: UnsafeRawBufferPointer, at offset: Int64) -> Int32 {
        methods.xWrite(real, bytes.baseAddress, Int32(bytes.count), offset)
    }

    /// Calls a method of the real file, once all has been written.
    func flushed(
        _ call: (sqlite3_io_methods, UnsafeMutablePointer<sqlite3_file>) -> Int32
    ) -> Int32 {
        let result = flush()
        return result == SQLITE_OK ? call(methods, real) : result
    }
}
