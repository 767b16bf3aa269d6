import CSQLite

/// How far the write-ahead log has grown, as its last commit reported. Used on the connection's
/// thread only: SQLite reports from within `step`.
final class LogWatch {
    fileprivate(set) var pageCount = 0
}

extension Connection {
    enum Checkpoint: Hashable, Sendable {
        /// As far as readers allow, waiting for nobody.
        case passive
        /// All of it, and then the log is empty; fails with `SQLITE_BUSY` while readers need it.
        case truncate
    }

    /// Keeps ``logPageCount`` up to date from now on. SQLite's own automatic checkpoint ends.
    func watchLog() {
        // Unretained: the watch lives as long as the connection, and the handle no longer.
        let context = Unmanaged.passUnretained(logWatch).toOpaque()
        sqlite3_wal_hook(
            handle,
            { context, _, _, pageCount in
                guard let context else { return SQLITE_OK }
                Unmanaged<LogWatch>.fromOpaque(context).takeUnretainedValue().pageCount =
                    Int(pageCount)
                return SQLITE_OK
            }, context)
    }

    /// Pages in the log after the last commit of this connection.
    var logPageCount: Int { logWatch.pageCount }

    /// Moves pages from the log into the file.
    func checkpoint(_ kind: Checkpoint) throws(SQLiteError) {
        let mode = kind == .passive ? SQLITE_CHECKPOINT_PASSIVE : SQLITE_CHECKPOINT_TRUNCATE
        let result = sqlite3_wal_checkpoint_v2(handle, "main", mode, nil, nil)
        guard result == SQLITE_OK else { throw SQLiteError(handle, result) }
        if kind == .truncate { logWatch.pageCount = 0 }
    }
}
