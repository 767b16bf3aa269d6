import LarderModel
import LarderQuery
import LarderWire
import NIOCore
import Synchronization

/// A query that clients of one user observe. All observers of the same query share its evaluation.
///
/// After a commit that may concern it, a job of the pool evaluates it, in one snapshot, and adds
/// the change to a log. Observers take the changes from the log when their clients are ready; one
/// that is too late gets the whole result again. So a slow observer costs no memory.
final class LiveQuery: Sendable {
    struct Key: Hashable, Sendable {
        let user: UInt32
        /// The view of the observers, which the query holds.
        let view: ObjectIdentifier
        let query: QueryRequest
        let intervalMilliseconds: UInt32
        let isSectioned: Bool
        /// The longest frame that the clients of the observers accept.
        let frameBytesMax: Int
    }

    /// The next reply for an observer.
    enum Next {
        case reply(Reply)
        case nothing
        /// The log does not reach back to the observer's version.
        case tooOld
    }

    fileprivate struct Change {
        let reply: Reply
        let byteCount: Int
    }

    fileprivate struct State {
        var observers: [ObjectIdentifier: ObserverPort] = [:]
        /// Observers that wait for the whole result.
        var joining: [ObjectIdentifier: ObserverPort] = [:]
        /// Each change of the result has the next version.
        var version: UInt64 = 0
        /// The last changes, up to `version`.
        var log: [Change] = []
        var logBytes = 0
        var isRunning = false
        /// Stops the running job.
        var cancellation = ReadCancellation()
        /// Whether there is news since the running job began.
        var mustRunAgain = false
        var lastRun: NIODeadline?
        /// The end of the interval that the next job waits for, and its timer.
        var scheduled: NIODeadline?
        var timer: Scheduled<Void>?

        var isObserved: Bool { !observers.isEmpty || !joining.isEmpty }
    }

    fileprivate enum Start {
        case now
        case later(NIODeadline)
    }

    /// Sendable unchecked: one job at a time uses the evaluation.
    private final class Confined: @unchecked Sendable {
        var evaluation: LiveEvaluation?
        let codec = WireCodec()
    }

    fileprivate static let logCountMax = 256
    fileprivate static let logBytesMax = 256 << 10

    let key: Key
    private let pool: ReaderPool
    private let view: any StoreView
    private let limits: ServerLimits
    private let registry: LiveQueries
    private let eventLoop: any EventLoop
    private let confined = Confined()
    private let state = Mutex(State())

    /// - Parameter eventLoop: For timers.
    init(
        _ key: Key, registry: LiveQueries, pool: ReaderPool, view: any StoreView,
        limits: ServerLimits, eventLoop: any EventLoop
    ) {
        self.key = key
        self.registry = registry
        self.pool = pool
        self.view = view
        self.limits = limits
        self.eventLoop = eventLoop
    }

    // MARK: Observers

    /// Sends the whole result to an observer again, and then reports changes.
    func join(_ observer: ObserverPort) {
        add(observer)
        wake()
    }

    /// Adds an observer, which gets the whole result after ``wake()``.
    func add(_ observer: ObserverPort) {
        state.withLock { state in
            state.observers[observer.identity] = nil
            state.joining[observer.identity] = observer
        }
    }

    /// - Returns: whether no observer is left.
    func leave(_ identity: ObjectIdentifier) -> Bool {
        state.withLock { state in
            state.observers[identity] = nil
            state.joining[identity] = nil
            guard !state.isObserved else { return false }
            state.cancelTimer()
            return true
        }
    }

    /// Ends the evaluation, because no observer is left, and none can join any more.
    func stop() { state.withLock { $0.cancellation }.cancel() }

    /// The change after a version.
    func next(after version: UInt64) -> Next {
        state.withLock { state in
            let count = state.version - version
            if count == 0 { return .nothing }
            guard count <= state.log.count else { return .tooOld }
            return .reply(state.log[state.log.count - Int(count)].reply)
        }
    }

    // MARK: Evaluation

    /// There may be news: a commit, or an observer that joins.
    func wake() {
        let interval = TimeAmount.milliseconds(Int64(key.intervalMilliseconds))
        switch state.withLock({ $0.start(interval) }) {
        case nil: break
        case .now?: registry.begin(self)
        case .later(let time)?:
            let timer = eventLoop.scheduleTask(deadline: time) { self.intervalEnded(time) }
            state.withLock { state in
                if state.scheduled == time { state.timer = timer } else { timer.cancel() }
            }
        }
    }

    private func intervalEnded(_ time: NIODeadline) {
        let isDue = state.withLock { state in
            guard state.scheduled == time else { return false }
            state.cancelTimer()
            return true
        }
        if isDue { registry.begin(self) }
    }

    /// Called by the registry, once for each time that it begins.
    func run() {
        let (cancellation, isObserved) = state.withLock { state in
            state.cancellation = ReadCancellation()
            return (state.cancellation, state.isObserved)
        }
        if !isObserved { return registry.ended(of: key.user) }
        let request = ReaderPool.Request(
            connection: ObjectIdentifier(self), user: key.user, byteCount: 0,
            eventLoop: eventLoop, endSnapshot: { cancellation.cancel() },
            cancellation: cancellation)
        pool.acquire(request) { reader in
            switch reader {
            case .failure:
                self.registry.ended(of: self.key.user)
                self.tryAgain()
            case .success(let reader):
                let result = self.evaluate(reader, cancellation)
                self.pool.release(reader)
                self.registry.ended(of: self.key.user)
                switch result {
                case .success(let result): self.evaluated(result)
                case .failure(let error):
                    self.failed(cancellation.isCancelled ? ReaderPool.snapshotExpired : error)
                }
            }
        }
    }

    private struct Evaluated {
        let outcome: LiveEvaluation.Outcome
        /// The whole result, for these observers, or the reason why it cannot be sent.
        let whole: Result<[Reply], LarderError>
        let joined: [ObserverPort]
    }

    /// Runs on a thread of the pool.
    private func evaluate(
        _ reader: PooledReader, _ cancellation: ReadCancellation
    ) -> Result<Evaluated, LarderError> {
        let joining = state.withLock { state -> [ObserverPort] in
            state.mustRunAgain = false
            state.lastRun = .now()
            return Array(state.joining.values)
        }
        do throws(LarderError) {
            let evaluation = try evaluation()
            let number = try reader.reader.pinSnapshot()
            defer { reader.reader.unpinSnapshot() }
            let job = LiveEvaluation.Job(
                reader: reader.reader,
                budget: reader.budget(
                    deadline: .now + limits.readTimeMax, cancellation: cancellation),
                number: number)
            let outcome = try evaluation.update(job, isWholeNeeded: !joining.isEmpty)
            guard
                registry.charge(evaluation.memoryBytes, to: self)
                    || evaluation.releaseGroups()
                        && registry.charge(evaluation.memoryBytes, to: self)
            else {
                throw LarderError(
                    .resourceExhausted, "the observed queries of this user need too much memory",
                    hint: "observe the first rows, by a limit, or fewer queries")
            }
            let whole = joining.isEmpty ? .success([]) : try wholeResult(evaluation, job)
            return .success(Evaluated(outcome: outcome, whole: whole, joined: joining))
        } catch {
            return .failure(error)
        }
    }

    private func wholeResult(
        _ evaluation: LiveEvaluation, _ job: LiveEvaluation.Job
    ) throws(LarderError) -> Result<[Reply], LarderError> {
        do throws(LarderError) {
            return .success(try evaluation.wholeResult(job, confined.codec))
        } catch {
            // The others, which have a result, still get the changes.
            guard error.code == .resourceExhausted else { throw error }
            return .failure(error)
        }
    }

    private func evaluation() throws(LarderError) -> LiveEvaluation {
        if let evaluation = confined.evaluation { return evaluation }
        let evaluation = try LiveEvaluation(
            key.query, isSectioned: key.isSectioned, frameBytesMax: key.frameBytesMax, view,
            limits)
        confined.evaluation = evaluation
        // Before the first snapshot is taken, so that no commit after it is missed.
        registry.watch(self, evaluation.dependencies)
        return evaluation
    }

    private func evaluated(_ result: Evaluated) {
        var change: Change?
        if case .change(let reply) = result.outcome { change = encoded(reply) }
        let (notified, joined, version, again) = state.withLock { state in
            switch result.outcome {
            case .unchanged: break
            case .replaced: state.replace()
            case .change:
                if let change { state.append(change) } else { state.replace() }
            }
            var joined: [ObserverPort] = []
            for observer in result.joined {
                // It may have left meanwhile.
                guard state.joining.removeValue(forKey: observer.identity) != nil else { continue }
                state.observers[observer.identity] = observer
                joined.append(observer)
            }
            let isNews = if case .unchanged = result.outcome { false } else { true }
            let others = isNews ? Array(state.observers.values) : []
            state.isRunning = false
            return (others, joined, state.version, state.mustRunAgain)
        }
        for observer in joined {
            switch result.whole {
            case .success(let replies): observer.sendWhole(replies, version)
            case .failure(let error): observer.fail(error)
            }
        }
        ObserverPort.notify(notified)
        if again { wake() }
    }

    /// nil if it does not fit into a frame of the usual length, so that the log stays short.
    private func encoded(_ reply: ObserveReply) -> Change? {
        guard let encoded = try? confined.codec.encoded(reply),
            case .encodedObserved(let bytes) = encoded,
            bytes.count <= limits.frameBytesMax - Self.envelopeBytesMax
        else { return nil }
        return Change(reply: encoded, byteCount: bytes.count)
    }

    private static let envelopeBytesMax = 64

    /// Ends every observer with an error, or tries again if time resolves it.
    private func failed(_ error: LarderError) {
        if [.timeout, .snapshotExpired].contains(error.code), confined.evaluation?.hasResult == true
        {
            return tryAgain()
        }
        // First, so that nobody joins it who would not get the error.
        registry.remove(self)
        let observers = state.withLock { state -> [ObserverPort] in
            state.isRunning = false
            defer { (state.observers, state.joining) = ([:], [:]) }
            return Array(state.observers.values) + Array(state.joining.values)
        }
        for observer in observers { observer.fail(error) }
    }

    private func tryAgain() {
        let isObserved = state.withLock { state in
            state.isRunning = false
            return state.isObserved
        }
        guard isObserved else { return }
        eventLoop.scheduleTask(in: Self.retryTime) { self.wake() }
    }

    private static let retryTime = TimeAmount.milliseconds(100)
}

extension LiveQuery.State {
    /// When the next job starts; nil if none is needed, or one will start.
    fileprivate mutating func start(_ interval: TimeAmount) -> LiveQuery.Start? {
        guard isObserved else { return nil }
        if isRunning {
            // Only changes wait for the interval, not the first result of an observer.
            guard scheduled != nil, !joining.isEmpty else {
                mustRunAgain = true
                return nil
            }
            cancelTimer()
            return .now
        }
        isRunning = true
        guard joining.isEmpty, let lastRun, lastRun + interval > .now() else { return .now }
        scheduled = lastRun + interval
        return .later(lastRun + interval)
    }

    fileprivate mutating func cancelTimer() {
        timer?.cancel()
        (scheduled, timer) = (nil, nil)
    }

    fileprivate mutating func replace() {
        version += 1
        log = []
        logBytes = 0
    }

    fileprivate mutating func append(_ change: LiveQuery.Change) {
        version += 1
        log.append(change)
        logBytes += change.byteCount
        while log.count > LiveQuery.logCountMax
            || logBytes > LiveQuery.logBytesMax && log.count > 1
        {
            logBytes -= log.removeFirst().byteCount
        }
    }
}
