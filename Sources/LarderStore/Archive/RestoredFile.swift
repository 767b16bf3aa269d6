import FoundationEssentials
import Glibc
import LarderModel

/// A store file that is being restored, under a temporary name next to its path.
///
/// The end of a restore: SQLite's check, the new epoch of the history, a new identifier if that is
/// requested, and the final name, which never replaces a file. Without it, the file is removed.
final class RestoredFile {
    let file: RawFile
    private let path: String
    private let temporaryPath: String

    /// - Throws: `storeInUse` if there is a file at the path.
    static func checkAbsence(of path: String) throws(LarderError) {
        for name in [path, path + "-wal", path + "-journal"] where access(name, F_OK) == 0 {
            throw LarderError(
                .storeInUse, "\(name) exists, and a restore replaces no file",
                hint: "restore to another path, or move the file away first")
        }
    }

    init(for path: String) throws(LarderError) {
        try Self.checkAbsence(of: path)
        self.path = path
        temporaryPath = "\(path).restoring-\(UUID().uuidString.prefix(8))"
        file = try RawFile(creating: temporaryPath)
    }

    deinit {
        for suffix in ["", "-wal", "-journal"] { unlink(temporaryPath + suffix) }
    }

    /// Checks the file, prepares it as a store of its own, and gives it its name.
    ///
    /// - Parameter epoch: The epoch of the original's history.
    /// - Returns: the new identifier, if one was assigned.
    func finish(assignsNewIdentifier: Bool, epoch: Int64) throws(LarderError) -> UUID? {
        try file.sync()
        var identifier: UUID?
        do throws(SQLiteError) {
            let connection = try StoreConnection.open(temporaryPath)
            try check(connection)
            if assignsNewIdentifier { identifier = UUID() }
            try connection.execute("PRAGMA synchronous = FULL")
            try connection.execute("BEGIN IMMEDIATE")
            try Catalog.markRestored(
                identifier, epoch: epoch, at: Date(), on: connection)
            try connection.execute("COMMIT")
            try connection.checkpoint(.truncate)
        } catch {
            throw error.larderError
        }
        // The link fails if there is a file by now; a rename would replace it.
        guard link(temporaryPath, path) == 0 else {
            let reason = errno
            if reason == EEXIST { try Self.checkAbsence(of: path) }
            throw RawFile.failure(path, "created", reason)
        }
        unlink(temporaryPath)
        try RawFile(reading: OpenFile.folder(of: path)).sync()
        return identifier
    }

    private func check(_ connection: Connection) throws(SQLiteError) {
        let statement = try connection.prepare("PRAGMA integrity_check(10)")
        guard try statement.step() else { return }
        let message = statement.string(at: 0)
        guard message == "ok" else {
            throw SQLiteError(.corrupt, "the restored store is damaged: \(message)")
        }
    }
}
