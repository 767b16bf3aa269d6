import FoundationEssentials
import Glibc
import LarderModel

/// A folder in the system's memory file system, which is removed with the object.
///
/// A store in memory is an ordinary store file there, which is never synced. SQLite's own in-memory
/// databases are not suitable: they have no log, so a reader with an open cursor would block the
/// writer, and the writer every reader. A store in memory differs from a store on disk in two ways:
/// it ends with the process, and `/dev/shm` limits its size.
///
/// A killed process leaves its folder. Each owner locks its folder as long as it lives, so the next
/// process finds and removes the folders without an owner.
final class MemoryFolder: Sendable {
    private static let root = "/dev/shm"
    private static let prefix = "larder-memory-"
    private static let attemptsMax = 3

    let path: String
    /// Open as long as the object lives, because it holds the lock.
    private let descriptor: Int32

    init() throws(LarderError) {
        MemoryFolder.removesAbandonedOnce
        var reason = EAGAIN
        // Until it is locked, another process may remove the new folder as an abandoned one.
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

    /// The locked descriptor of a folder that still exists; nil if another process owns it.
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

    /// A program may make thousands of stores, so only the first one looks for abandoned folders.
    private static let removesAbandonedOnce: Void = removeAbandoned()

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
            "no store can be created in memory (\(root): \(SystemError(code: reason).text))")
    }
}
