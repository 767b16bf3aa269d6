import Glibc
import NIOPosix
import Synchronization

/// A few threads that run jobs in the order of their arrival, at most one at a time for each
/// connection: whoever asks for many long reads at once keeps one thread, and leaves the others to
/// the others.
///
/// The threads are nicer to the processor than the event loops are: where both want it, short
/// requests go first, and a long read has what they leave.
final class FairThreads: Sendable {
    private struct Job {
        let connection: ObjectIdentifier
        let work: @Sendable () -> Void
    }

    private struct State {
        var waiting: [Job] = []
        /// The connections whose jobs run, never more than there are threads.
        var running: Set<ObjectIdentifier> = []

        /// The job that waits longest of those that may begin.
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

    /// How many jobs wait for a thread is bounded by who submits them.
    func submit(for connection: ObjectIdentifier, _ work: @escaping @Sendable () -> Void) {
        state.withLock { $0.waiting.append(Job(connection: connection, work: work)) }
        startNext()
    }

    /// Has a thread of its own do what may begin now, and what may then.
    private func startNext() {
        guard let first = state.withLock({ $0.takeNext(atMost: count) }) else { return }
        threads.submit { [self] _ in
            Self.yieldToOthers()
            var next: Job? = first
            while let job = next {
                job.work()
                // Not handed to a thread that would have to be woken.
                next = state.withLock { state in
                    state.running.remove(job.connection)
                    return state.takeNext(atMost: count)
                }
            }
        }
    }

    /// A third of the weight of an ordinary thread.
    private static let niceness: Int32 = 5

    /// Linux keeps the niceness of each thread by itself. It fails for none that gives way.
    private static func yieldToOthers() {
        _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, niceness)
    }

    /// Ends the threads once the jobs that run have ended.
    func close(_ done: @escaping @Sendable () -> Void) {
        threads.shutdownGracefully { _ in done() }
    }
}
