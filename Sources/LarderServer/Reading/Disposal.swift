import CMalloc
import NIOCore
import Synchronization

/// Releases large values on threads of the pool: to free hundreds of thousands of objects on an
/// event loop would delay its connections.
final class Disposal: Sendable {
    /// Freed memory is returned to the system at most this often.
    private static let trimInterval = TimeAmount.seconds(1)
    /// Larger blocks of memory are returned to the system when they are freed. By default glibc
    /// keeps blocks of up to 32 MiB, in each of the areas that it has for the threads.
    private static let keptBlockBytesMax: Int32 = 256 << 10

    private let pool: ReaderPool
    private let nextTrim = Mutex(NIODeadline.uptimeNanoseconds(0))

    init(pool: ReaderPool) {
        self.pool = pool
        mallopt(M_MMAP_THRESHOLD, Self.keptBlockBytesMax)
    }

    /// Releases a value after everything that the event loop does now, which may still refer to it.
    ///
    /// - Parameters:
    ///   - connection: Jobs of the pool with the same identity run one after the other.
    ///   - user: Whose request the value belongs to, and whose share of the pool is used.
    func release<Value: Sendable>(
        _ value: Value, for connection: ObjectIdentifier, of user: UInt32,
        on eventLoop: any EventLoop
    ) {
        eventLoop.execute { [self] in
            pool.submit(for: connection, of: user, isFirst: true) { [self] _ in
                withExtendedLifetime(value) {}
                returnMemory()
            }
        }
    }

    private func returnMemory() {
        let isDue = nextTrim.withLock { next in
            let now = NIODeadline.now()
            guard next <= now else { return false }
            next = now + Self.trimInterval
            return true
        }
        if isDue { malloc_trim(0) }
    }
}
