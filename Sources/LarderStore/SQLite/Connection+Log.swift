import CSQLite
import LarderSQL

/// The length of the write-ahead log after its last commit. Used on the connection's thread only:
/// SQLite reports it from within `step`.
final class LogWatch {
    fileprivate(set) var pageCount = 0
}

extension Connection {
    enum Checkpoint: Hashable, Sendable {
        /// Copies as many pages as readers allow, without waiting for them.
        case passive
        /// Copies all pages, so that the next commit writes to the beginning of the log. Fails with
        /// `busy` if readers need the log for more than some milliseconds.
        case restart
        /// Does so, and empties the log.
        case truncate
    }

    /// Updates ``logPageCount`` after every commit from now on. This ends automatic checkpoints.
    func watchLog() {
        // Unretained: the watch lives as long as the connection, which closes the handle.
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

    /// The number of pages in the log after the last commit of this connection.
    var logPageCount: Int { logWatch.pageCount }

    /// The number of the log's pages that have been copied into the file: the field `nBackfill` of
    /// the log's index (sqlite.org/walformat.html). To be read while no checkpoint runs.
    func copiedPageCount() throws(SQLError) -> Int {
        var file: UnsafeMutablePointer<sqlite3_file>?
        var result = sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file)
        var index: UnsafeMutableRawPointer?
        if result == SQLITE_OK, let file, let map = file.pointee.pMethods?.pointee.xShmMap {
            result = map(file, 0, Self.indexRegionBytes, 0, &index)
        }
        guard result == SQLITE_OK else { throw SQLError(handle, result) }
        // The index has memory as long as the connection has the log open.
        guard let index else { return 0 }
        return Int(index.load(fromByteOffset: Self.copiedOffset, as: UInt32.self))
    }

    private static let indexRegionBytes: Int32 = 32 << 10
    private static let copiedOffset = 96

    /// Makes the log's file long enough for a number of pages, by zeros after its end.
    ///
    /// SQLite recognizes that they are no pages. A commit whose pages replace them does not change
    /// the length of the file, so its sync does not write the file system's journal.
    func lengthenLog(toPages pageCount: Int) throws(SQLError) {
        var file: UnsafeMutablePointer<sqlite3_file>?
        let found = sqlite3_file_control(handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file)
        guard found == SQLITE_OK, let file, let methods = file.pointee.pMethods,
            let write = methods.pointee.xWrite, let size = methods.pointee.xFileSize
        else { return }
        var end: Int64 = 0
        guard size(file, &end) == SQLITE_OK else { return }
        let bytes = 32 + Int64(pageCount) * (24 + (try integer("PRAGMA page_size") ?? 0))
        // SQLite writes no more than 128 KiB at once.
        let zeros = [UInt8](repeating: 0, count: 64 << 10)
        while end < bytes {
            let count = min(Int64(zeros.count), bytes - end)
            let result = write(file, zeros, Int32(count), end)
            guard result == SQLITE_OK else { throw SQLError(handle, result) }
            end += count
        }
    }

    /// Copies pages from the log into the database file.
    func checkpoint(_ kind: Checkpoint) throws(SQLError) {
        let mode =
            switch kind {
            case .passive: SQLITE_CHECKPOINT_PASSIVE
            case .restart: SQLITE_CHECKPOINT_RESTART
            case .truncate: SQLITE_CHECKPOINT_TRUNCATE
            }
        let result = waitingBriefly {
            sqlite3_wal_checkpoint_v2(handle, "main", mode, nil, nil)
        }
        guard result == SQLITE_OK else { throw SQLError(handle, result) }
        if kind != .passive { logWatch.pageCount = 0 }
    }
}
