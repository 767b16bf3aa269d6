import CSQLite
import Glibc
import LarderModel

/// One connection to SQLite, and the sole owner of its handle.
///
/// Used from one thread at a time: it is opened without SQLite's own mutex. From other threads a
/// statement is stopped through its budget's cancellation. Statements keep their connection alive,
/// so the handle outlives them all.
final class Connection {
    /// Not private, so that the extensions in this folder reach it; nobody else does.
    let handle: OpaquePointer
    let limit = ExecutionLimit()
    let logWatch = LogWatch()
    let handedRows = HandedRowsSlot()

    /// Opens a file with the VFS `unix-excl`: other connections of this process may open it too,
    /// no other process can.
    ///
    /// The connection reads and writes; a reader is made of it by `PRAGMA query_only`. (Opening
    /// read-only would weaken the process's lock: a read lock taken through it replaces the
    /// exclusive one, since POSIX locks belong to the process.)
    ///
    /// - Parameter gathersLog: Whether the log is written as ``GatheredLog`` does: only if each
    ///   commit is synced.
    init(
        path: String, createIfMissing: Bool, gathersLog: Bool = false
    ) throws(SQLiteError) {
        // Debian's SQLite reads `file:…` as a URI and `:memory:` as a word; a path is a path.
        let literalPath = path.hasPrefix("/") ? path : "./" + path
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw SQLiteError(extendedCode: SQLITE_CANTOPEN, message: "the path is empty")
        }
        _ = Connection.isLibraryConfigured
        var opened: OpaquePointer?
        let flags =
            SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
            | (createIfMissing ? SQLITE_OPEN_CREATE : 0)
        let fileSystem =
            gathersLog && GatheredLog.isRegistered
            ? GatheredLog.fileSystemName : GatheredLog.plainFileSystemName
        let result = sqlite3_open_v2(literalPath, &opened, flags, fileSystem)
        guard let opened else {
            throw SQLiteError(extendedCode: SQLITE_NOMEM, message: "no memory for a connection")
        }
        guard result == SQLITE_OK else {
            let error = SQLiteError(opened, result)
            sqlite3_close_v2(opened)
            throw error
        }
        handle = opened
        configure()
    }

    /// SQLite keeps no account of its memory: all threads would take turns at it, each time they
    /// allocate, and nobody reads it.
    private static let isLibraryConfigured = larder_sqlite3_forget_memory_use() == SQLITE_OK

    /// Settings that make a damaged or hostile file less dangerous, and mistakes of ours visible.
    private func configure() {
        let settings: [(Int32, Int32)] = [
            (SQLITE_DBCONFIG_DEFENSIVE, 1),
            (SQLITE_DBCONFIG_DQS_DML, 0),
            (SQLITE_DBCONFIG_DQS_DDL, 0),
            (SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
            (SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0),
        ]
        for (option, value) in settings { larder_sqlite3_configure(handle, option, value) }
        setValueBytesMax(Connection.valueBytesMax)
    }

    /// Values come in frames of 16 MiB; what functions make of them may be larger, not boundless.
    private static let valueBytesMax: Int32 = 64 << 20

    /// Bounds strings, blobs and rows; larger ones fail with `SQLITE_TOOBIG`.
    func setValueBytesMax(_ count: Int32) {
        sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, count)
    }

    /// Leaves the log alone when this connection is the last to close.
    func disableCheckpointOnClose() {
        larder_sqlite3_configure(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    }

    deinit {
        sqlite3_close_v2(handle)
    }

    /// Runs statements without bindings, separated by `;`, and discards their rows.
    func execute(_ text: String) throws(SQLiteError) {
        let result = sqlite3_exec(handle, text, nil, nil, nil)
        guard result == SQLITE_OK else { throw SQLiteError(handle, result, sql: text) }
    }

    /// Compiles one statement. `persistent` tells SQLite that it will be kept for long.
    func prepare(_ text: String, persistent: Bool = false) throws(SQLiteError) -> Statement {
        try Statement(text, persistent: persistent, on: self)
    }

    /// Rows that the last insert, update or delete changed.
    var changes: Int64 { sqlite3_changes64(handle) }

    var lastInsertedRowID: Int64 { sqlite3_last_insert_rowid(handle) }

    /// Whether no transaction is open.
    var autocommit: Bool { sqlite3_get_autocommit(handle) != 0 }

    /// Whether the file could not be opened for writing.
    var isReadOnly: Bool { sqlite3_db_readonly(handle, "main") == 1 }

    /// The path of the folder that has the file, its journal and its log, also where a link led to
    /// the file. It ends with a zero, and need not be UTF-8.
    var folder: [CChar] {
        guard let path = sqlite3_db_filename(handle, "main") else { return [0] }
        let bytes = UnsafeBufferPointer(start: path, count: strlen(path))
        let slash = bytes.lastIndex(of: CChar(bitPattern: UInt8(ascii: "/"))) ?? 0
        // At the root the slash is the folder.
        return bytes.prefix(max(slash, 1)) + [0]
    }

    /// The first column of a statement's first row as an integer; nil without a row or value.
    func integer(_ text: String) throws(SQLiteError) -> Int64? {
        let statement = try prepare(text)
        guard try statement.step(), !statement.isNull(at: 0) else { return nil }
        return statement.int64(at: 0)
    }

    /// Bounds the statements that run from now on; `nil` lifts the bound. Past it they fail with
    /// `SQLITE_INTERRUPT`, and ``stopReason`` says why.
    func setBudget(_ budget: ReadBudget?) {
        limit.start(budget)
        guard let interval = limit.interval else {
            sqlite3_progress_handler(handle, 0, nil, nil)
            return
        }
        // Unretained: the handle lives no longer than the connection.
        let context = Unmanaged.passUnretained(self).toOpaque()
        sqlite3_progress_handler(
            handle, interval,
            { context in
                guard let context else { return 0 }
                let connection = Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue()
                return connection.limit.advance() ? 0 : 1
            }, context)
    }

    /// Why statements were stopped since the last ``setBudget(_:)``.
    var stopReason: StopReason? { limit.stopReason }
}

extension SQLiteError {
    /// The error that a call on this handle has just returned.
    init(_ handle: OpaquePointer, _ result: Int32, sql: String? = nil) {
        // SQLite keeps the system's reason of a statement that fails, not of a commit that does;
        // then it still stands in `errno`, where no later call of SQLite's has failed.
        let lastFailure = errno
        let extended = sqlite3_extended_errcode(handle)
        let recorded = sqlite3_system_errno(handle)
        self.init(
            extendedCode: extended & 0xff == result & 0xff ? extended : result,
            message: String(cString: sqlite3_errmsg(handle)), sql: sql,
            systemError: recorded == 0 && result & 0xff == SQLITE_IOERR ? lastFailure : recorded)
    }
}
