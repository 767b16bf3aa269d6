import CSQLite

/// Where the rows of the statement that runs now on a connection go, if it hands over any.
final class HandedRowsSlot {
    fileprivate var rows: Unmanaged<HandedRows>?
}

extension Connection {
    /// The function to which a statement gives the values of a row; 1 where it is to pause, else 0.
    static let rowFunction = "larder_row"
    /// How many values a function takes, as Debian builds SQLite.
    static let argumentsMax = 127

    func registerRowFunction() throws(SQLiteError) {
        // Not deterministic: it must be called for each row. Unretained: the slot lives as long as
        // the connection.
        let result = sqlite3_create_function_v2(
            handle, Connection.rowFunction, -1, SQLITE_UTF8 | SQLITE_DIRECTONLY,
            Unmanaged.passUnretained(handedRows).toOpaque(),
            { context, count, values in
                guard let slot = sqlite3_user_data(context) else { return }
                let pauses = Unmanaged<HandedRowsSlot>.fromOpaque(slot)._withUnsafeGuaranteedRef {
                    $0.rows?._withUnsafeGuaranteedRef {
                        $0.receive(FunctionArguments(values, count: count))
                    }
                }
                sqlite3_result_int(context, pauses == true ? 1 : 0)
            }, nil, nil, nil)
        guard result == SQLITE_OK else {
            throw SQLiteError(handle, result, sql: Connection.rowFunction)
        }
    }
}

extension Statement {
    /// Runs until the rows that it hands over are enough; false when no row is left.
    func step(handingOver rows: HandedRows) throws(SQLiteError) -> Bool {
        connection.handedRows.rows = Unmanaged.passUnretained(rows)
        defer { connection.handedRows.rows = nil }
        return try step()
    }
}
