import Glibc
import NIOPosix
import Synchronization

/// A few threads that run jobs in the order of their arrival, at most one at a time per connection:
/// a connection with many long reads uses one thread and leaves the rest to others.
///
/// The threads have a lower priority than the event loops, so that short requests run first.
final class FairThreads: Sendable {
    private struct Job {
        let connection: ObjectIdentifier
        let work: @Sendable () -> Void
    }

    private struct State {
        var waiting: [Job] = []
        /// The connections whose jobs are running, at most one per thread.
        var running: Set<ObjectIdentifier> = []

        /// The oldest job that may start.
        mutating func takeNext(atMost count: Int) -> Job? {
            guard running.count < count,
                let index = waiting.firstIndex(where: { !running.contains($0.connection) })
            else { return nil }
            let job = waiting.remove(at: index)
            running.insert(job.connection)
            return job
        }
    }

    private let count: Int
    private let threads: NIOThreadPool
    private let state = Mutex(State())

    init(count: Int) {
        self.count = count
        threads = NIOThreadPool(numberOfThreads: count)
        threads.start()
    }

    /// The callers bound the number of waiting jobs.
    func submit(for connection: ObjectIdentifier, _ work: @escaping @Sendable () -> Void) {
        state.withLock { $0.waiting.append(Job(connection: connection, work: work)) }
        startNext()
    }

    /// Starts a thread for the oldest job that may start, and for those that may start after it.
    private func startNext() {
        guard let first = state.withLock({ $0.takeNext(atMost: count) }) else { return }
        threads.submit { [self] _ in
            Self.lowerPriority()
            var next: Job? = first
            while let job = next {
                job.work()
                // On this thread, because another one would have to be woken.
                next = state.withLock { state in
                    state.running.remove(job.connection)
                    return state.takeNext(atMost: count)
                }
            }
        }
    }

    /// A third of the weight of a thread of normal priority.
    private static let niceness: Int32 = 5

    /// Linux has a nice value per thread. To raise it never fails.
    private static func lowerPriority() {
        _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, niceness)
    }

    /// Ends the threads after the running jobs.
    func close(_ done: @escaping @Sendable () -> Void) {
        threads.shutdownGracefully { _ in done() }
    }
}
