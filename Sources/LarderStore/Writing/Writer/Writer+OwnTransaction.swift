import LarderModel
import LarderQuery
import LarderSQL

// A write that shares its commit with no other: rows, or a change set in parts.
extension Writer {
    /// Executes a write within its budget, and rolls its transaction back unless it has committed.
    ///
    /// - Parameter body: Begins the transaction, and commits it if the write succeeds.
    func inOwnTransaction<Written>(
        _ budget: ReadBudget?,
        _ body: (StatementCache) throws(SQLError) -> Result<Written, LarderError>
    ) -> Result<Written, LarderError> {
        if let error = writeError() { return .failure(error) }
        guard let statements else { return .failure(.writerClosed) }
        measureDisk()
        let limit = statements.connection.limit
        limit.start(budget)
        limit.isSuspended = true
        defer { limit.start(nil) }
        do throws(SQLError) {
            let outcome = try body(statements)
            limit.start(nil)
            undoFailedChange()
            return outcome
        } catch {
            if let stopped = stopError(statements) {
                limit.start(nil)
                undoFailedChange()
                return .failure(stopped)
            }
            let isStatementError =
                error.concernsStatementOnly && !statements.connection.autocommit
            if isStatementError { undoFailedChange() } else { rollBack() }
            if !isStatementError { recordFailure(error) }
            return .failure(error.larderError)
        }
    }

    func beginOwnTransaction(_ statements: StatementCache) throws(SQLError) {
        try statements.statement(Texts.begin).run()
        // See `undoFailedChange()`.
        if statements.connection.isBeingCopied {
            try statements.statement(Texts.beginSet).run()
        }
    }
}
