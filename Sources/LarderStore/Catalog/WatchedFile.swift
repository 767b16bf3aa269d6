import Glibc
import LarderModel
import LarderSQL

/// A file that a store has open, and the path at which it was opened.
///
/// SQLite continues to write to a file that was removed, renamed or replaced. What it writes is
/// lost when the process ends. So the writer compares the file at the path with the open one before
/// each commit, and a new connection compares them before its first read.
struct WatchedFile: Sendable {
    let path: String
    let identity: FileStatus.Identity

    /// - Parameter status: The status of the file at the path.
    init(path: String, _ status: FileStatus) {
        self.path = path
        identity = status.identity
    }

    /// The file at a path; nil if there is none.
    init?(at path: String) {
        guard let status = FileStatus(at: path) else { return nil }
        self.init(path: path, status)
    }

    /// - Throws: `fileChanged` if the file at the path is not the open one.
    func checkPath() throws(SQLError) { _ = try status() }

    /// - Throws: `fileChanged` if the file at the path is not the open one, or has two names.
    func check() throws(SQLError) {
        if try status().linkCount > 1 { throw SQLError(fileChanged: Self.linked(path)) }
    }

    private func status() throws(SQLError) -> FileStatus {
        guard let status = FileStatus(at: path) else {
            let reason = errno
            throw changed(
                reason == ENOENT ? "was removed or renamed" : SystemError(code: reason).text)
        }
        guard status.identity == identity else { throw changed("was replaced by another file") }
        return status
    }

    private func changed(_ event: String) -> SQLError {
        SQLError(
            fileChanged: LarderError(
                .storageFailed, "\(path) is open, but not at its path any more (\(event))",
                hint: "put the file back, or run larder backup before the server stops"))
    }

    /// The names of a file with two of them would have a log each, and SQLite would read the wrong
    /// one.
    static func linked(_ path: String) -> LarderError {
        LarderError(
            .storageFailed, "\(path) has another name (a hard link)",
            hint: "remove the other name; a copy of a store must be a file of its own")
    }
}
