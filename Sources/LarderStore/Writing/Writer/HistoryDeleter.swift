import FoundationEssentials
import LarderModel
import LarderQuery
import LarderSQL

/// Deletes transactions of the history. The oldest are deleted first, so that those that are left
/// have no gap; the catalog has the number of the last one that was deleted.
struct HistoryDeleter {
    private let statements: StatementCache
    private let store: StoreDescription

    init(_ statements: StatementCache, of store: StoreDescription) {
        self.statements = statements
        self.store = store
    }

    /// The number of the last transaction that a deletion concerns. The newest is never deleted.
    func lastTransaction(of deletion: HistoryDeletion) -> Result<Int64, LarderError> {
        do {
            let newest = try newestTransaction()
            return .success(max(0, min(try end(of: deletion, newest), newest - 1)))
        } catch let error as SQLError {
            return .failure(error.larderError)
        } catch let error as LarderError {
            return .failure(error)
        } catch {
            preconditionFailure("every error above has one of two types")
        }
    }

    /// The number of the last transaction that was committed; 0 if none was.
    private func newestTransaction() throws(SQLError) -> Int64 {
        try statements.connection.integer(Layout.lastTransaction) ?? 0
    }

    private func end(of deletion: HistoryDeletion, _ newest: Int64) throws -> Int64 {
        switch deletion {
        case .upTo(let token):
            try token.check(in: store, deleted: 0, last: newest)
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

    /// Deletes a part of the transactions up to a number, within the open transaction.
    ///
    /// - Returns: what was deleted, and whether it is nothing.
    func deleteRows(
        upTo number: Int64, _ rowsMax: Int64
    ) throws(SQLError) -> (result: HistoryDeletionStep, isEmpty: Bool) {
        let deletedBefore = try statements.connection.integer(Catalog.readDeletedHistory) ?? 0
        // The newest transaction has the greatest number that was assigned.
        let last = min(number, try newestTransaction() - 1)
        let transactions = try run(
            Layout.deleteTransactions, [.integer(last), .integer(rowsMax)])
        // The rest belongs to transactions that nobody can read any more.
        let deleted =
            transactions == rowsMax
            ? (try statements.connection.integer(Layout.firstTransaction) ?? 1) - 1
            : max(last, deletedBefore)
        if deleted > deletedBefore {
            try statements.statement(Catalog.storeDeletedHistory).run([.integer(deleted)])
        }
        let others = [SQLValue.integer(deleted), .integer(rowsMax)]
        let changes = try run(Layout.deleteChanges, others)
        let preserved = try run(Layout.deletePreserved, others)
        return (
            HistoryDeletionStep(
                deletedCount: transactions,
                isLast: max(transactions, changes, preserved) < rowsMax),
            deleted == deletedBefore && transactions + changes + preserved == 0
        )
    }

    /// - Returns: The number of rows that the statement deleted.
    private func run(_ sql: SQL, _ values: [SQLValue]) throws(SQLError) -> Int64 {
        try statements.statement(sql).run(values)
        return statements.connection.changes
    }
}
