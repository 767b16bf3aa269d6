import FoundationEssentials
import Glibc
import LarderModel

/// A folder in the system's memory file system, which ends with the object.
///
/// A store in memory is an ordinary store file there, never flushed. SQLite's own in-memory
/// databases will not do: between connections they have no log, so a reader with an open cursor
/// would stop the writer, and the writer every reader. What differs from a store on disk: it ends
/// with the process, and its size is bounded by `/dev/shm`.
///
/// A process that is killed leaves its folder behind. Each folder is locked by its owner for life,
/// so the next owner recognises and removes those whose owner is gone.
final class MemoryFolder: Sendable {
    private static let root = "/dev/shm"
    private static let prefix = "larder-memory-"
    private static let attemptsMax = 3

    let path: String
    /// Open for life, since it holds the lock.
    private let descriptor: Int32

    init() throws(LarderError) {
        MemoryFolder.removeAbandoned()
        var reason = EAGAIN
        // Another process may take a new folder for an abandoned one, until it is locked.
        for _ in 0..<MemoryFolder.attemptsMax {
            let path = "\(MemoryFolder.root)/\(MemoryFolder.prefix)\(UUID().uuidString)"
            guard mkdir(path, 0o700) == 0 else { throw MemoryFolder.failure(errno) }
            if let descriptor = MemoryFolder.lock(path) {
                self.path = path
                self.descriptor = descriptor
                return
            }
            reason = errno
            rmdir(path)
        }
        throw MemoryFolder.failure(reason)
    }

    /// The locked descriptor of a folder that still exists; nil if another process has it.
    private static func lock(_ path: String) -> Int32? {
        let descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0, access(path, F_OK) == 0 { return descriptor }
        close(descriptor)
        return nil
    }

    var storePath: String { "\(path)/\(MemoryFolder.fileName)" }

    deinit {
        MemoryFolder.remove(path)
        close(descriptor)
    }

    private static let fileName = "store"
    private static let files = [fileName, "\(fileName)-wal", "\(fileName)-journal"]

    private static func remove(_ path: String) {
        for file in files { unlink("\(path)/\(file)") }
        rmdir(path)
    }

    private static func removeAbandoned() {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        for name in names where name.hasPrefix(prefix) {
            let path = "\(root)/\(name)"
            guard let descriptor = lock(path) else { continue }
            remove(path)
            close(descriptor)
        }
    }

    private static func failure(_ reason: Int32) -> LarderError {
        LarderError(
            .storageFailed,
            "no store can be made in memory (\(root): \(String(cString: strerror(reason))))")
    }
}
