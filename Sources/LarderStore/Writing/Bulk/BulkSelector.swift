import LarderModel

/// Runs the query of a bulk update or delete.
struct BulkSelector {
    let context: ChangeContext
    /// Where the functions of the query report their errors.
    let functionErrors: FunctionFaults

    /// Stores the selected keys and computed values in a temporary table.
    ///
    /// - Returns: nil if the query failed with an error of the caller, which is added.
    /// - Throws: `interrupted` if the budget is used up, or an error of SQLite.
    func select(_ sql: SQL, columnCount: Int) throws(SQLiteError) -> BulkSelection? {
        var selected = try BulkSelection(valueCount: columnCount - 1, context.statements)
        let connection = context.statements.connection
        let wasSuspended = connection.limit.isSuspended
        connection.limit.isSuspended = false
        defer { connection.limit.isSuspended = wasSuspended }
        do throws(SQLiteError) {
            let query = try connection.prepare(sql)
            try query.bind(sql.values)
            var row = [SQLValue](repeating: .null, count: columnCount)
            while try query.step() {
                for column in 0..<columnCount { row[column] = query.value(at: column) }
                connection.limit.isSuspended = wasSuspended
                try selected.append(row)
                connection.limit.isSuspended = false
            }
            return selected
        } catch {
            if connection.stopReason != nil {
                throw SQLiteError(.interrupted, error.message)
            }
            guard let reason = functionErrors.take() ?? error.queryLimit else { throw error }
            context.add(reason)
            return nil
        }
    }
}
