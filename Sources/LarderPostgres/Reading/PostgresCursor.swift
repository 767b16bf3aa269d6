#if PostgreSQL
import LarderModel
import LarderQuery
import LarderSQL

/// Reads the result of a query. It holds its snapshot until it is closed.
final class PostgresCursor: ResultCursor {
    private let session: PostgresSession
    private let query: ResolvedQuery
    private var rows: PostgresRowSource
    private var prefetcher: PostgresPrefetcher
    private var hasMoreRows = true
    private(set) var isOpen = true
    /// The work of earlier reads.
    private let earlier: ReadWork

    init(
        _ session: PostgresSession, _ plan: ReadPlan, _ parameters: QueryParameters
    ) throws(ReadFailure) {
        self.session = session
        query = plan.query
        earlier = session.work
        let statements = try session.statements(plan, parameters)
        rows = PostgresRowSource(session, plan.query, statements, limit: parameters.limit)
        prefetcher = PostgresPrefetcher(session)
    }

    deinit { close() }

    func next(
        bytesMax: Int, budget: ReadBudget
    ) throws(ReadFailure) -> (batch: Batch, isLast: Bool) {
        precondition(isOpen, "the cursor is closed")
        session.limit.start(budget)
        do throws(ReadFailure) {
            let batch = try next(bytesMax: bytesMax)
            let isLast = !hasMoreRows && prefetcher.isEmpty
            if isLast { end() }
            return (batch, isLast)
        } catch {
            end()
            throw error
        }
    }

    private func next(bytesMax: Int) throws(ReadFailure) -> Batch {
        guard prefetcher.isEmpty else { return try prefetcher.next(bytesMax: bytesMax) }
        let (batch, isLast) = try rows.next(bytesMax: bytesMax)
        hasMoreRows = !isLast
        if query.prefetch.isEmpty { return batch }
        prefetcher.add(batch, query.prefetch)
        return try prefetcher.next(bytesMax: bytesMax)
    }

    var work: ReadWork { session.work.since(earlier) }

    func close() {
        guard isOpen else { return }
        isOpen = false
        end()
    }

    /// Ends the snapshot as soon as it is not needed.
    private func end() {
        prefetcher.close()
        rows.close()
        session.endSnapshot()
    }
}

/// Returns prefetched objects before the rows that refer to them: a batch of rows waits until the
/// destinations of its relationships have been read, and these until theirs have been.
struct PostgresPrefetcher {
    private struct Level {
        let batch: Batch
        /// The prefetches that are not complete. The source, if there is one, reads the first.
        var pending: ArraySlice<PlanPrefetch>
        var source: PostgresRowSource?
    }

    private let session: PostgresSession
    private var levels: [Level] = []

    init(_ session: PostgresSession) { self.session = session }

    /// Whether all rows have been returned.
    var isEmpty: Bool { levels.isEmpty }

    /// Adds rows, which are returned after the objects to which they refer.
    mutating func add(_ batch: Batch, _ prefetch: [PlanPrefetch]) {
        levels.append(Level(batch: batch, pending: prefetch[...]))
    }

    /// The next batch. There must be one.
    mutating func next(bytesMax: Int) throws(ReadFailure) -> Batch {
        while let level = levels.indices.last, let prefetch = levels[level].pending.first {
            if levels[level].source == nil {
                levels[level].source = source(prefetch, levels[level].batch)
            }
            guard let next = try levels[level].source?.next(bytesMax: bytesMax) else {
                levels[level].pending.removeFirst()
                continue
            }
            if next.isLast {
                levels[level].source?.close()
                levels[level].source = nil
                levels[level].pending.removeFirst()
            }
            guard next.batch.rowCount > 0 else { continue }
            var batch = next.batch
            batch.prefetchPath = prefetch.keyPath
            add(batch, prefetch.query.prefetch)
        }
        guard let level = levels.popLast() else { preconditionFailure("there are rows") }
        return level.batch
    }

    mutating func close() {
        for level in levels.indices { levels[level].source?.close() }
        levels.removeAll()
    }

    /// A source of the objects to which a batch refers; nil if it refers to none.
    private func source(_ prefetch: PlanPrefetch, _ batch: Batch) -> PostgresRowSource? {
        let keys = batch.columns[prefetch.column].objectKeys
        guard !keys.isEmpty else { return nil }
        return PostgresRowSource(session, prefetch.query, prefetch.statement, keys.sorted())
    }
}

extension Column {
    /// The keys of all objects in it.
    fileprivate var objectKeys: Set<Int64> {
        switch storage {
        case .lists(let keys, _): Set(keys)
        case .integers(let keys): Set(keys.indices.lazy.filter { !isNull(at: $0) }.map { keys[$0] })
        case .doubles, .bytes: []
        }
    }
}
#endif
