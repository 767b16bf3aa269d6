import Glibc
import LarderModel
import Synchronization

/// The store files that this process has open, so that none is opened twice.
///
/// The lock that keeps other processes out belongs to the process, and so does not keep out a
/// second store in the same one. Nor may anything but SQLite open the file meanwhile: closing any
/// descriptor of it would drop the lock.
final class OpenFile: Sendable {
    struct Identity: Hashable, Sendable {
        let device: UInt64
        let inode: UInt64
    }

    private static let claimed = Mutex<Set<Identity>>([])

    /// Whether the file was created by the claim, and so is empty.
    let isNew: Bool
    private let identity: Identity

    /// Claims the regular file at a path, which is created, readable by its owner only, if it is
    /// missing and may be created. The claim ends with the object.
    ///
    /// - Throws: `notAStore` for anything that is no regular file, `storeInUse` if this process has
    ///   it open, `storageFailed` or `permissionDenied` if it cannot be reached.
    init(claiming path: String, createIfMissing: Bool) throws(LarderError) {
        let (identity, isNew) = try OpenFile.claimed.withLock {
            claimed throws(LarderError) in
            let isNew = createIfMissing ? try OpenFile.create(path) : false
            let identity = try OpenFile.identity(of: path)
            guard claimed.insert(identity).inserted else {
                throw LarderError(.storeInUse, "\(path) is already open in this process")
            }
            return (identity, isNew)
        }
        self.identity = identity
        self.isNew = isNew
    }

    deinit {
        _ = OpenFile.claimed.withLock { [identity] in $0.remove(identity) }
    }

    /// Creates an empty file; false if there is one already.
    private static func create(_ path: String) throws(LarderError) -> Bool {
        let descriptor = Glibc.open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
        if descriptor >= 0 {
            Glibc.close(descriptor)
            return true
        }
        if errno == EEXIST { return false }
        throw failure(path, errno)
    }

    private static func identity(of path: String) throws(LarderError) -> Identity {
        var status = stat()
        guard stat(path, &status) == 0 else { throw failure(path, errno) }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return Identity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
        case S_IFDIR: throw LarderError(.notAStore, "\(path) is a folder, not a store")
        default: throw LarderError(.notAStore, "\(path) is not a regular file, so not a store")
        }
    }

    static func folder(of path: String) -> String {
        let slash = path.lastIndex(of: "/")
        return slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    }

    /// Makes the names in a file's folder last: of the file itself, and of the journal or the log
    /// beside it.
    ///
    /// SQLite syncs the folder too, but goes on when that fails, and does not try again; then a
    /// loss of power could take the log with all that was acknowledged.
    ///
    /// - Parameter folder: Its path as a C string, see ``Connection/folder``.
    static func syncFolder(_ folder: [CChar], of path: String) throws(LarderError) {
        let descriptor = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        // A folder that may be written but not read cannot be synced, nor could SQLite do it.
        guard descriptor >= 0 || errno != EACCES else { return }
        guard descriptor >= 0 else { throw failure("the folder of \(path)", errno) }
        defer { Glibc.close(descriptor) }
        // Some file systems have no such sync, and say so.
        guard fsync(descriptor) == 0 || errno == EINVAL else {
            let reason = errno
            guard reason != ENOSPC, reason != EDQUOT else { throw LarderError.storageFull }
            throw LarderError(
                .storageFailed,
                "the folder of \(path) cannot be synced (\(String(cString: strerror(reason))))")
        }
    }

    private static func failure(_ path: String, _ reason: Int32) -> LarderError {
        switch reason {
        case ENOENT:
            LarderError(
                .storageFailed, "there is no file \(path)",
                hint: "a new store is created in a folder that exists")
        case EACCES, EPERM: LarderError(.permissionDenied, "\(path) may not be opened")
        case ENOSPC, EDQUOT: LarderError.storageFull
        case EROFS: LarderError(.readOnly, "\(path) is on a file system that cannot be written")
        default:
            LarderError(
                .storageFailed, "\(path) cannot be opened (\(String(cString: strerror(reason))))")
        }
    }
}
