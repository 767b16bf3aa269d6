import Glibc

/// The lock of an owner file: a write lock of the open file description, which does not end when
/// the process closes another descriptor of the file.
enum OwnerLock {
    /// An owner has it.
    case held
    /// Somebody who is no owner has a read lock.
    case blocked
    case taken

    /// F_OFD_GETLK and F_OFD_SETLK, macros that Swift does not import.
    private static let (query, set) = (Int32(36), Int32(37))

    /// Takes the lock without waiting.
    static func take(_ descriptor: Int32) -> OwnerLock {
        var wanted = writeLock
        guard control(descriptor, set, &wanted) != 0 else { return .taken }
        var found = writeLock
        guard control(descriptor, query, &found) == 0 else { return .held }
        return found.l_type == Int16(F_RDLCK) ? .blocked : .held
    }

    /// A lock of the whole file.
    private static var writeLock: flock {
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        return lock
    }

    private static func control(
        _ descriptor: Int32, _ command: Int32, _ lock: inout flock
    ) -> Int32 {
        withUnsafeMutableBytes(of: &lock) { bytes in
            bytes.baseAddress.map { fcntl(descriptor, command, $0) } ?? -1
        }
    }
}
