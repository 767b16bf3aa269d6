import Dispatch
import Glibc
import NIOCore
import NIOPosix
import Synchronization

/// A few threads for work that is too long for an event loop, shared fairly between users.
///
/// A few jobs run at a time, at most two of one user while others leave room. The jobs of a
/// ``SerialQueue`` run one after the other, in order. A job that takes long gives way to others at
/// intervals (``Turn/pauseIfOver()``), so that any number of long reads share the processors.
///
/// The threads may have a lower priority than the event loops, so that short requests run first.
final class FairThreads: Sendable {
    typealias Work = @Sendable (Turn) -> Void

    /// The name of a queue. At most one of its jobs has started and not ended.
    enum SerialQueue: Hashable {
        /// The jobs that have to do with an object, such as a connection.
        case object(ObjectIdentifier)
        /// The decoding of the longest frames of a user, which takes several times their length.
        case longestFrames(user: UInt32)
        /// A part of a long read that has jobs on several threads.
        case part(Int)
    }

    /// The right of a job to run.
    final class Turn: Sendable {
        /// The time after which a job gives way to others that wait.
        static let time = TimeAmount.milliseconds(10)

        let user: UInt32
        fileprivate let queue: SerialQueue
        fileprivate let resumption = DispatchSemaphore(value: 0)
        private let threads: FairThreads
        private let end = Atomic<UInt64>(0)

        fileprivate init(_ job: Job, on threads: FairThreads) {
            user = job.user
            queue = job.queue
            self.threads = threads
            begin()
        }

        fileprivate func begin() {
            end.store((NIODeadline.now() + Self.time).uptimeNanoseconds, ordering: .relaxed)
        }

        /// Lets other jobs run until all of a group have ended.
        func wait(for group: DispatchGroup) {
            guard group.wait(timeout: .now()) == .timedOut else { return }
            threads.wait(self, for: group)
            begin()
        }

        /// Lets other jobs run if this one has run for its time, and returns when it may continue.
        /// Call it often, on the thread of the job.
        func pauseIfOver() {
            let now = NIODeadline.now().uptimeNanoseconds
            guard now >= end.load(ordering: .relaxed) else { return }
            threads.pause(self)
            begin()
        }
    }

    fileprivate struct Job {
        let queue: SerialQueue
        let user: UInt32
        let work: Work
    }

    /// The next job to run: one that has not started, or one that has given way.
    private enum Next {
        case start(Job)
        case resume(Turn)
    }

    private struct State {
        var waiting: [Job] = []
        var paused: [Turn] = []
        /// The jobs that run, and the jobs that have a thread: running or paused.
        var running: UserShares
        var started: UserShares
        /// The queues of the jobs that have started.
        var queues: Set<SerialQueue> = []
        /// Called once, when no job waits and none has a thread.
        var whenIdle: (@Sendable () -> Void)?

        mutating func takeWhenIdle() -> (@Sendable () -> Void)? {
            waiting.isEmpty && started.used == 0 ? whenIdle.take() : nil
        }

        /// Takes the job that runs next, if one may. Paused jobs come first: each has waited for
        /// its next turn for as long as it is in the list.
        mutating func takeNext() -> Next? {
            let resumed = bestIndex(in: paused, user: \.user) { _ in true }
            let new = bestIndex(in: waiting, user: \.user) { job in
                !queues.contains(job.queue) && started.allows(1, for: job.user)
            }
            switch (resumed, new) {
            case (nil, nil): return nil
            case (let index?, nil): return .resume(resume(index))
            case (nil, let index?): return .start(start(index))
            case (let old?, let index?):
                let isNewAhead =
                    running.used(by: waiting[index].user) < running.used(by: paused[old].user)
                return isNewAhead ? .start(start(index)) : .resume(resume(old))
            }
        }

        /// The first element whose user may run one more job, of the user with the fewest running.
        private func bestIndex<Element>(
            in elements: [Element], user: (Element) -> UInt32, where mayRun: (Element) -> Bool
        ) -> Int? {
            var best: (index: Int, running: Int)?
            for (index, element) in elements.enumerated() {
                let count = running.used(by: user(element))
                if let best, best.running <= count { continue }
                guard running.allows(1, for: user(element)), mayRun(element) else { continue }
                best = (index, count)
                if count == 0 { break }
            }
            return best?.index
        }

        private mutating func start(_ index: Int) -> Job {
            let job = waiting.remove(at: index)
            running.add(1, to: job.user)
            started.add(1, to: job.user)
            queues.insert(job.queue)
            return job
        }

        private mutating func resume(_ index: Int) -> Turn {
            let turn = paused.remove(at: index)
            running.add(1, to: turn.user)
            return turn
        }

        mutating func end(_ turn: Turn) {
            running.add(-1, to: turn.user)
            started.add(-1, to: turn.user)
            queues.remove(turn.queue)
        }
    }

    private let threads: NIOThreadPool
    private let niceness: Int32
    private let state: Mutex<State>

    /// - Parameters:
    ///   - running: The jobs that run at a time.
    ///   - started: The jobs that run or have given way: the number of threads.
    ///   - niceness: The nice value of the threads; 0 for that of the process.
    init(running: SharedLimit, started: SharedLimit, niceness: Int32 = 0) {
        self.niceness = niceness
        threads = NIOThreadPool(numberOfThreads: started.total)
        state = Mutex(State(running: UserShares(running), started: UserShares(started)))
        threads.start()
    }

    /// The callers bound the number of waiting jobs.
    ///
    /// - Parameter isFirst: Whether the job runs before others of users with as many jobs running.
    func submit(
        in queue: SerialQueue, of user: UInt32, isFirst: Bool = false, _ work: @escaping Work
    ) {
        state.withLock {
            let job = Job(queue: queue, user: user, work: work)
            $0.waiting.insert(job, at: isFirst ? 0 : $0.waiting.endIndex)
        }
        runNext()
    }

    /// Starts a job if it may run at once and no other one waits; otherwise returns false.
    func start(in queue: SerialQueue, of user: UInt32, _ work: @escaping Work) -> Bool {
        let next = state.withLock { state -> Next? in
            guard state.waiting.isEmpty, state.paused.isEmpty,
                state.running.allows(1, for: user), state.started.allows(1, for: user)
            else { return nil }
            state.waiting.append(Job(queue: queue, user: user, work: work))
            return state.takeNext()
        }
        guard let next else { return false }
        run(next)
        return true
    }

    private func runNext() {
        if let next = state.withLock({ $0.takeNext() }) { run(next) }
    }

    private func run(_ next: Next) {
        switch next {
        case .resume(let turn): turn.resumption.signal()
        case .start(let job):
            threads.submit { [self] state in
                if case .active = state { lowerPriority() }
                runAll(from: job)
            }
        }
    }

    /// Runs a job, and those that may start after it. On this thread, because another one would
    /// have to be woken.
    private func runAll(from first: Job) {
        var next: Job? = first
        while let job = next {
            let turn = Turn(job, on: self)
            job.work(turn)
            let (following, whenIdle) = state.withLock { state in
                state.end(turn)
                return (state.takeNext(), state.takeWhenIdle())
            }
            switch following {
            case nil:
                whenIdle?()
                return
            case .start(let job)?: next = job
            case .resume(let paused)?:
                paused.resumption.signal()
                return
            }
        }
    }

    /// Lets another job run instead of this one, if one waits that has run less, and returns when
    /// this one may continue.
    private func pause(_ turn: Turn) {
        let next = state.withLock { state -> Next? in
            state.running.add(-1, to: turn.user)
            guard let next = state.takeNext() else {
                state.running.add(1, to: turn.user)
                return nil
            }
            state.paused.append(turn)
            return next
        }
        guard let next else { return }
        run(next)
        // A place may still be free, also for this job.
        runNext()
        turn.resumption.wait()
    }

    private func wait(_ turn: Turn, for group: DispatchGroup) {
        let other = state.withLock { state -> Next? in
            state.running.add(-1, to: turn.user)
            return state.takeNext()
        }
        if let other { run(other) }
        group.wait()
        state.withLock { $0.paused.append(turn) }
        runNext()
        turn.resumption.wait()
    }

    /// Linux has a nice value per thread. To raise it never fails.
    private func lowerPriority() {
        guard niceness > 0 else { return }
        _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, niceness)
    }

    /// Ends the threads after all jobs. A job that is submitted later runs on the thread of its
    /// caller.
    func close(_ done: @escaping @Sendable () -> Void) {
        // SwiftNIO would run the jobs that no thread has taken yet on another thread, and call back
        // without waiting for them.
        let whenIdle = state.withLock { [threads] state in
            state.whenIdle = { threads.shutdownGracefully { _ in done() } }
            return state.takeWhenIdle()
        }
        whenIdle?()
    }
}
