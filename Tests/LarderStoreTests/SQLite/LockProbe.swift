import CSQLite

@testable import LarderStore

/// The file of a connection, with the functions by which SQLite locks it. They are called here as
/// SQLite calls them.
struct DatabaseFile {
    /// The locks of a log's index, by their numbers in SQLite.
    enum Slot: Int32 {
        case write = 0
        case checkpoint = 1
        case recover = 2
        case firstReader = 3
    }

    struct NoFile: Error {}

    private let connection: Connection
    let file: UnsafeMutablePointer<sqlite3_file>

    init(_ connection: Connection) throws {
        self.connection = connection
        var file: UnsafeMutablePointer<sqlite3_file>?
        sqlite3_file_control(connection.handle, "main", SQLITE_FCNTL_FILE_POINTER, &file)
        guard let file else { throw NoFile() }
        self.file = file
    }

    private var methods: sqlite3_io_methods { file.pointee.pMethods.pointee }

    func lock(_ slot: Slot) -> Int32 {
        methods.xShmLock(file, slot.rawValue, 1, SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE)
    }

    func unlock(_ slot: Slot) {
        _ = methods.xShmLock(file, slot.rawValue, 1, SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE)
    }

    /// Asks for the whole file, as a connection does when it closes.
    func lockFile() -> Int32 {
        _ = methods.xLock(file, SQLITE_LOCK_RESERVED)
        return methods.xLock(file, SQLITE_LOCK_EXCLUSIVE)
    }

    func unlockFile() { _ = methods.xUnlock(file, SQLITE_LOCK_SHARED) }

    /// Makes the two copies of the index's header equal or different, as a commit does.
    func changeHeader() throws {
        var start: UnsafeMutableRawPointer?
        let result = methods.xShmMap(file, 0, 32_768, 0, &start)
        guard result == SQLITE_OK, let start else { throw NoFile() }
        // The last byte of the second copy's checksum; each copy has 48 bytes.
        let byte = start.advanced(by: 95)
        byte.storeBytes(of: byte.load(as: UInt8.self) ^ 1, as: UInt8.self)
    }
}

/// Calls back before each attempt of a connection to lock its file, or when a checkpoint has read
/// the header of the log's index, and counts these calls.
///
/// SQLite has a pointer to ``Methods`` until this is removed.
final class LockProbe {
    enum Lock: Hashable {
        /// The file itself.
        case file
        /// Not a lock: a checkpoint asks the file to forget mapped pages, after it has read the
        /// header of the log's index and found that it has changed.
        case headerRead
        case exclusive(DatabaseFile.Slot)
        case shared(DatabaseFile.Slot)
    }

    /// The functions of the file. They must be the first property.
    private struct Methods {
        var methods: sqlite3_io_methods
        let original: UnsafePointer<sqlite3_io_methods>
        let probe: Unmanaged<LockProbe>
    }

    private let file: DatabaseFile
    private let methods = UnsafeMutablePointer<Methods>.allocate(capacity: 1)
    private let lock: Lock
    private let attempt: (Int) -> Int32
    private(set) var attemptCount = 0

    /// - Parameter attempt: Called with the number of the attempt, from 1. Its result is the one of
    ///   the attempt, unless it is `SQLITE_OK`.
    init(_ connection: Connection, _ lock: Lock, _ attempt: @escaping (Int) -> Int32) throws {
        file = try DatabaseFile(connection)
        self.lock = lock
        self.attempt = attempt
        guard let original = file.file.pointee.pMethods else { throw DatabaseFile.NoFile() }
        var changed = original.pointee
        changed.xShmLock = { file, offset, count, flags in
            let methods = LockProbe.methods(of: file)
            let slot = DatabaseFile.Slot(rawValue: min(offset, 3))
            let lock = slot.map { slot -> Lock in
                flags & SQLITE_SHM_EXCLUSIVE != 0 ? .exclusive(slot) : .shared(slot)
            }
            if flags & SQLITE_SHM_LOCK != 0, let lock {
                let result = methods.probe.takeUnretainedValue().attempted(lock)
                if result != SQLITE_OK { return result }
            }
            return methods.original.pointee.xShmLock(file, offset, count, flags)
        }
        changed.xLock = { file, level in
            let methods = LockProbe.methods(of: file)
            let result = methods.probe.takeUnretainedValue().attempted(.file)
            return result == SQLITE_OK ? methods.original.pointee.xLock(file, level) : result
        }
        changed.xUnfetch = { file, offset, page in
            let methods = LockProbe.methods(of: file)
            let result = methods.probe.takeUnretainedValue().attempted(.headerRead)
            let unfetch = methods.original.pointee.xUnfetch
            return result == SQLITE_OK ? unfetch?(file, offset, page) ?? SQLITE_OK : result
        }
        methods.initialize(
            to: Methods(
                methods: changed, original: original, probe: Unmanaged.passUnretained(self)))
        file.file.pointee.pMethods = UnsafePointer(
            UnsafeMutableRawPointer(methods).assumingMemoryBound(to: sqlite3_io_methods.self))
    }

    deinit {
        file.file.pointee.pMethods = methods.pointee.original
        methods.deinitialize(count: 1)
        methods.deallocate()
    }

    private func attempted(_ lock: Lock) -> Int32 {
        guard lock == self.lock else { return SQLITE_OK }
        attemptCount += 1
        return attempt(attemptCount)
    }

    private static func methods(of file: UnsafeMutablePointer<sqlite3_file>?) -> Methods {
        guard let methods = file?.pointee.pMethods else {
            preconditionFailure("SQLite passes the file that it opened")
        }
        return UnsafeRawPointer(methods).assumingMemoryBound(to: Methods.self).pointee
    }
}
