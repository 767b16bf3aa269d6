import CLinux
import NIOCore
import Synchronization

/// Releases large values on threads of the pool: to free hundreds of thousands of objects on an
/// event loop would delay its connections.
final class Disposal: Sendable {
    /// Freed memory is returned to the system after this many bytes of it: glibc keeps what each
    /// thread has freed.
    private static let keptBytesMax = 8 << 20

    private let pool: ReaderPool
    /// The bytes that have been freed since memory was returned.
    private let keptBytes = Mutex(0)

    init(pool: ReaderPool) { self.pool = pool }

    /// Releases a value after everything that the event loop does now, which may still refer to it.
    ///
    /// - Parameters:
    ///   - byteCount: Roughly the memory of the value.
    ///   - owner: Its values are released one after the other.
    ///   - user: Whose request the value belongs to, and whose share of the pool is used.
    func release<Value: Sendable>(
        _ value: Value, byteCount: Int, for owner: ObjectIdentifier, of user: UInt32,
        on eventLoop: any EventLoop
    ) {
        eventLoop.execute { [self] in
            pool.submit(in: .object(owner), of: user, isFirst: true) { [self] _ in
                withExtendedLifetime(value) {}
                returnMemory(after: byteCount)
            }
        }
    }

    private func returnMemory(after byteCount: Int) {
        let isDue = keptBytes.withLock { bytes in
            bytes += byteCount
            guard bytes >= Self.keptBytesMax else { return false }
            bytes = 0
            return true
        }
        if isDue { malloc_trim(0) }
    }
}
