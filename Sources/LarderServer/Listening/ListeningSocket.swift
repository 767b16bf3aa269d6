import Glibc
public import LarderModel
import LarderWire

/// A Unix socket at which clients connect: bound by this process, or inherited from a service
/// manager.
///
/// What was bound here is owned: a lock file beside it is locked for as long as the socket lives,
/// and only who holds that lock removes the socket's node. What was inherited belongs to the
/// manager and is neither removed nor shut down.
public final class ListeningSocket: Sendable {
    /// Where it is, for people: a path, or the name that the manager gave.
    public let address: String
    let descriptor: Int32
    private let ownership: Ownership?

    private struct Ownership: Sendable {
        let path: String
        let node: FileNode
        let lock: Int32
    }

    private init(address: String, descriptor: Int32, ownership: Ownership?) {
        self.address = address
        self.descriptor = descriptor
        self.ownership = ownership
    }

    /// Takes over a descriptor that is known to be a listening Unix socket.
    convenience init(inherited descriptor: Int32, name: String) {
        self.init(address: name, descriptor: descriptor, ownership: nil)
    }

    /// Binds a socket at a path, making the directory that it stands in if that is missing.
    ///
    /// - Parameter mode: the permissions of the socket, such as 0o600.
    /// - Throws: `malformedValue` for a path that is too long, `permissionDenied`, and
    ///   `connectionFailed` if the socket is in use, or if something else stands there.
    public convenience init(path: String, mode: UInt32 = 0o600) throws(LarderError) {
        _ = try UnixSocketAddress(path: path)
        try Self.makeDirectory(of: path)
        let lock = try Self.lock(path)
        do throws(LarderError) {
            try Self.removeStaleNode(path)
            let (descriptor, node) = try Self.bind(path, mode: mode)
            let ownership = Ownership(path: path, node: node, lock: lock)
            self.init(address: path, descriptor: descriptor, ownership: ownership)
        } catch {
            close(lock)
            throw error
        }
    }

    /// Gives up the place: removes the node if it is still the one that was bound here, then lets
    /// go of the lock. The descriptor itself is closed by who listens on it.
    func release() {
        guard let ownership else { return }
        if FileNode(at: ownership.path) == ownership.node { unlink(ownership.path) }
        close(ownership.lock)
    }

    private static func makeDirectory(of path: String) throws(LarderError) {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return }
        let directory = String(path[..<slash])
        if mkdir(directory, 0o700) != 0, errno != EEXIST {
            throw UnixSocket.failure("the directory \(directory) cannot be made")
        }
    }

    /// Locks the file beside the socket. It stays when the lock ends: to remove it would let two
    /// servers hold locks on two files of the same name.
    private static func lock(_ path: String) throws(LarderError) -> Int32 {
        let lockPath = path + ".lock"
        let descriptor = open(lockPath, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw UnixSocket.failure("\(lockPath) cannot be opened") }
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return descriptor }
        let failure =
            errno == EWOULDBLOCK ? inUse(path) : UnixSocket.failure("cannot lock \(lockPath)")
        close(descriptor)
        throw failure
    }

    private static func removeStaleNode(_ path: String) throws(LarderError) {
        guard let node = FileNode(at: path) else { return }
        guard node.isSocket else {
            throw LarderError(
                .connectionFailed, "\(path) exists and is not a socket",
                hint: "name another path, or move away what is there")
        }
        // A program that does not know our lock may listen there.
        if try UnixSocket.answers(at: path) { throw inUse(path) }
        if unlink(path) != 0, errno != ENOENT {
            throw UnixSocket.failure("the stale socket \(path) cannot be removed")
        }
    }

    private static func bind(
        _ path: String, mode: UInt32
    ) throws(LarderError) -> (Int32, FileNode) {
        let descriptor = try UnixSocket.make(SOCK_STREAM)
        do throws(LarderError) {
            // Before the node exists, so that it never allows more than it shall; the process's
            // mask may still take bits away, which are given back once it does.
            guard fchmod(descriptor, mode) == 0 else {
                throw UnixSocket.failure("the mode of \(path) cannot be set")
            }
            try UnixSocket.bind(descriptor, to: path)
            guard chmod(path, mode) == 0, let node = FileNode(at: path) else {
                throw UnixSocket.failure("the mode of \(path) cannot be set")
            }
            return (descriptor, node)
        } catch {
            close(descriptor)
            throw error
        }
    }

    private static func inUse(_ path: String) -> LarderError {
        LarderError(
            .connectionFailed, "the socket \(path) is in use by another server",
            hint: "stop that server, or name another path with --socket")
    }
}

/// Which file stands at a path, symbolic links not followed.
struct FileNode: Equatable, Sendable {
    let device: UInt
    let inode: UInt
    let isSocket: Bool

    init?(at path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        device = UInt(status.st_dev)
        inode = UInt(status.st_ino)
        isSocket = status.st_mode & S_IFMT == S_IFSOCK
    }
}
