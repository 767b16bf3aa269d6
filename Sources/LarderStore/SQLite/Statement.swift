import CSQLite
import LarderModel
import LarderQuery
import LarderSQL

/// One prepared statement, which is finalized when it is released.
///
/// Used on its connection's thread. The bytes of a column are valid until the next step or reset,
/// so they are passed to a closure.
final class Statement {
    enum ColumnType { case integer, real, text, blob, null }

    let text: String
    /// For the extensions in this folder only.
    let handle: OpaquePointer
    /// Keeps the connection alive, and with it the handle to which this one belongs.
    let connection: Connection

    init(_ text: String, persistent: Bool, on connection: Connection) throws(SQLError) {
        var prepared: OpaquePointer?
        let flags = persistent ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
        let result = sqlite3_prepare_v3(connection.handle, text, -1, flags, &prepared, nil)
        guard result == SQLITE_OK, let prepared else {
            if result != SQLITE_OK { throw SQLError(connection.handle, result, sql: text) }
            throw SQLError(.other, "no statement", sql: text)
        }
        self.text = text
        self.connection = connection
        handle = prepared
    }

    deinit { sqlite3_finalize(handle) }

    /// Advances to the next row; false if there is none.
    func step() throws(SQLError) -> Bool {
        let result = sqlite3_step(handle)
        // The results of functions and collations are meaningless after a stop, which SQLite itself
        // may not have noticed yet.
        if connection.stopReason != nil, result == SQLITE_ROW || result == SQLITE_DONE {
            throw SQLError(.interrupted, "the read has been stopped", sql: text)
        }
        switch result {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let result: throw SQLError(connection.handle, result, sql: text)
        }
    }

    /// The memory of the compiled statement, and of what it has in memory now.
    var memoryBytes: Int {
        Int(sqlite3_stmt_status(handle, SQLITE_STMTSTATUS_MEMUSED, 0)) + 2 * text.utf8.count
    }

    /// Adds what the statement has done since this was last called.
    func takeWork(_ work: inout ReadWork) {
        func take(_ counter: Int32) -> Int64 { Int64(sqlite3_stmt_status(handle, counter, 1)) }
        work.steps += take(SQLITE_STMTSTATUS_VM_STEP)
        work.scannedRows += take(SQLITE_STMTSTATUS_FULLSCAN_STEP)
        work.sorts += take(SQLITE_STMTSTATUS_SORT)
        work.automaticIndexRows += take(SQLITE_STMTSTATUS_AUTOINDEX)
        work.statements += 1
    }

    /// Whether it has returned a row and is neither finished nor reset.
    var isRunning: Bool { sqlite3_stmt_busy(handle) != 0 }

    /// Ends the current run; bindings stay.
    func reset() { sqlite3_reset(handle) }

    func clearBindings() { sqlite3_clear_bindings(handle) }

    /// Binds the parameter with an index, from 1. Texts and blobs are copied.
    func bind(_ value: SQLValue, at index: Int) throws(SQLError) {
        let parameter = Int32(index)
        let result: Int32
        switch value {
        case .null: result = sqlite3_bind_null(handle, parameter)
        case .integer(let integer): result = sqlite3_bind_int64(handle, parameter, integer)
        case .real(let real): result = sqlite3_bind_double(handle, parameter, real)
        case .text(var text):
            result = text.withUTF8 { bytes in
                guard let count = Int32(exactly: bytes.count) else { return SQLITE_TOOBIG }
                return bytes.withMemoryRebound(to: CChar.self) { characters in
                    // A null pointer would bind NULL instead of an empty string.
                    guard let start = characters.baseAddress else {
                        return larder_sqlite3_bind_text(handle, parameter, "", 0)
                    }
                    return larder_sqlite3_bind_text(handle, parameter, start, count)
                }
            }
        case .blob(let blob):
            result = blob.withUnsafeBytes { bytes in
                guard let count = Int32(exactly: bytes.count) else { return SQLITE_TOOBIG }
                guard let start = bytes.baseAddress, count > 0 else {
                    return sqlite3_bind_zeroblob(handle, parameter, 0)
                }
                return larder_sqlite3_bind_blob(handle, parameter, start, count)
            }
        }
        guard result == SQLITE_OK else { throw SQLError(connection.handle, result, sql: text) }
    }

    /// Binds the parameters in order, from the first.
    func bind(_ values: [SQLValue]) throws(SQLError) {
        for (index, value) in values.enumerated() { try bind(value, at: index + 1) }
    }

    /// Runs to the end, discards the rows, and resets.
    func run() throws(SQLError) {
        defer { reset() }
        while try step() {}
    }

    /// Binds the parameters in order, and runs to the end.
    func run(_ values: [SQLValue]) throws(SQLError) {
        defer { reset() }
        try bind(values)
        while try step() {}
    }

    var columnCount: Int { Int(sqlite3_column_count(handle)) }

    func type(at index: Int) -> ColumnType {
        switch sqlite3_column_type(handle, Int32(index)) {
        case SQLITE_INTEGER: .integer
        case SQLITE_FLOAT: .real
        case SQLITE_TEXT: .text
        case SQLITE_BLOB: .blob
        default: .null
        }
    }

    func isNull(at index: Int) -> Bool {
        sqlite3_column_type(handle, Int32(index)) == SQLITE_NULL
    }

    /// 0 for nil.
    func int64(at index: Int) -> Int64 { sqlite3_column_int64(handle, Int32(index)) }

    /// 0 for nil.
    func double(at index: Int) -> Double { sqlite3_column_double(handle, Int32(index)) }

    /// Passes the bytes of a text (UTF-8) or blob; none for nil. They are valid within the closure.
    func withBytes<Result, Failure: Error>(
        at index: Int, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // As a blob, SQLite returns a text as it is stored, without a terminating zero.
        let start = sqlite3_column_blob(handle, Int32(index))
        let count = Int(sqlite3_column_bytes(handle, Int32(index)))
        return try body(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count))
    }

    /// The length of a text or blob; 0 for nil.
    func byteCount(at index: Int) -> Int { Int(sqlite3_column_bytes(handle, Int32(index))) }

    /// A text as a string; empty for nil.
    func string(at index: Int) -> String {
        withBytes(at: index) { String(decoding: $0, as: UTF8.self) }
    }

    func blob(at index: Int) -> [UInt8] {
        withBytes(at: index) { [UInt8]($0) }
    }

    /// A value of any type, copied.
    func value(at index: Int) -> SQLValue {
        switch type(at: index) {
        case .integer: .integer(int64(at: index))
        case .real: .real(double(at: index))
        case .text: .text(string(at: index))
        case .blob: .blob(blob(at: index))
        case .null: .null
        }
    }
}
