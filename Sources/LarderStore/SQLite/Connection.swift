import CSQLite
import Glibc
import LarderModel
import LarderQuery
import LarderSQL

/// One connection to SQLite, and the sole owner of its handle.
///
/// Used by one thread at a time, because it is opened without SQLite's own mutex. Other threads
/// stop a statement by the cancellation of its budget. Statements keep their connection alive, so
/// the handle outlives them.
final class Connection {
    /// For the extensions in this folder only.
    let handle: OpaquePointer
    let limit = ExecutionLimit()
    /// Where the functions of the store report their errors.
    let functionFaults = FunctionFaults()
    let logWatch = LogWatch()
    let copyWatch = CopyWatch()
    let lockWait = LockWait()

    /// Opens a file with the VFS `unix-excl`: other connections of this process may open it too,
    /// but no other process can.
    ///
    /// The connection reads and writes; `PRAGMA query_only` makes it a reader. A read-only open
    /// would weaken the process's lock: its read lock would replace the exclusive lock, because
    /// POSIX locks belong to the process.
    ///
    init(path: String, createIfMissing: Bool) throws(SQLError) {
        // Debian's SQLite reads `file:…` as a URI and `:memory:` as a keyword. "./" prevents that.
        let literalPath = path.hasPrefix("/") ? path : "./" + path
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw SQLError(.cannotOpen, "the path is empty or has a zero byte")
        }
        _ = Connection.isLibraryConfigured
        var opened: OpaquePointer?
        let flags =
            SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
            | (createIfMissing ? SQLITE_OPEN_CREATE : 0)
        let result = sqlite3_open_v2(literalPath, &opened, flags, "unix-excl")
        guard let opened else {
            throw SQLError(.outOfMemory, "no memory for a connection")
        }
        guard result == SQLITE_OK else {
            let error = SQLError(opened, result)
            sqlite3_close_v2(opened)
            throw error
        }
        handle = opened
        configure()
    }

    /// Opens a file of another program to read it. It takes part in that program's locks.
    init(readingForeign path: String) throws(SQLError) {
        let literalPath = path.hasPrefix("/") ? path : "./" + path
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw SQLError(.cannotOpen, "the path is empty or has a zero byte")
        }
        _ = Connection.isLibraryConfigured
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let result = sqlite3_open_v2(literalPath, &opened, flags, "unix")
        guard let opened else {
            throw SQLError(.outOfMemory, "no memory for a connection")
        }
        guard result == SQLITE_OK else {
            let error = SQLError(opened, result)
            sqlite3_close_v2(opened)
            throw error
        }
        handle = opened
        configure()
    }

    /// Switches off SQLite's memory statistics, which take a global mutex for each allocation.
    private static let isLibraryConfigured = larder_sqlite3_forget_memory_use() == SQLITE_OK

    /// Settings that make a damaged or malicious file less dangerous and errors in SQL visible.
    private func configure() {
        let settings: [(Int32, Int32)] = [
            (SQLITE_DBCONFIG_DEFENSIVE, 1),
            (SQLITE_DBCONFIG_DQS_DML, 0),
            (SQLITE_DBCONFIG_DQS_DDL, 0),
            (SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
            (SQLITE_DBCONFIG_ENABLE_TRIGGER, 0),
            (SQLITE_DBCONFIG_ENABLE_VIEW, 0),
            (SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0),
        ]
        for (option, value) in settings { larder_sqlite3_configure(handle, option, value) }
        setValueBytesMax(Connection.valueBytesMax)
    }

    /// Values arrive in frames of 16 MiB unless the store has longer objects. Functions may return
    /// larger ones, within this limit.
    private static let valueBytesMax: Int32 = 64 << 20

    /// Accepts objects of this size.
    func setObjectBytesMax(_ count: Int) {
        setValueBytesMax(max(Self.valueBytesMax, Int32(clamping: count)))
    }

    /// Limits the size of strings, blobs and rows; larger ones fail with `tooLarge`.
    func setValueBytesMax(_ count: Int32) {
        sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, count)
    }

    /// Lets triggers of this connection write virtual tables, which the file's own cannot: they are
    /// switched off. Only for a file whose tables are known to be those of a store.
    func allowTriggersOnVirtualTables() {
        larder_sqlite3_configure(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 1)
    }

    /// Switches off the checkpoint when this connection is the last to close.
    func disableCheckpointOnClose() {
        larder_sqlite3_configure(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    }

    deinit {
        sqlite3_close_v2(handle)
    }

    /// Runs statements without parameters, separated by `;`, and discards their rows.
    func execute(_ sql: SQL) throws(SQLError) {
        precondition(sql.parameters.isEmpty, "values are bound to prepared statements")
        let result = sqlite3_exec(handle, sql.text, nil, nil, nil)
        guard result == SQLITE_OK else { throw SQLError(handle, result, sql: sql.text) }
    }

    /// Compiles one statement.
    ///
    /// - Parameter persistent: Whether it will be used for a long time, which SQLite's allocator
    ///   takes into account.
    func prepare(_ sql: SQL, persistent: Bool = false) throws(SQLError) -> Statement {
        try Statement(sql.text, persistent: persistent, on: self)
    }

    /// The number of rows that the last insert, update or delete changed.
    var changes: Int64 { sqlite3_changes64(handle) }

    var lastInsertedRowID: Int64 { sqlite3_last_insert_rowid(handle) }

    /// Releases the memory of cached pages.
    func releaseMemory() { sqlite3_db_release_memory(handle) }

    /// Whether no transaction is open.
    var autocommit: Bool { sqlite3_get_autocommit(handle) != 0 }

    /// Whether the file could not be opened for writing.
    var isReadOnly: Bool { sqlite3_db_readonly(handle, "main") == 1 }

    /// Whether the open file is not the one at its path.
    var hasMoved: Bool {
        var moved: Int32 = 0
        sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved)
        return moved != 0
    }

    /// The paths of the file and of its log, also if the file was opened through a link. They are
    /// repaired if they are not UTF-8.
    var path: String { sqlite3_db_filename(handle, "main").map { String(cString: $0) } ?? "" }
    var logPath: String { path + "-wal" }

    /// The path of the folder with the file, its journal and its log, also if the file was opened
    /// through a link. It ends with a zero and need not be UTF-8.
    var folder: [CChar] {
        guard let path = sqlite3_db_filename(handle, "main") else { return [0] }
        let bytes = UnsafeBufferPointer(start: path, count: strlen(path))
        let slash = bytes.lastIndex(of: CChar(bitPattern: UInt8(ascii: "/"))) ?? 0
        // At the root the slash is the folder.
        return bytes.prefix(max(slash, 1)) + [0]
    }

    /// The first column of a statement's first row as an integer; nil if there is no row or value.
    func integer(_ sql: SQL) throws(SQLError) -> Int64? {
        let statement = try prepare(sql)
        guard try statement.step(), !statement.isNull(at: 0) else { return nil }
        return statement.int64(at: 0)
    }

    /// Limits the statements that run from now on; nil removes the limit. A statement that exceeds
    /// it fails with `interrupted`, and ``stopReason`` has the reason.
    func setBudget(_ budget: ReadBudget?) {
        limit.start(budget)
        callHandler(every: limit.interval ?? limit.progressInterval)
    }

    /// Advances a counter whenever this connection works, from now on.
    func report(to progress: WriterProgress) {
        limit.progress = progress
        setBudget(nil)
    }

    /// - Parameter interval: Steps of SQLite's virtual machine; nil for no handler.
    private func callHandler(every interval: Int32?) {
        guard let interval else {
            sqlite3_progress_handler(handle, 0, nil, nil)
            return
        }
        // Unretained: the connection closes the handle.
        let context = Unmanaged.passUnretained(self).toOpaque()
        sqlite3_progress_handler(
            handle, interval,
            { context in
                guard let context else { return 0 }
                let connection = Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue()
                return connection.limit.advance() ? 0 : 1
            }, context)
    }

    /// The reason for which statements were stopped since the last ``setBudget(_:)``.
    var stopReason: StopReason? { limit.stopReason }
}
