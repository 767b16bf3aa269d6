import LarderModel
import LarderSQL

/// Runs the query of a bulk update or delete, or of a condition.
struct BulkSelector {
    let context: ChangeContext
    /// Where the functions of the query report their errors.
    let functionErrors: FunctionFaults

    /// Stores the selected keys and computed values in a temporary table.
    ///
    /// - Returns: The error of the caller with which the query failed, if it did.
    /// - Throws: `interrupted` if the budget is used up, or an error of SQLite.
    func select(
        _ sql: SQL, columnCount: Int
    ) throws(SQLiteError) -> Result<BulkSelection, LarderError> {
        var selected = try BulkSelection(valueCount: columnCount - 1, context.statements)
        let limit = context.statements.connection.limit
        let wasSuspended = limit.isSuspended
        var row = [SQLValue](repeating: .null, count: columnCount)
        let error = try run(sql) { query throws(SQLiteError) in
            for column in 0..<columnCount { row[column] = query.value(at: column) }
            limit.isSuspended = wasSuspended
            try selected.append(row)
            limit.isSuspended = false
        }
        return error.map { .failure($0) } ?? .success(selected)
    }

    /// Counts the rows. Returns and throws as ``select(_:columnCount:)`` does.
    func count(_ sql: SQL) throws(SQLiteError) -> Result<Int64, LarderError> {
        var count: Int64 = 0
        let error = try run(sql) { _ in count += 1 }
        return error.map { .failure($0) } ?? .success(count)
    }

    private func run(
        _ sql: SQL, _ row: (Statement) throws(SQLiteError) -> Void
    ) throws(SQLiteError) -> LarderError? {
        let connection = context.statements.connection
        let wasSuspended = connection.limit.isSuspended
        connection.limit.isSuspended = false
        defer { connection.limit.isSuspended = wasSuspended }
        do throws(SQLiteError) {
            let query = try connection.prepare(sql)
            try query.bind(sql.values)
            while try query.step() { try row(query) }
            return nil
        } catch {
            if connection.stopReason != nil {
                throw SQLiteError(.interrupted, error.message)
            }
            guard let reason = functionErrors.take() ?? error.queryLimit else { throw error }
            return reason
        }
    }
}
