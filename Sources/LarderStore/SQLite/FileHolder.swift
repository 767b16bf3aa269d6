import Glibc

/// The process that holds the lock of a file.
struct FileHolder: Hashable, Sendable {
    let processID: Int32
    /// The program's name; nil if it is unknown.
    let name: String?

    /// The process that holds a lock on a file; nil if there is none.
    ///
    /// Only for a file that this process does not have open as a store: closing the descriptor
    /// that this opens drops every lock that the process holds on the file.
    static func holder(of path: String) -> FileHolder? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        // Length 0 is the whole range; an exclusive lock conflicts with every other.
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        guard query(descriptor, &lock) == 0, lock.l_type != Int16(F_UNLCK),
            lock.l_pid > 0
        else { return nil }
        return FileHolder(processID: lock.l_pid, name: programName(of: lock.l_pid))
    }

    private static func query(_ descriptor: Int32, _ lock: inout flock) -> Int32 {
        withUnsafeMutablePointer(to: &lock) { fcntl(descriptor, F_GETLK, $0) }
    }

    private static func programName(of processID: Int32) -> String? {
        let descriptor = open("/proc/\(processID)/comm", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        let bytes = [UInt8](unsafeUninitializedCapacity: 64) { buffer, count in
            count = max(0, read(descriptor, buffer.baseAddress, buffer.count))
        }
        let name = String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        return name.isEmpty ? nil : name
    }

    /// `larderd (process 1234)`.
    var description: String {
        name.map { "\($0) (process \(processID))" } ?? "process \(processID)"
    }
}
