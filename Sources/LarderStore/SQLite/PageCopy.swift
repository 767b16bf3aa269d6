import CSQLite
import Glibc
import LarderSQL

/// The copies that are being made through a connection. Used on the connection's thread only.
final class CopyWatch {
    fileprivate(set) var count = 0
    /// The connection was replaced by another one, so that the copies miss later commits.
    var isReplaced = false
}

extension Connection {
    /// Whether a rollback of changed pages would make a copy begin again: SQLite has written some
    /// of these pages to the copy, and has no other way to take them back.
    var isBeingCopied: Bool { copyWatch.count > 0 }
}

/// SQLite's online backup: copies the pages of a database to another one, some at a time.
///
/// Between two steps the source has no transaction, so that its log can be checkpointed. What this
/// source connection commits is written to the copy as well, if the page was copied before; so the
/// copy has the state after the last step. Commits of another connection would make it begin again.
///
/// Used on the thread of the source connection until it has been finished.
final class PageCopy {
    private var handle: OpaquePointer?
    private let source: Connection
    private let destination: Connection

    init(from source: Connection, to destination: Connection) throws(SQLError) {
        guard
            let handle = sqlite3_backup_init(
                destination.handle, "main", source.handle, "main")
        else {
            throw SQLError(destination.handle, sqlite3_errcode(destination.handle))
        }
        self.handle = handle
        self.source = source
        self.destination = destination
        source.copyWatch.count += 1
    }

    deinit { finish() }

    /// The pages of the source, and those that have not been copied; 0 before the first step.
    var pageCount: Int { handle.map { Int(sqlite3_backup_pagecount($0)) } ?? 0 }
    var pagesLeft: Int { handle.map { Int(sqlite3_backup_remaining($0)) } ?? 0 }

    /// Whether the copy misses commits, and must be abandoned.
    var isAbandoned: Bool { source.copyWatch.isReplaced }

    /// Copies the next pages.
    ///
    /// - Returns: whether all have been copied. The copy has been committed then.
    func step(pages: Int) throws(SQLError) -> Bool {
        let result = sqlite3_backup_step(handle, Int32(pages))
        switch result {
        case SQLITE_OK: return false
        case SQLITE_DONE: return true
        default:
            let reason = errno
            let message = String(cString: sqlite3_errstr(result))
            throw SQLError(
                SQLError.Condition(result, message), message,
                systemError: result & 0xff == SQLITE_IOERR ? reason : 0)
        }
    }

    /// Ends the copy. If it is not complete, its destination becomes empty.
    func finish() {
        guard let handle else { return }
        sqlite3_backup_finish(handle)
        self.handle = nil
        source.copyWatch.count -= 1
    }
}
