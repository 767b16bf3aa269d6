import LarderModel

/// Prints rows of values as text of one form: `begin`, rows one after the other, `end` once.
///
/// Nothing is kept beyond a fixed amount, so that a result of any size can be printed.
protocol RowWriter {
    /// Names the columns; each row then has as many values. Called again, it starts a block of
    /// other columns.
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

extension RowWriter {
    /// Prints a result that is one number; for people without a heading.
    mutating func write(
        number: Int64, name: String, _ format: OutputFormat
    ) throws(LarderError) {
        guard format == .table else { return try write(all: [[.int(number)]], names: [name]) }
        var plain = PlainWriter()
        try plain.write(all: [[.int(number)]], names: [name])
    }
}
