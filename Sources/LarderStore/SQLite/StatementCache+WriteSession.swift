import LarderSQL

// The statements of change sets. The writer suspends the limit of the connection while it runs a
// set, because SQLite rolls back the whole group if it stops a statement that writes.
extension StatementCache: WriteSession {
    func run(_ sql: SQL, _ values: [SQLValue]) throws(SQLError) {
        try statement(sql).run(values)
    }

    func rows(
        _ sql: SQL, _ values: [SQLValue], _ visit: ([SQLValue]) throws(SQLError) -> Bool
    ) throws(SQLError) {
        do throws(SQLError) {
            let statement = try statement(sql)
            defer { statement.reset() }
            try statement.bind(values)
            try visitRows(of: statement, visit)
        } catch {
            guard error.condition == .statement, let fault = connection.functionFaults.take()
            else { throw error }
            throw SQLError(.function(fault), error.message, sql: error.sql)
        }
    }

    func query(
        _ sql: SQL, _ visit: ([SQLValue]) throws(SQLError) -> Void
    ) throws(SQLError) {
        let limit = connection.limit
        let wasSuspended = limit.isSuspended
        limit.isSuspended = false
        defer { limit.isSuspended = wasSuspended }
        do throws(SQLError) {
            let statement = try connection.prepare(sql)
            try statement.bind(sql.values)
            try visitRows(of: statement) { (row) throws(SQLError) in
                limit.isSuspended = wasSuspended
                try visit(row)
                limit.isSuspended = false
                return true
            }
        } catch {
            let fault = connection.functionFaults.take()
            if connection.stopReason != nil { throw SQLError(.interrupted, error.message) }
            guard let fault else { throw error }
            throw SQLError(.function(fault), error.message, sql: error.sql)
        }
    }

    func checkBudget() throws(SQLError) {
        guard !connection.limit.allowsMoreStatements() else { return }
        throw SQLError(.interrupted, "the budget of the change set is used up")
    }

    /// Advances to each row, and passes its columns in an array that is used again.
    private func visitRows(
        of statement: Statement, _ visit: ([SQLValue]) throws(SQLError) -> Bool
    ) throws(SQLError) {
        guard try statement.step() else { return }
        let count = statement.columnCount
        // `visit` may visit other rows.
        var row = spareRow
        spareRow = []
        defer {
            for column in 0..<count { row[column] = .null }
            spareRow = row
        }
        if row.count > count { row.removeLast(row.count - count) }
        while row.count < count { row.append(.null) }
        while true {
            for column in 0..<count { row[column] = statement.value(at: column) }
            guard try visit(row), try statement.step() else { return }
        }
    }
}
