import Glibc
import LarderModel
import LarderWire
import Synchronization

/// A Unix socket at which clients connect: bound by this process, or inherited from a service
/// manager.
///
/// A bound socket has a lock file next to it, which stays locked as long as the socket exists. Only
/// the owner of that lock removes the socket's file. An inherited socket belongs to the service
/// manager and is neither removed nor shut down.
package final class ListeningSocket: Sendable {
    /// The address for messages: a path, or the name from the service manager if there is none.
    package let address: String
    let descriptor: Int32
    /// The role of everybody who connects here; nil if the policy decides.
    let role: String?
    private let ownership: Ownership?

    private struct Ownership: Sendable {
        let path: String
        let file: FileIdentity
        /// nil if another lock of the program decides who listens at the path.
        let lock: Int32?
    }

    private init(
        address: String, descriptor: Int32, role: String? = nil, ownership: Ownership?
    ) {
        self.role = role
        self.address = address
        self.descriptor = descriptor
        self.ownership = ownership
    }

    /// Takes a descriptor, which must be a listening Unix socket.
    ///
    /// - Parameter name: Its name from the service manager, for a socket without a path.
    convenience init(inherited descriptor: Int32, name: String) {
        let address = UnixSocketAddress(boundTo: descriptor)?.path ?? name
        self.init(address: address, descriptor: descriptor, ownership: nil)
    }

    /// Binds a socket at a path in an existing folder.
    ///
    /// - Parameters:
    ///   - mode: The permissions of the socket, such as 0o600.
    ///   - group: The group of the socket; nil is that of the process, or of a folder with setgid.
    ///   - role: The role of everybody who connects here; nil if the policy decides.
    /// - Throws: `malformedValue` for a path that is too long, `permissionDenied`, and
    ///   `connectionFailed` if the socket is in use, or the path is another kind of file.
    package convenience init(
        path: String, mode: UInt32 = 0o600, group: UInt32? = nil, role: String? = nil
    ) throws(LarderError) {
        _ = try UnixSocketAddress(path: path)
        let lock = try Self.lock(path)
        do throws(LarderError) {
            try Self.removeStaleSocket(path)
            let (descriptor, file) = try Self.bind(path, mode: mode, group: group)
            let ownership = Ownership(path: path, file: file, lock: lock)
            self.init(
                address: path, descriptor: descriptor, role: role, ownership: ownership)
        } catch {
            close(lock)
            throw error
        }
    }

    /// Binds a socket at a path in an existing folder. A socket that exists there is replaced,
    /// because the caller holds the lock that decides who listens there.
    ///
    /// - Throws: as the other initializer does.
    package convenience init(
        lockedPath path: String, mode: UInt32 = 0o600
    ) throws(LarderError) {
        _ = try UnixSocketAddress(path: path)
        if let file = FileIdentity(at: path) {
            guard file.isSocket else { throw Self.notASocket(path) }
            if unlink(path) != 0, errno != ENOENT {
                throw UnixSocket.failure("cannot replace the socket \(path)")
            }
        }
        let (descriptor, file) = try Self.bind(path, mode: mode, group: nil)
        self.init(
            address: path, descriptor: descriptor,
            ownership: Ownership(path: path, file: file, lock: nil))
    }

    /// The path at which clients connect; nil if the socket has none.
    var path: String? {
        if let ownership { return ownership.path }
        return UnixSocketAddress(boundTo: descriptor)?.path
    }

    /// Removes the socket's file if it is still the one that was bound here, then releases the
    /// lock. The channel that listens closes the descriptor.
    func release() {
        guard let ownership else { return }
        if FileIdentity(at: ownership.path) == ownership.file { unlink(ownership.path) }
        if let lock = ownership.lock { close(lock) }
    }

    /// Creates the folder of a path for its owner if it is missing; its parent must exist.
    package static func makeFolder(of path: String) throws(LarderError) {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return }
        let folder = String(path[..<slash])
        if mkdir(folder, 0o700) != 0, errno != EEXIST {
            throw UnixSocket.failure("cannot create the folder \(folder)")
        }
    }

    /// Locks the file next to the socket. The file stays after the lock ends: removing it would let
    /// two servers lock two files of the same name.
    private static func lock(_ path: String) throws(LarderError) -> Int32 {
        let lockPath = path + ".lock"
        let descriptor = open(lockPath, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            if errno == ENOENT {
                throw LarderError(
                    .connectionFailed, "the folder of the socket \(path) does not exist",
                    hint: "create the folder first, or use another path")
            }
            throw UnixSocket.failure("cannot open \(lockPath)")
        }
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return descriptor }
        let failure =
            errno == EWOULDBLOCK ? inUse(path) : UnixSocket.failure("cannot lock \(lockPath)")
        close(descriptor)
        throw failure
    }

    private static func removeStaleSocket(_ path: String) throws(LarderError) {
        guard let file = FileIdentity(at: path) else { return }
        guard file.isSocket else {
            throw notASocket(path)
        }
        // A program that does not use the lock file may listen there.
        if try UnixSocket.isListening(at: path) { throw inUse(path) }
        if unlink(path) != 0, errno != ENOENT {
            throw UnixSocket.failure("cannot remove the stale socket \(path)")
        }
    }

    private static func bind(
        _ path: String, mode: UInt32, group: UInt32?
    ) throws(LarderError) -> (Int32, FileIdentity) {
        let descriptor = try UnixSocket.make(SOCK_STREAM)
        do throws(LarderError) {
            // The file gets the permissions of the descriptor without those in the umask. They are
            // not set by path afterwards: another user of the folder may have replaced the file.
            guard fchmod(descriptor, mode) == 0 else {
                throw UnixSocket.failure("cannot set the permissions of \(path)")
            }
            try withUmask(0o777 & ~mode) { () throws(LarderError) in
                try UnixSocket.bind(descriptor, to: path)
            }
            guard let file = FileIdentity(at: path), file.isSocket else {
                throw replaced(path)
            }
            if let group { try setGroup(group, of: path, file) }
            return (descriptor, file)
        } catch {
            close(descriptor)
            throw error
        }
    }

    /// O_PATH and AT_EMPTY_PATH, macros that Swift does not import.
    private static let (pathOnly, emptyPath): (Int32, Int32) = (0o10_000_000, 0x1000)

    /// Gives the socket's file a group. Nobody can connect until the socket listens.
    ///
    /// The file is opened without using it, and compared with the one that was bound, because
    /// another user of the folder may have replaced it. After a failure the file is removed.
    private static func setGroup(
        _ group: UInt32, of path: String, _ file: FileIdentity
    ) throws(LarderError) {
        let opened = open(path, pathOnly | O_NOFOLLOW | O_CLOEXEC)
        guard opened >= 0, FileIdentity(of: opened) == file else {
            if opened >= 0 { close(opened) }
            throw replaced(path)
        }
        defer { close(opened) }
        // The user with all bits set stays as it is.
        guard fchownat(opened, "", .max, group, emptyPath) == 0 else {
            let reason = SystemError(code: errno)
            unlink(path)
            var failure = UnixSocket.failure("\(path) cannot get the group \(group)", reason)
            failure.hint = "run larderd as a member of the group, or as root"
            throw failure
        }
    }

    private static func replaced(_ path: String) -> LarderError {
        LarderError(
            .connectionFailed, "the socket \(path) was replaced while it was created",
            hint: "use a folder that only its owner can write")
    }

    /// The umask belongs to the process, so two sockets are bound one after the other. A file that
    /// another thread creates meanwhile gets no more permissions than the socket.
    private static let umaskLock = Mutex(())

    private static func withUmask(
        _ mask: UInt32, _ body: () throws(LarderError) -> Void
    ) throws(LarderError) {
        try umaskLock.withLock { _ throws(LarderError) in
            let before = umask(mask)
            defer { umask(before) }
            try body()
        }
    }

    private static func notASocket(_ path: String) -> LarderError {
        LarderError(
            .connectionFailed, "\(path) exists and is not a socket",
            hint: "use another path, or move that file away")
    }

    private static func inUse(_ path: String) -> LarderError {
        LarderError(
            .connectionFailed, "the socket \(path) is in use by another server",
            hint: "stop that server, or use another path with --socket")
    }
}

/// The identity of a file.
struct FileIdentity: Equatable, Sendable {
    let device: UInt
    let inode: UInt
    let isSocket: Bool

    /// The file at a path, without following symbolic links.
    init?(at path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    init?(of descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    private init(_ status: stat) {
        device = UInt(status.st_dev)
        inode = UInt(status.st_ino)
        isSocket = status.st_mode & S_IFMT == S_IFSOCK
    }
}
