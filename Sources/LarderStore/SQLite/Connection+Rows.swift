import CSQLite

/// Takes the rows of a statement that calls ``Connection/rowFunction`` with the values of each.
///
/// A row that is handed over costs SQLite a third less than one that it stops at. It is a class to
/// be derived from because a method of a protocol would retain and release it for each row.
class RowReceiver {
    /// - Returns: whether the statement is to pause behind this row.
    func receive(_ row: FunctionArguments) -> Bool {
        preconditionFailure("derived classes receive rows")
    }
}

/// Who takes the rows of the statement that runs now on a connection, if it hands over any.
final class RowReceiverSlot {
    fileprivate var receiver: Unmanaged<RowReceiver>?
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
            Unmanaged.passUnretained(rowReceiver).toOpaque(),
            { context, count, values in
                guard let slot = sqlite3_user_data(context) else { return }
                let pauses = Unmanaged<RowReceiverSlot>.fromOpaque(slot)._withUnsafeGuaranteedRef {
                    $0.receiver?._withUnsafeGuaranteedRef {
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
    /// Runs until the receiver wants to pause; false when no row is left.
    func step(handingRowsTo receiver: RowReceiver) throws(SQLiteError) -> Bool {
        connection.rowReceiver.receiver = Unmanaged.passUnretained(receiver)
        defer { connection.rowReceiver.receiver = nil }
        return try step()
    }
}
