import FoundationEssentials
import LarderModel
import LarderQuery

// Deleting transactions of the history. The oldest are deleted first, so that those that are left
// have no gap; the catalog has the number of the last one that was deleted.
extension Writer {
    func lastTransaction(of deletion: HistoryDeletion) -> Result<Int64, LarderError> {
        if let error = writeError() { return .failure(error) }
        guard let statements else { return .failure(Writer.closedError) }
        do {
            let newest = try newestTransaction(statements)
            return .success(max(0, min(try end(of: deletion, newest, statements), newest - 1)))
        } catch let error as SQLiteError {
            return .failure(error.larderError)
        } catch let error as LarderError {
            return .failure(error)
        } catch {
            preconditionFailure("every error above has one of two types")
        }
    }

    /// The number of the last transaction that was committed; 0 if none was.
    private func newestTransaction(_ statements: StatementCache) throws(SQLiteError) -> Int64 {
        try statements.connection.integer(Layout.lastTransaction) ?? 0
    }

    private func end(
        of deletion: HistoryDeletion, _ newest: Int64, _ statements: StatementCache
    ) throws -> Int64 {
        switch deletion {
        case .upTo(let token):
            try token.check(in: store.storeDescription, deleted: 0, last: newest)
            return token.number
        case .before(let date):
            let statement = try statements.statement(Layout.firstTransactionSince)
            defer { statement.reset() }
            try statement.bind([.real(date.timeIntervalSinceReferenceDate)])
            return try statement.step() ? statement.int64(at: 0) - 1 : newest
        case .keeping(let count):
            let statement = try statements.statement(Layout.newestTransactions)
            defer { statement.reset() }
            try statement.bind([.integer(max(0, count))])
            return try statement.step() ? statement.int64(at: 0) : 0
        }
    }

    func deleteHistory(
        upTo number: Int64, rowsMax: Int
    ) -> Result<HistoryDeletionStep, LarderError> {
        if let error = writeError() { return .failure(error) }
        guard let statements else { return .failure(Writer.closedError) }
        do throws(SQLiteError) {
            try statements.statement(Texts.begin).run()
            let step = try deleteRows(upTo: number, Int64(rowsMax), statements)
            if step.isEmpty {
                try statements.statement(Texts.rollBack).run()
            } else {
                try commit(statements)
            }
            return .success(step.result)
        } catch {
            rollBack()
            recordFailure(error)
            return .failure(error.larderError)
        }
    }

    private func deleteRows(
        upTo number: Int64, _ rowsMax: Int64, _ statements: StatementCache
    ) throws(SQLiteError) -> (result: HistoryDeletionStep, isEmpty: Bool) {
        let deletedBefore = try statements.connection.integer(Catalog.readDeletedHistory) ?? 0
        // The newest transaction has the greatest number that was assigned.
        let last = min(number, try newestTransaction(statements) - 1)
        let transactions = try run(
            Layout.deleteTransactions, [.integer(last), .integer(rowsMax)], statements)
        // The rest belongs to transactions that nobody can read any more.
        let deleted =
            transactions == rowsMax
            ? (try statements.connection.integer(Layout.firstTransaction) ?? 1) - 1
            : max(last, deletedBefore)
        if deleted > deletedBefore {
            try statements.statement(Catalog.storeDeletedHistory).run([.integer(deleted)])
        }
        let others = [SQLValue.integer(deleted), .integer(rowsMax)]
        let changes = try run(Layout.deleteChanges, others, statements)
        let preserved = try run(Layout.deletePreserved, others, statements)
        return (
            HistoryDeletionStep(
                deletedCount: transactions,
                isLast: max(transactions, changes, preserved) < rowsMax),
            deleted == deletedBefore && transactions + changes + preserved == 0
        )
    }

    /// - Returns: The number of rows that the statement deleted.
    private func run(
        _ sql: SQL, _ values: [SQLValue], _ statements: StatementCache
    ) throws(SQLiteError) -> Int64 {
        try statements.statement(sql).run(values)
        return statements.connection.changes
    }
}
