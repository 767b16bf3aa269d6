import LarderModel

/// Prints rows of values as text of one form: `begin` once, rows one after the other, `end` once.
///
/// Nothing is kept beyond a fixed amount, so that a result of any size can be printed.
protocol RowWriter {
    /// Names the columns; each row then has as many values.
    mutating func begin(_ names: [String]) throws(LarderError)
    mutating func write(_ row: [Value]) throws(LarderError)
    /// Completes the text and hands everything to the system.
    mutating func end() throws(LarderError)
}

extension RowWriter {
    /// Prints a result that is one small list of rows.
    mutating func write(all rows: [[Value]], names: [String]) throws(LarderError) {
        try begin(names)
        for row in rows { try write(row) }
        try end()
    }
}
