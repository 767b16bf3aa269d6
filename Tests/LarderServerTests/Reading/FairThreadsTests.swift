import Dispatch
import Glibc
import LarderModel
import Synchronization
import TestSupport
import Testing

@testable import LarderServer

@Suite("Threads shared by users")
struct FairThreadsTests {
    /// Objects whose identities stand for connections.
    private final class Connection: Sendable {}

    private func threads(running: Int, started: Int = 8) -> FairThreads {
        FairThreads(
            running: SharedLimit(running, userShare: 0.67),
            started: SharedLimit(started, userShare: 0.5))
    }

    private func close(_ threads: FairThreads) async {
        await withCheckedContinuation { continuation in threads.close { continuation.resume() } }
    }

    @Test("shared threads have the requested nice value, or that of the process")
    func niceness() async {
        let which = __priority_which_t(PRIO_PROCESS.rawValue)
        let own = getpriority(which, 0)
        for (asked, expected) in [(0, own), (19, 19)] as [(Int32, Int32)] {
            let one = SharedLimit(1, userShare: 1)
            let threads = FairThreads(running: one, started: one, niceness: asked)
            let connection = Connection()
            let found = await withCheckedContinuation { continuation in
                threads.submit(in: .object(ObjectIdentifier(connection)), of: 1) { _ in
                    continuation.resume(returning: getpriority(which, 0))
                }
            }
            #expect(found == expected)
            await close(threads)
        }
    }

    @Test("a user with many jobs leaves a thread for another user")
    func places() async {
        let threads = threads(running: 3)
        let connections = (0..<5).map { _ in Connection() }
        let gate = Gate()
        for connection in connections.prefix(4) {
            threads.submit(in: .object(ObjectIdentifier(connection)), of: 1) { _ in gate.pass() }
        }
        gate.waitForArrival()
        gate.waitForArrival()
        let isDone = await withCheckedContinuation { continuation in
            threads.submit(in: .object(ObjectIdentifier(connections[4])), of: 2) { _ in
                continuation.resume(returning: true)
            }
        }
        #expect(isDone)
        gate.open()
        await close(threads)
    }

    @Test("a part of a job starts at once or not at all")
    func parts() async {
        let threads = threads(running: 3)
        let connection = Connection()
        let (first, second) = (Gate(), Gate())
        // One user may run two jobs.
        #expect(threads.start(in: .part(1), of: 1) { _ in first.pass() })
        #expect(threads.start(in: .part(2), of: 1) { _ in first.pass() })
        #expect(!threads.start(in: .part(3), of: 1) { _ in Issue.record("it was refused") })
        threads.submit(in: .object(ObjectIdentifier(connection)), of: 2) { _ in second.pass() }
        second.waitForArrival()
        #expect(!threads.start(in: .part(4), of: 3) { _ in Issue.record("it was refused") })
        first.open()
        second.open()
        await close(threads)
    }

    @Test("a job that waits for its parts leaves its turn to other jobs")
    func waiting() async {
        let both = SharedLimit(2, userShare: 1)
        let threads = FairThreads(running: both, started: SharedLimit(8, userShare: 1))
        let connections = (0..<2).map { _ in Connection() }
        let gate = Gate()
        let ended = Mutex(0)
        threads.submit(in: .object(ObjectIdentifier(connections[0])), of: 1) { turn in
            let parts = DispatchGroup()
            parts.enter()
            let isStarted = threads.start(in: .part(1), of: 1) { _ in
                gate.pass()
                ended.withLock { $0 += 1 }
                parts.leave()
            }
            #expect(isStarted)
            turn.wait(for: parts)
            ended.withLock { $0 += 1 }
        }
        gate.waitForArrival()
        // The part has one of the two turns, and its job the other one.
        let endedBefore = await withCheckedContinuation { continuation in
            threads.submit(in: .object(ObjectIdentifier(connections[1])), of: 2) { _ in
                continuation.resume(returning: ended.withLock { $0 })
            }
        }
        #expect(endedBefore == 0)
        gate.open()
        await close(threads)
        #expect(ended.withLock { $0 } == 2)
    }

    @Test("threads that are closed have run every job, also one that no thread had taken yet")
    func lastJob() async {
        for _ in 0..<20 {
            let threads = threads(running: 1)
            let connection = Connection()
            let hasRun = Mutex(false)
            threads.submit(in: .object(ObjectIdentifier(connection)), of: 1) { _ in
                poll(nil, 0, 5)
                hasRun.withLock { $0 = true }
            }
            await close(threads)
            #expect(hasRun.withLock { $0 })
        }
    }

    @Test("the jobs of one connection run in their order")
    func order() async {
        let threads = threads(running: 3)
        let connection = Connection()
        let order = Mutex<[Int]>([])
        for number in 0..<20 {
            threads.submit(in: .object(ObjectIdentifier(connection)), of: 1) { _ in
                order.withLock { $0.append(number) }
            }
        }
        await withCheckedContinuation { continuation in
            threads.submit(in: .object(ObjectIdentifier(connection)), of: 1) { _ in
                continuation.resume()
            }
        }
        #expect(order.withLock { $0 } == Array(0..<20))
        await close(threads)
    }

    @Test("long jobs give way to waiting jobs, and are continued")
    func turns() async {
        let threads = threads(running: 1)
        let (long, short) = (Connection(), Connection())
        let shortHasRun = Atomic(false)
        let longSawIt = await withCheckedContinuation { continuation in
            threads.submit(in: .object(ObjectIdentifier(long)), of: 1) { turn in
                threads.submit(in: .object(ObjectIdentifier(short)), of: 2) { _ in
                    shortHasRun.store(true, ordering: .relaxed)
                }
                // The other job gets the only place when this one's turn is over.
                while !shortHasRun.load(ordering: .relaxed) { turn.pauseIfOver() }
                continuation.resume(returning: true)
            }
        }
        #expect(longSawIt)
        await close(threads)
    }

    @Test("a job that gave way to another one continues when a thread is free")
    func freePlace() async {
        let threads = threads(running: 3)
        let connections = (0..<3).map { _ in Connection() }
        let isDone = Atomic(false)
        let limit = ContinuousClock.now.advanced(by: .seconds(60))
        let holdPlace: FairThreads.Work = { _ in
            _ = eventually { isDone.load(ordering: .relaxed) }
        }
        threads.submit(in: .object(ObjectIdentifier(connections[0])), of: 1, holdPlace)
        let wasInTime = await withCheckedContinuation { continuation in
            threads.submit(in: .object(ObjectIdentifier(connections[1])), of: 2) { turn in
                // While this job runs, one place is all that the other user may have.
                threads.submit(in: .object(ObjectIdentifier(connections[2])), of: 1, holdPlace)
                let end = ContinuousClock.now.advanced(by: .milliseconds(50))
                while ContinuousClock.now < end { turn.pauseIfOver() }
                isDone.store(true, ordering: .relaxed)
                continuation.resume(returning: ContinuousClock.now < limit)
            }
        }
        #expect(wasInTime)
        await close(threads)
    }

    @Test("a long job that no other job waits for continues")
    func alone() async {
        let threads = threads(running: 1)
        let connection = Connection()
        await withCheckedContinuation { continuation in
            threads.submit(in: .object(ObjectIdentifier(connection)), of: 1) { turn in
                let end = ContinuousClock.now.advanced(by: .milliseconds(30))
                while ContinuousClock.now < end { turn.pauseIfOver() }
                continuation.resume()
            }
        }
        await close(threads)
    }
}
