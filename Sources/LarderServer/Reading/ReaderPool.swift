import Dispatch
import LarderModel
import LarderQuery
import NIOCore
import Synchronization

/// A few threads and a bounded set of store readers, for reads that are too long for an event loop.
///
/// A read has one reader from beginning to end, also while its client is slow, but a thread only
/// while it computes. A connection and a user have at most their shares of the readers. Reads wait
/// for a reader in the order of their arrival, for a bounded time.
///
/// An open read keeps its snapshot, and the log of the store grows as long as old snapshots need
/// it; so the pool can end them (``endSnapshots(atMost:)``).
final class ReaderPool: Sendable {
    typealias Job = @Sendable (Result<PooledReader, LarderError>) -> Void

    /// A read that needs a reader.
    struct Request: Sendable {
        /// Its share of the readers is charged, and its jobs run one after the other.
        let connection: ObjectIdentifier
        let user: UInt32
        /// Roughly the memory that the read takes while it has a reader.
        let byteCount: Int
        /// Schedules the end of the waiting time.
        let eventLoop: any EventLoop
        /// Ends the read with `snapshotExpired`; called on any thread.
        let endSnapshot: @Sendable () -> Void
        /// Ends the wait for a reader. The read itself has it in its budget.
        var cancellation = ReadCancellation()
    }

    private struct Waiter {
        let number: Int
        let request: Request
        let job: Job
        let expiry: Scheduled<Void>
    }

    private struct State {
        var idle: [PooledReader] = []
        /// Whether readers are closed when they are released.
        var isClosed = false
        /// Admitted reads that have not ended, from the oldest. Each has a reader or will take one,
        /// so the pool never makes more readers than this.
        var active: [(number: Int, request: Request)] = []
        /// Their numbers by user and by connection.
        var readers: UserShares
        var readersByConnection: [ObjectIdentifier: Int] = [:]
        /// The memory of the active reads.
        var memory: UserShares
        var waiters: [Waiter] = []
        var waiting: UserShares
        var nextNumber = 0
        /// Called when no read is active any more. Until then no read begins.
        var whenEmpty: (@Sendable () -> Void)?
        /// Whether the next check for idle readers is scheduled.
        var isCheckScheduled = false
    }

    /// Idle readers that keep their memory.
    private static let warmReadersMax = 4

    private let backend: any StoreBackend
    private let limits: ServerLimits
    private let threads: FairThreads
    private let state: Mutex<State>
    /// Called when the pool has been idle for some time and has closed its readers.
    private let becameIdle: @Sendable () -> Void

    init(
        backend: any StoreBackend, limits: ServerLimits,
        becameIdle: @escaping @Sendable () -> Void = {}
    ) {
        self.backend = backend
        self.limits = limits
        self.becameIdle = becameIdle
        threads = FairThreads(
            running: limits.readsRunning, started: limits.readsStarted,
            niceness: limits.readNiceness)
        state = Mutex(
            State(
                readers: UserShares(limits.readers), memory: UserShares(limits.readMemory),
                waiting: UserShares(limits.readsWaiting)))
    }

    /// Runs a job on a thread of the pool with a reader, or with the error that there is none. The
    /// job or its successors must return the reader with ``release(_:)``.
    func acquire(_ request: Request, _ job: @escaping Job) {
        let number = state.withLock { state in
            state.nextNumber += 1
            return state.nextNumber
        }
        let admitted = state.withLock { state -> Result<Void, LarderError>? in
            if mayStart(request, state) {
                start(number, request, &state)
                return .success(())
            }
            guard state.waiting.take(1, for: request.user) else { return .failure(Self.tooMany) }
            let expiry = request.eventLoop.scheduleTask(in: TimeAmount(limits.readerWaitTimeMax)) {
                self.reject(number, Self.noReader)
            }
            state.waiters.append(
                Waiter(number: number, request: request, job: job, expiry: expiry))
            return nil
        }
        switch admitted {
        case .success?: run(job, for: request, number)
        case .failure(let error)?: job(.failure(error))
        case nil:
            request.cancellation.whenCancelled { [weak self] in
                self?.reject(number, Self.cancelled)
            }
        }
    }

    // MARK: Workers

    /// Runs a part of a read on a thread that is idle, with another reader.
    ///
    /// - Parameters:
    ///   - reader: That of the read, which must not end before the part has.
    ///   - group: Is left when the part has ended.
    /// - Returns: false if no thread is idle, or the user has its share of the readers.
    func startPart(
        of reader: PooledReader, in group: DispatchGroup,
        _ work: @escaping @Sendable (any StoreReader, FairThreads.Turn) -> Void
    ) -> Bool {
        let request = reader.request
        let number = state.withLock { state -> Int? in
            guard state.readers.take(1, for: request.user) else { return nil }
            state.nextNumber += 1
            return state.nextNumber
        }
        guard let number else { return false }
        group.enter()
        let isStarted = threads.start(in: .part(number), of: request.user) { [self] turn in
            // Without a reader, the others read this part.
            let part = try? takeReader(for: request, number, turn)
            if let part {
                work(part.reader, turn)
                keep(part)
            }
            partEnded(of: request.user)
            group.leave()
        }
        guard isStarted else {
            partEnded(of: request.user)
            group.leave()
            return false
        }
        return true
    }

    private func partEnded(of user: UInt32) {
        let next = state.withLock { state in
            state.readers.add(-1, to: user)
            return takeNextWaiter(&state)
        }
        if let next { start(next) }
    }

    /// Runs more work of a read that has a reader.
    func submit(_ reader: PooledReader, _ work: @escaping @Sendable () -> Void) {
        submit(in: .object(reader.request.connection), of: reader.request.user) { turn in
            reader.turn = turn
            work()
        }
    }

    /// Runs work that needs no reader.
    func submit(
        in queue: FairThreads.SerialQueue, of user: UInt32, isFirst: Bool = false,
        _ work: @escaping FairThreads.Work
    ) {
        threads.submit(in: queue, of: user, isFirst: isFirst, work)
    }

    /// Returns a reader to the pool and closes its cursor. It must be called on a thread of the
    /// pool.
    func release(_ reader: PooledReader) {
        reader.cursor?.close()
        reader.cursor = nil
        // Another thread may take the reader as soon as it is idle, and change its number.
        let number = reader.number
        keep(reader)
        ended(number)
    }

    private func keep(_ reader: PooledReader) {
        // The last readers to become idle are the next to be used.
        let idleCount = state.withLock { $0.idle.count }
        if idleCount >= Self.warmReadersMax { reader.reader.releaseMemory() }
        state.withLock { if !$0.isClosed { $0.idle.append(reader) } }
    }

    private func ended(_ number: Int) {
        let (next, whenEmpty) = state.withLock { state -> (Waiter?, (@Sendable () -> Void)?) in
            guard let index = state.active.firstIndex(where: { $0.number == number })
            else { return (nil, nil) }
            scheduleIdleCheck(on: state.active[index].request.eventLoop, &state)
            let request = state.active.remove(at: index).request
            state.readers.add(-1, to: request.user)
            state.memory.add(-request.byteCount, to: request.user)
            let left = (state.readersByConnection[request.connection] ?? 1) - 1
            state.readersByConnection[request.connection] = left > 0 ? left : nil
            return (takeNextWaiter(&state), state.active.isEmpty ? state.whenEmpty : nil)
        }
        whenEmpty?()
        if let next { start(next) }
    }

    // MARK: Idle memory

    private func scheduleIdleCheck(on eventLoop: any EventLoop, _ state: inout State) {
        guard !state.isCheckScheduled, !state.isClosed else { return }
        state.isCheckScheduled = true
        let seen = state.nextNumber
        // Weak, because a closed pool must not keep its store until then.
        eventLoop.scheduleTask(in: TimeAmount(limits.idleMemoryTimeMax)) { [weak self] in
            self?.checkIdle(since: seen, on: eventLoop)
        }
    }

    /// Closes the idle readers if no read has begun for some time, and none is active. What they
    /// have read, and the statements of a query that was sent once, would stay for ever.
    private func checkIdle(since seen: Int, on eventLoop: any EventLoop) {
        let idle = state.withLock { state -> [PooledReader]? in
            state.isCheckScheduled = false
            guard state.active.isEmpty, state.nextNumber == seen else {
                // A read that is active schedules the next check when it ends.
                if state.active.isEmpty { scheduleIdleCheck(on: eventLoop, &state) }
                return nil
            }
            defer { state.idle = [] }
            return state.idle
        }
        // A closed pool has none.
        guard let idle, !idle.isEmpty else { return }
        submit(in: .object(ObjectIdentifier(self)), of: .max) { [becameIdle] _ in
            for reader in idle { reader.reader.releaseMemory() }
            becameIdle()
        }
    }

    // MARK: Waiting

    /// Takes the first waiting read that may start.
    private func takeNextWaiter(_ state: inout State) -> Waiter? {
        guard let index = state.waiters.firstIndex(where: { mayStart($0.request, state) })
        else { return nil }
        let waiter = takeWaiter(at: index, &state)
        start(waiter.number, waiter.request, &state)
        return waiter
    }

    private func start(_ waiter: Waiter) {
        waiter.expiry.cancel()
        run(waiter.job, for: waiter.request, waiter.number)
    }

    private func takeWaiter(at index: Int, _ state: inout State) -> Waiter {
        let waiter = state.waiters.remove(at: index)
        state.waiting.add(-1, to: waiter.request.user)
        return waiter
    }

    private func mayStart(_ request: Request, _ state: borrowing State) -> Bool {
        if case .some = state.whenEmpty { return false }
        let count = state.readersByConnection[request.connection] ?? 0
        return count < limits.readersPerConnectionMax
            && state.readers.allows(1, for: request.user)
            && mayTakeMemory(request, state.memory)
    }

    /// Whether a read stays within the share of its user, or is the only one of its user that takes
    /// memory and the total is not reached.
    private func mayTakeMemory(_ request: Request, _ memory: borrowing UserShares) -> Bool {
        memory.allows(request.byteCount, for: request.user)
            || memory.used(by: request.user) == 0 && memory.used < memory.limit.total
    }

    private func start(_ number: Int, _ request: Request, _ state: inout State) {
        state.active.append((number, request))
        state.readers.add(1, to: request.user)
        state.memory.add(request.byteCount, to: request.user)
        state.readersByConnection[request.connection, default: 0] += 1
    }

    private func run(_ job: @escaping Job, for request: Request, _ number: Int) {
        submit(in: .object(request.connection), of: request.user) { [self] turn in
            do throws(LarderError) {
                job(.success(try takeReader(for: request, number, turn)))
            } catch {
                job(.failure(error))
                ended(number)
            }
        }
    }

    private func takeReader(
        for request: Request, _ number: Int, _ turn: FairThreads.Turn
    ) throws(LarderError) -> PooledReader {
        guard let idle = state.withLock({ $0.idle.popLast() }) else {
            let reader = try backend.makeReader()
            try reader.setCacheBytes(limits.pooledReaderCacheBytes)
            return PooledReader(reader, for: request, number, turn)
        }
        idle.request = request
        idle.number = number
        idle.turn = turn
        return idle
    }

    /// Ends the oldest reads of the user who has most, and then of the next one, and so on.
    func endSnapshots(atMost count: Int) {
        let ended = state.withLock { state -> [Request] in
            var left = state.readers
            var requests = state.active.map(\.request)
            var ended: [Request] = []
            while ended.count < count, !requests.isEmpty {
                let most = requests.map { left.used(by: $0.user) }.max() ?? 0
                guard let index = requests.firstIndex(where: { left.used(by: $0.user) == most })
                else { break }
                let request = requests.remove(at: index)
                left.add(-1, to: request.user)
                ended.append(request)
            }
            return ended
        }
        for request in ended { request.endSnapshot() }
    }

    /// Ends all reads, and lets no other one begin until they have released their readers, or the
    /// time is over. It blocks the calling thread.
    func endAllSnapshots(within time: Duration) {
        let released = DispatchSemaphore(value: 0)
        state.withLock { $0.whenEmpty = { released.signal() } }
        endSnapshots(atMost: .max)
        let milliseconds = Int(clamped: time / .milliseconds(1))
        _ = released.wait(timeout: .now() + .milliseconds(milliseconds))
        let waiters = state.withLock { state -> [Waiter] in
            state.whenEmpty = nil
            var started: [Waiter] = []
            while let waiter = takeNextWaiter(&state) { started.append(waiter) }
            return started
        }
        for waiter in waiters { start(waiter) }
    }

    /// The number of reads that may have a snapshot.
    var activeCount: Int { state.withLock { $0.active.count } }

    static let snapshotExpired = LarderError(
        .snapshotExpired, "the store's log has become too long to keep the snapshot of this read",
        hint: "send the query again, and read the result faster or in smaller parts")

    private static let tooMany = LarderError(
        .resourceExhausted, "too many long reads of this user are waiting", hint: "try again later")

    private static let noReader = LarderError(
        .timeout, "no reader became free in time",
        hint: "read or cancel the results that are still streaming, then try again")

    private static let cancelled = LarderError(.cancelled, "the read was cancelled")

    /// Ends the wait of a read, if it still waits.
    private func reject(_ number: Int, _ error: LarderError) {
        let waiter = state.withLock { state -> Waiter? in
            guard let index = state.waiters.firstIndex(where: { $0.number == number })
            else { return nil }
            return takeWaiter(at: index, &state)
        }
        guard let waiter else { return }
        waiter.expiry.cancel()
        waiter.job(.failure(error))
    }

    /// Releases the readers, those of active reads when they end, and ends the threads after that.
    /// It must be called after the last connection has closed.
    func close(_ done: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.idle = []
            state.isClosed = true
        }
        threads.close(done)
    }

    /// Adds the long reads to the load of the server.
    func report(_ load: inout ServerLoad) {
        state.withLock { state in
            load.readsRunning = Int64(state.active.count)
            load.readsWaiting = Int64(state.waiters.count)
        }
    }

    /// The memory of the active reads of each user.
    var memoryByUser: [(user: UInt32, amount: Int)] { state.withLock { $0.memory.amounts } }

    /// Metrics for `stats`.
    var statistics: [Statistic] {
        state.withLock { state in
            [
                Statistic("poolReads", .int(Int64(state.active.count))),
                Statistic("poolReadsWaiting", .int(Int64(state.waiters.count))),
                Statistic("poolReadMemoryBytes", .int(Int64(state.memory.used))),
                Statistic("poolReadersIdle", .int(Int64(state.idle.count))),
            ]
        }
    }
}

/// A store reader of the pool, and its open cursor.
///
/// Sendable unchecked: it belongs to one read at a time, and the jobs of a read run one after the
/// other: the next is submitted after the last has reported. Between reads the pool's lock protects
/// it.
final class PooledReader: @unchecked Sendable {
    let reader: any StoreReader
    var cursor: (any ResultCursor)?
    fileprivate(set) var request: ReaderPool.Request
    fileprivate var number: Int
    /// The turn of the job that uses it now.
    fileprivate(set) var turn: FairThreads.Turn

    fileprivate init(
        _ reader: any StoreReader, for request: ReaderPool.Request, _ number: Int,
        _ turn: FairThreads.Turn
    ) {
        self.reader = reader
        self.request = request
        self.number = number
        self.turn = turn
    }

    /// A budget with which the read lets others run in its turn.
    func budget(
        deadline: ContinuousClock.Instant, cancellation: ReadCancellation
    ) -> ReadBudget {
        ReadBudget(
            deadline: deadline, cancellation: cancellation,
            pause: { [turn] in turn.pauseIfOver() })
    }
}
