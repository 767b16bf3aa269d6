import CSQLite
import Glibc

/// How a connection waits for a lock. Used on the connection's thread only: SQLite calls the
/// handler from within `step`.
///
/// No other process can have a lock of an open store. A connection of this process has one that
/// another needs for a moment only:
///
/// - a reader that meets a commit at the header of the log's index takes the writer's lock to read
///   the header again, just when the writer begins its next transaction (`SQLITE_BUSY`);
/// - a connection repairs the index, which others cannot read meanwhile (`SQLITE_BUSY_RECOVERY`);
/// - a connection that closes asks for the whole file, just when another one opens it
///   (`SQLITE_BUSY`);
/// - a transaction begins on a snapshot that is not the last one any more (`SQLITE_BUSY_SNAPSHOT`).
///
/// Without a handler each of them is an error of a request that has done nothing wrong.
final class LockWait {
    /// 0 before the process has the file: a foreign process that has it is an error at once.
    fileprivate var pausesMax: Int32 = 0

    private static let pauseNanoseconds = 100_000
    /// With the time that the system adds to each pause, 10 s in all.
    fileprivate static let pausesMaxUsually: Int32 = 60_000
    /// About 5 ms: readers may keep a checkpoint from its end for hours, but most of them end soon.
    fileprivate static let pausesMaxInCheckpoint: Int32 = 30

    /// - Parameter attempts: How often the lock was not free before.
    /// - Returns: whether to try again.
    fileprivate func wait(after attempts: Int32) -> Bool {
        guard attempts < pausesMax else { return false }
        var pause = timespec(tv_sec: 0, tv_nsec: Self.pauseNanoseconds)
        nanosleep(&pause, nil)
        return true
    }
}

extension Connection {
    /// Waits from now on for the locks of this process's other connections.
    func waitForLocks() {
        lockWait.pausesMax = LockWait.pausesMaxUsually
        // Unretained: the object lives as long as the connection, which closes the handle.
        let context = Unmanaged.passUnretained(lockWait).toOpaque()
        sqlite3_busy_handler(
            handle,
            { context, attempts in
                guard let context else { return 0 }
                let wait = Unmanaged<LockWait>.fromOpaque(context).takeUnretainedValue()
                return wait.wait(after: attempts) ? 1 : 0
            }, context)
    }

    /// Calls a function of SQLite that checkpoints, which waits briefly for locks.
    ///
    /// - Returns: its result.
    func waitingBriefly(_ call: () -> Int32) -> Int32 {
        let pausesMax = lockWait.pausesMax
        lockWait.pausesMax = min(pausesMax, LockWait.pausesMaxInCheckpoint)
        defer { lockWait.pausesMax = pausesMax }
        return call()
    }
}
