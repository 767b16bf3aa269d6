import LarderModel

/// An answer that is being read. It holds its snapshot until it is closed.
///
/// After an error it has nothing more to give and is only to be closed: SQLite cannot take up a
/// statement that was stopped.
final class Cursor: ResultCursor {
    private let session: ReadSession
    private let prefetch: [PlanPrefetch]
    private var rows: BatchSource
    private var prefetcher: Prefetcher
    private var hasMoreRows = true
    private let holdsSnapshot: Bool
    private(set) var isOpen = true

    init(
        _ session: ReadSession, _ query: ResolvedQuery, _ statements: [SQL], limit: Int64?
    ) throws(ReadFailure) {
        self.session = session
        prefetch = query.prefetch
        rows = BatchSource(session, query, statements, limit: limit)
        prefetcher = Prefetcher(session)
        // A single statement is a snapshot by itself, as long as it runs.
        holdsSnapshot = rows.hasLists || statements.count > 1 || !prefetch.isEmpty
        if holdsSnapshot { try session.beginSnapshot() }
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
        let (batch, isLast) = try rows.next(bytesMax: bytesMax)
        hasMoreRows = !isLast
        if prefetch.isEmpty { return batch }
        prefetcher.add(batch, prefetch)
        return try prefetcher.next(bytesMax: bytesMax)
    }

    func close() {
        guard isOpen else { return }
        isOpen = false
        end()
    }

    /// Ends the snapshot, as soon as it is not needed any more.
    private func end() {
        prefetcher.close()
        rows.close()
        if holdsSnapshot { session.endSnapshot() }
    }
}
