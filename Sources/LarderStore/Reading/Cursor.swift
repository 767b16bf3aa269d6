import LarderModel
import LarderQuery
import LarderSQL

/// Reads the result of a query. It holds its snapshot until it is closed.
///
/// After an error it can only be closed, because SQLite cannot continue a statement that was
/// stopped.
final class Cursor: ResultCursor {
    private let session: ReadSession
    private let plan: ReadPlan
    private let parameters: QueryParameters
    private var rows: BatchSource
    private var prefetcher: Prefetcher<BatchSource>
    private var hasMoreRows = true
    private let holdsSnapshot: Bool
    private(set) var isOpen = true
    /// The work of earlier reads.
    private let earlier: ReadWork

    init(
        _ session: ReadSession, _ plan: ReadPlan, _ parameters: QueryParameters,
        _ workers: (any ReadWorkers)? = nil
    ) throws(ReadFailure) {
        self.session = session
        self.plan = plan
        self.parameters = parameters
        earlier = session.work
        var statements = try session.statements(plan, parameters)
        var last: SQL?
        if let workers {
            last = try ParallelRead.run(session, plan, parameters, statements, workers)
        }
        if let last { statements = [last] }
        rows = BatchSource(session, plan.query, statements, limit: parameters.limit)
        prefetcher = Prefetcher(session)
        // A single statement is a snapshot of its own while it runs.
        holdsSnapshot =
            last != nil || rows.hasLists || statements.count > 1 || !plan.query.prefetch.isEmpty
        if holdsSnapshot, last == nil { try session.beginSnapshot() }
    }

    deinit { close() }

    func next(
        bytesMax: Int, budget: ReadBudget
    ) throws(ReadFailure) -> (batch: Batch, isLast: Bool) {
        precondition(isOpen, "the cursor is closed")
        session.connection.setBudget(budget)
        defer { session.connection.setBudget(nil) }
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
        let (batch, isLast) = try nextRows(bytesMax: bytesMax)
        hasMoreRows = !isLast
        let prefetch = plan.query.prefetch
        if prefetch.isEmpty { return batch }
        prefetcher.add(batch, prefetch)
        return try prefetcher.next(bytesMax: bytesMax)
    }

    private func nextRows(bytesMax: Int) throws(ReadFailure) -> (batch: Batch, isLast: Bool) {
        do throws(ReadFailure) { return try rows.next(bytesMax: bytesMax) } catch {
            guard case .failed(GroupFunctions.tooManyGroups) = error else { throw error }
        }
        // No row has been returned: the groups are complete only after all rows have been read.
        rows.close()
        plan.sortGroups()
        let statements = try session.statements(plan, parameters)
        rows = BatchSource(session, plan.query, statements, limit: parameters.limit)
        return try rows.next(bytesMax: bytesMax)
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
        session.removeGroups()
        if holdsSnapshot { session.endSnapshot() }
    }
}
