import LarderModel
import NIOCore
import Synchronization

/// All observed queries, and which of them a commit may concern.
final class LiveQueries: Sendable {
    private struct State {
        var queries: [LiveQuery.Key: LiveQuery] = [:]
        /// The queries that read objects of an entity, by the name of its root entity.
        var watching: [String: [ObjectIdentifier: (LiveQuery, QueryDependencies)]] = [:]
        /// The last transaction that was looked at.
        var number: Int64 = 0
    }

    private let backend: any StoreBackend
    private let pool: ReaderPool
    private let limits: ServerLimits
    /// Reads the changes of a commit, on its event loop.
    private let reader: LoopReader
    private let count = Atomic<Int>(0)
    private let announced = Atomic<Int64>(0)
    private let isScheduled = Atomic(false)
    private let state = Mutex(State())

    init(
        backend: any StoreBackend, pool: ReaderPool, limits: ServerLimits, reader: LoopReader
    ) {
        self.backend = backend
        self.pool = pool
        self.limits = limits
        self.reader = reader
    }

    // MARK: Queries

    /// Adds an observer to the query with this key.
    func join(_ observer: ObserverPort, _ key: LiveQuery.Key) -> LiveQuery {
        let query = state.withLock { state in
            if let known = state.queries[key] { return known }
            let query = LiveQuery(
                key, registry: self, pool: pool, backend: backend, limits: limits,
                eventLoop: reader.eventLoop)
            state.queries[key] = query
            count.add(1, ordering: .sequentiallyConsistent)
            return query
        }
        query.join(observer)
        return query
    }

    func leave(_ identity: ObjectIdentifier, _ query: LiveQuery) {
        if query.leave(identity) { remove(query) }
    }

    func remove(_ query: LiveQuery) {
        state.withLock { state in
            guard state.queries[query.key] === query else { return }
            state.queries[query.key] = nil
            count.subtract(1, ordering: .sequentiallyConsistent)
            for name in state.watching.keys {
                state.watching[name]?[ObjectIdentifier(query)] = nil
                if state.watching[name]?.isEmpty == true { state.watching[name] = nil }
            }
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

    // MARK: Commits

    /// Called by the writer's thread after a commit. Without a query this reads one number.
    func announce(_ number: Int64) {
        guard count.load(ordering: .sequentiallyConsistent) > 0 else { return }
        announced.store(number, ordering: .sequentiallyConsistent)
        guard !isScheduled.exchange(true, ordering: .sequentiallyConsistent) else { return }
        reader.eventLoop.execute { self.wakeConcerned() }
    }

    private func wakeConcerned() {
        isScheduled.store(false, ordering: .sequentiallyConsistent)
        let number = announced.load(ordering: .sequentiallyConsistent)
        let last = state.withLock { state in
            defer { state.number = max(state.number, number) }
            return state.number
        }
        guard number > last else { return }
        // The transactions before the first announcement were not looked at; they need not be.
        let page = last == 0 ? nil : reader.history(after: last, upTo: number)
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

    /// Metrics for `stats`.
    var statistics: [Statistic] {
        [Statistic("liveQueries", .int(Int64(count.load(ordering: .relaxed))))]
    }
}

extension QueryDependencies {
    /// Whether a run may change the result, or a row of it.
    fileprivate func isConcerned(by run: HistoryRun) -> Bool {
        concernsOwnObjects(run) || paths.dropFirst().contains { concerns(run, $0) }
    }
}
