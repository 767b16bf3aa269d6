import LarderModel

/// Writes rows of values to standard output in one format: `begin`, then rows, then `end` once.
///
/// A writer buffers a bounded amount, so that it can write a result of any size.
protocol RowWriter {
    /// Begins a block with these columns; each row has one value per column. May be called again
    /// for a block with other columns.
    mutating func begin(_ names: [String]) throws(LarderError)
    /// Begins a block, of which some columns have decimals with a certain number of decimal places.
    /// Formats for programs ignore it.
    mutating func begin(
        _ names: [String], decimals: [String: ShownDecimal]
    ) throws(LarderError)
    mutating func write(_ row: [Value]) throws(LarderError)
    /// Writes the rows so far.
    mutating func flush() throws(LarderError)
    /// Completes the output and flushes it.
    mutating func end() throws(LarderError)
}

extension RowWriter {
    mutating func begin(
        _ names: [String], decimals: [String: ShownDecimal]
    ) throws(LarderError) {
        try begin(names)
    }

    /// Writes a result of a few rows.
    mutating func write(all rows: [[Value]], names: [String]) throws(LarderError) {
        try begin(names)
        for row in rows { try write(row) }
        try end()
    }
}

extension RowWriter {
    /// Writes a result that is one number; for people, it has no header.
    mutating func write(
        number: Int64, name: String, _ format: OutputFormat
    ) throws(LarderError) {
        guard format.isForPeople else { return try write(all: [[.int(number)]], names: [name]) }
        var plain = PlainWriter()
        try plain.write(all: [[.int(number)]], names: [name])
    }
}
