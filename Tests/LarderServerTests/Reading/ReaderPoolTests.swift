import Dispatch
import LarderModel
import LarderQuery
import NIOPosix
import Synchronization
import Testing

@testable import LarderServer

@Suite("The pool of readers")
struct ReaderPoolTests {
    private final class Connection: Sendable {}

    @Test("a reader that the next read takes at once is released once for each read")
    func release() async throws {
        var limits = ServerLimits()
        limits.readsRunning = SharedLimit(8, userShare: 1)
        let pool = ReaderPool(backend: try FakeStore(), limits: limits)
        await withTaskGroup { group in
            for user: UInt32 in 0..<8 {
                group.addTask {
                    let connection = Connection()
                    let request = ReaderPool.Request(
                        connection: ObjectIdentifier(connection), user: user, byteCount: 0,
                        eventLoop: MultiThreadedEventLoopGroup.singleton.next(), endSnapshot: {})
                    for _ in 0..<3_000 { await Self.read(pool, request) }
                    withExtendedLifetime(connection) {}
                }
            }
        }
        #expect(pool.activeCount == 0)
        await withCheckedContinuation { ended in pool.close { ended.resume() } }
    }

    @Test("a pool without reads closes its readers, and reports that memory can be returned")
    func idle() async throws {
        var limits = ServerLimits()
        limits.idleMemoryTimeMax = .milliseconds(1)
        let (reports, report) = AsyncStream.makeStream(of: Void.self)
        let pool = ReaderPool(backend: try FakeStore(), limits: limits) { report.yield() }
        let connection = Connection()
        let request = ReaderPool.Request(
            connection: ObjectIdentifier(connection), user: 1, byteCount: 0,
            eventLoop: MultiThreadedEventLoopGroup.singleton.next(), endSnapshot: {})
        var iterator = reports.makeAsyncIterator()
        for _ in 0..<3 {
            await Self.read(pool, request)
            _ = await iterator.next()
            #expect(pool.statistics.contains(Statistic("poolReadersIdle", .int(0))))
        }
        withExtendedLifetime(connection) {}
        await withCheckedContinuation { ended in pool.close { ended.resume() } }
    }

    @Test("each part of a read has a reader of its own, and all return to the pool")
    func parts() async throws {
        var limits = ServerLimits(eventLoopCount: 4)
        limits.readers = SharedLimit(4, userShare: 0.75)
        limits.idleMemoryTimeMax = .seconds(3_600)
        limits.readsRunning = SharedLimit(8, userShare: 1)
        let pool = ReaderPool(backend: try FakeStore(), limits: limits)
        let connection = Connection()
        let request = ReaderPool.Request(
            connection: ObjectIdentifier(connection), user: 1, byteCount: 0,
            eventLoop: MultiThreadedEventLoopGroup.singleton.next(), endSnapshot: {})
        let readers = Mutex<Set<ObjectIdentifier>>([])
        await withCheckedContinuation { ended in
            pool.acquire(request) { result in
                guard let reader = try? result.get() else {
                    Issue.record("the pool has a reader")
                    return ended.resume()
                }
                _ = readers.withLock { $0.insert(ObjectIdentifier(reader.reader)) }
                let workers = PoolWorkers(
                    pool, reader, deadline: .now + .seconds(60), cancellation: ReadCancellation())
                let arrived = DispatchSemaphore(value: 0)
                let left = DispatchSemaphore(value: 0)
                let count = workers.start { part, _ in
                    _ = readers.withLock { $0.insert(ObjectIdentifier(part)) }
                    arrived.signal()
                    left.wait()
                }
                // A user may have three of the four readers.
                #expect(count == 2)
                for _ in 0..<count { arrived.wait() }
                for _ in 0..<count { left.signal() }
                workers.wait()
                pool.release(reader)
                ended.resume()
            }
        }
        #expect(readers.withLock { $0.count } == 3)
        #expect(pool.activeCount == 0)
        #expect(pool.statistics.contains(Statistic("poolReadersIdle", .int(3))))
        withExtendedLifetime(connection) {}
        await withCheckedContinuation { ended in pool.close { ended.resume() } }
    }

    /// Takes a reader and releases it.
    private static func read(_ pool: ReaderPool, _ request: ReaderPool.Request) async {
        await withCheckedContinuation { ended in
            pool.acquire(request) { reader in
                switch reader {
                case .success(let reader): pool.release(reader)
                case .failure(let error): Issue.record(error)
                }
                ended.resume()
            }
        }
    }
}
