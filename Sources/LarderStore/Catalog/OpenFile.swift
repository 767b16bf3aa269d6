import Glibc
import LarderFiles
import LarderModel
import LarderSQL
import Synchronization

/// A claim on a store file, so that this process does not open it twice.
///
/// The lock against other processes belongs to the process and does not exclude a second store in
/// the same process. Only SQLite may open the file during that time, because closing any descriptor
/// of it would release the lock.
final class OpenFile: Sendable {
    private static let claimed = Mutex<Set<FileStatus.Identity>>([])

    /// Whether the claim created the file, which is empty then.
    let isNew: Bool
    let watched: WatchedFile
    /// Keeps the inode, so that no other file gets it while the claim lasts, as the store may have
    /// been closed and removed. Closing a descriptor that was opened for its path releases no lock.
    private let descriptor: Int32

    /// O_PATH, a macro that Swift does not import.
    private static let forPath = Int32(0o10000000)

    /// Claims the regular file at a path. A missing file is created, readable by its owner only, if
    /// that is permitted. The claim ends with the object.
    ///
    /// - Throws: `notAStore` if it is no regular file, `storeInUse` if this process has it open,
    ///   `storageFailed` or `permissionDenied` if it cannot be accessed, and `storageFailed` if it
    ///   has two names.
    init(claiming path: String, createIfMissing: Bool) throws(LarderError) {
        (watched, isNew) = try OpenFile.claimed.withLock {
            claimed throws(LarderError) in
            let isNew = createIfMissing ? try OpenFile.create(path) : false
            let file = try OpenFile.file(at: path)
            guard claimed.insert(file.identity).inserted else {
                throw LarderError(.storeInUse, "\(path) is already open in this process")
            }
            return (file, isNew)
        }
        descriptor = open(path, Self.forPath | O_CLOEXEC | O_NOFOLLOW)
    }

    /// Checks that a connection has opened this file, which it opened by its path.
    func check(_ connection: Connection) throws(SQLError) {
        try watched.checkPath()
        guard !connection.hasMoved else {
            throw SQLError(.cannotOpen, "the file was replaced while it was opened")
        }
    }

    /// Whether this process has a file open as a store.
    static func isClaimed(_ identity: FileStatus.Identity) -> Bool {
        claimed.withLock { $0.contains(identity) }
    }

    deinit {
        _ = OpenFile.claimed.withLock { [watched] in $0.remove(watched.identity) }
        if descriptor >= 0 { close(descriptor) }
    }

    /// Creates an empty file; false if the file exists.
    private static func create(_ path: String) throws(LarderError) -> Bool {
        let descriptor = Glibc.open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
        if descriptor >= 0 {
            Glibc.close(descriptor)
            return true
        }
        switch errno {
        case EEXIST: return false
        case ENOENT:
            throw LarderError(
                .storageFailed, "the folder of \(path) does not exist",
                hint: "create the folder first")
        default: throw failure(path, errno)
        }
    }

    private static func file(at path: String) throws(LarderError) -> WatchedFile {
        guard let status = FileStatus(at: path) else { throw failure(path, errno) }
        switch status.type {
        case S_IFREG: break
        case S_IFDIR: throw LarderError(.notAStore, "\(path) is a folder, not a store")
        default: throw LarderError(.notAStore, "\(path) is not a regular file, so not a store")
        }
        guard status.linkCount == 1 else { throw WatchedFile.linked(path) }
        try checkCompanion(path + "-wal", "the log of the store")
        try checkCompanion(path + "-journal", "the rollback journal of the store")
        return WatchedFile(path: path, status)
    }

    /// SQLite would wait for ever for a named pipe, and names no file in its errors.
    private static func checkCompanion(_ path: String, _ role: String) throws(LarderError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        let type = FileType(mode: status.st_mode)
        guard type.isRegular else { throw type.obstacle(at: path, insteadOf: role) }
        guard access(path, R_OK | W_OK) != 0, errno == EACCES || errno == EPERM else { return }
        throw LarderError(
            .permissionDenied, "\(path) may not be opened; it belongs to user \(status.st_uid)",
            hint: "it may have saves that the store does not have yet: give it to the user who "
                + "opens the store, and do not remove it")
    }

    static func folder(of path: String) -> String {
        let slash = path.lastIndex(of: "/")
        return slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    }

    /// Makes the names in a file's folder durable: of the file itself, its journal and its log.
    ///
    /// SQLite syncs the folder too, but ignores an error and does not try again. Then a power
    /// failure could remove the log with all acknowledged commits.
    ///
    /// - Parameter folder: The path as a C string, see ``Connection/folder``.
    static func syncFolder(_ folder: [CChar], of path: String) throws(LarderError) {
        let descriptor = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        // A folder with write but without read permission cannot be synced, by SQLite neither.
        guard descriptor >= 0 || errno != EACCES else { return }
        guard descriptor >= 0 else { throw failure("the folder of \(path)", errno) }
        defer { Glibc.close(descriptor) }
        // Some file systems do not support this sync and return EINVAL.
        guard fsync(descriptor) == 0 || errno == EINVAL else {
            let reason = errno
            guard reason != ENOSPC, reason != EDQUOT else { throw LarderError.storageFull }
            throw LarderError(
                .storageFailed,
                "the folder of \(path) cannot be synced (\(SystemError(code: reason).text))")
        }
    }

    static func failure(_ path: String, _ reason: Int32) -> LarderError {
        switch reason {
        case ENOENT:
            LarderError(
                .storageFailed, "there is no file \(path)",
                hint: "to create a new store there, give its schema (--schema)")
        case EACCES, EPERM: FileRights.denied(path, "opened")
        case ENOSPC, EDQUOT: LarderError.storageFull
        case EROFS: LarderError(.readOnly, "\(path) is on a file system that cannot be written")
        default:
            LarderError(
                .storageFailed, "\(path) cannot be opened (\(SystemError(code: reason).text))")
        }
    }
}
