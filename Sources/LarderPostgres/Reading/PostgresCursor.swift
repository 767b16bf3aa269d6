#if PostgreSQL
import LarderModel
import LarderQuery
import LarderSQL

/// Reads the result of a query. It holds its snapshot until it is closed.
final class PostgresCursor: ResultCursor {
    private let session: PostgresSession
    private let query: ResolvedQuery
    private var rows: PostgresRowSource
    private var prefetcher: Prefetcher<PostgresRowSource>
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
        prefetcher = Prefetcher(session)
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
#endif
