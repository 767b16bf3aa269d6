import LarderModel
import LarderQuery
import NIOCore
import Synchronization

/// All observed queries, and which of them a commit may concern.
final class LiveQueries: Sendable {
    fileprivate struct State {
        var queries: [LiveQuery.Key: LiveQuery] = [:]
        /// The queries that read objects of an entity, by the name of its root entity.
        var watching: [String: [ObjectIdentifier: (LiveQuery, QueryDependencies)]] = [:]
        /// The last transaction that was looked at.
        var number: Int64 = 0
        /// The memory of each query.
        var bytes: [ObjectIdentifier: Int] = [:]
        var memory: UserShares
        /// The evaluations of each user.
        var evaluations: [UInt32: EvaluationQueue] = [:]
    }

    private let backend: any StoreBackend
    private let pool: ReaderPool
    private let limits: ServerLimits
    /// Runs the timers.
    private let eventLoop: any EventLoop
    private let count = Atomic<Int>(0)
    private let announced = Atomic<Int64>(0)
    private let isScheduled = Atomic(false)
    private let state: Mutex<State>

    init(
        backend: any StoreBackend, pool: ReaderPool, limits: ServerLimits,
        eventLoop: any EventLoop
    ) {
        self.backend = backend
        self.pool = pool
        self.limits = limits
        self.eventLoop = eventLoop
        state = Mutex(State(memory: UserShares(limits.liveMemory)))
    }

    // MARK: Queries

    /// Adds an observer to the query with this key. Nobody can join a query that has been removed.
    ///
    /// - Parameter view: That of the observer, which the key names.
    func join(
        _ observer: ObserverPort, _ key: LiveQuery.Key, _ view: any StoreView
    ) -> LiveQuery {
        let query = state.withLock { state in
            let query = state.queries[key] ?? add(key, view, &state)
            query.add(observer)
            return query
        }
        query.wake()
        return query
    }

    private func add(
        _ key: LiveQuery.Key, _ view: any StoreView, _ state: inout State
    ) -> LiveQuery {
        let query = LiveQuery(
            key, registry: self, pool: pool, view: view, limits: limits, eventLoop: eventLoop)
        state.queries[key] = query
        count.add(1, ordering: .sequentiallyConsistent)
        return query
    }

    /// The query is removed with its last observer, and an evaluation of it ends at once.
    func leave(_ identity: ObjectIdentifier, _ query: LiveQuery) {
        let isLast = state.withLock { state in
            let isLast = query.leave(identity)
            if isLast { remove(query, &state) }
            return isLast
        }
        if isLast { query.stop() }
    }

    func remove(_ query: LiveQuery) {
        state.withLock { remove(query, &$0) }
    }

    private func remove(_ query: LiveQuery, _ state: inout State) {
        guard state.queries[query.key] === query else { return }
        state.queries[query.key] = nil
        count.subtract(1, ordering: .sequentiallyConsistent)
        state.setBytes(0, of: query)
        state.evaluations[query.key.user]?.remove(query)
        for name in state.watching.keys {
            state.watching[name]?[ObjectIdentifier(query)] = nil
            if state.watching[name]?.isEmpty == true { state.watching[name] = nil }
        }
    }

    /// Charges the memory of a query to its user.
    ///
    /// - Returns: false if it has grown, and the user would have more than its share. The charge is
    ///   then as before, so that no other query of the user is refused for this one.
    func charge(_ bytes: Int, to query: LiveQuery) -> Bool {
        state.withLock { state in
            guard state.queries[query.key] === query else { return true }
            let former = state.bytes[ObjectIdentifier(query)] ?? 0
            state.setBytes(bytes, of: query)
            if bytes <= former || state.memory.allows(0, for: query.key.user) { return true }
            state.setBytes(former, of: query)
            return false
        }
    }

    /// Wakes the query after each commit that may concern it.
    func watch(_ query: LiveQuery, _ dependencies: QueryDependencies) {
        state.withLock { state in
            guard state.queries[query.key] === query else { return }
            for name in dependencies.entityNames {
                state.watching[root(of: name), default: [:]][ObjectIdentifier(query)] =
                    (query, dependencies)
            }
        }
    }

    private func root(of entityName: String) -> String {
        let schema = backend.storeDescription.schema
        return schema.entity(named: entityName).map { schema.root(of: $0).name } ?? entityName
    }

    // MARK: Evaluations

    /// Evaluates the query now, or after others of its user; never if it has been removed.
    func begin(_ query: LiveQuery) {
        let starts = state.withLock { state in
            guard state.queries[query.key] === query else { return false }
            let queue = EvaluationQueue(runningMax: limits.evaluationsMax)
            return state.evaluations[query.key.user, default: queue].begin(query)
        }
        if starts { query.run() }
    }

    /// An evaluation of a user has ended.
    func ended(of user: UInt32) {
        let next = state.withLock { state -> LiveQuery? in
            let next = state.evaluations[user]?.ended()
            if state.evaluations[user]?.isEmpty == true { state.evaluations[user] = nil }
            return next
        }
        next?.run()
    }

    // MARK: Commits

    /// Called by the writer's thread after a commit. Without a query this reads one number.
    func announce(_ number: Int64) {
        guard count.load(ordering: .sequentiallyConsistent) > 0 else { return }
        announced.store(number, ordering: .sequentiallyConsistent)
        guard !isScheduled.exchange(true, ordering: .sequentiallyConsistent) else { return }
        // Thousands of queries may be concerned, too many for an event loop.
        let request = ReaderPool.Request(
            connection: ObjectIdentifier(self), user: Self.ownUser, byteCount: 0,
            eventLoop: eventLoop, endSnapshot: {})
        pool.acquire(request) { reader in
            self.isScheduled.store(false, ordering: .sequentiallyConsistent)
            switch reader {
            case .failure: self.wakeConcerned(nil)
            case .success(let reader):
                self.wakeConcerned(reader.reader)
                self.pool.release(reader)
            }
        }
    }

    /// The server itself, as one of the users.
    private static let ownUser = UInt32.max

    /// Wakes the queries that the commits since the last call may concern, or all of them if there
    /// are too many changes.
    private func wakeConcerned(_ reader: (any StoreReader)?) {
        let number = announced.load(ordering: .sequentiallyConsistent)
        let last = state.withLock { state in
            defer { state.number = max(state.number, number) }
            return state.number
        }
        guard number > last else { return }
        // The transactions before the first announcement were not looked at; they need not be.
        let page = last == 0 ? nil : page(after: last, reader)
        let woken = state.withLock { state -> [LiveQuery] in
            guard let page else { return Array(state.queries.values) }
            var woken: [ObjectIdentifier: LiveQuery] = [:]
            for run in page.transactions.lazy.flatMap(\.runs) {
                for (identity, (query, dependencies)) in state.watching[root(of: run.entityName)]
                    ?? [:]
                where woken[identity] == nil && dependencies.isConcerned(by: run) {
                    woken[identity] = query
                }
            }
            return Array(woken.values)
        }
        for query in woken { query.wake() }
    }

    private static let runsBytesMax = 256 << 10

    /// The transactions after one; nil if they are too long.
    private func page(after number: Int64, _ reader: (any StoreReader)?) -> HistoryPage? {
        guard
            let page = try? reader?.history(
                HistoryPageRequest(
                    from: HistoryPosition(number: number + 1), .all, bytesMax: Self.runsBytesMax),
                budget: ReadBudget())
        else { return nil }
        return page.isLast ? page : nil
    }

    /// The memory of the live queries of each user.
    var memoryByUser: [(user: UInt32, amount: Int)] { state.withLock { $0.memory.amounts } }

    /// Metrics for `stats`.
    var statistics: [Statistic] {
        let (bytes, running, waiting) = state.withLock { state in
            let queues = state.evaluations.values
            return (
                state.memory.used, queues.reduce(0) { $0 + $1.runningCount },
                queues.reduce(0) { $0 + $1.waitingCount }
            )
        }
        return [
            Statistic("liveQueries", .int(Int64(count.load(ordering: .relaxed)))),
            Statistic("liveQueryMemoryBytes", .int(Int64(bytes))),
            Statistic("liveEvaluations", .int(Int64(running))),
            Statistic("liveEvaluationsWaiting", .int(Int64(waiting))),
        ]
    }
}

extension LiveQueries.State {
    fileprivate mutating func setBytes(_ count: Int, of query: LiveQuery) {
        let identity = ObjectIdentifier(query)
        memory.add(count - (bytes[identity] ?? 0), to: query.key.user)
        bytes[identity] = count > 0 ? count : nil
    }
}

extension QueryDependencies {
    /// Whether a run may change the result, or a row of it.
    fileprivate func isConcerned(by run: HistoryRun) -> Bool {
        concernsOwnObjects(run) || concernsAll(run)
            || paths.dropFirst().contains { concerns(run, $0) }
    }
}
