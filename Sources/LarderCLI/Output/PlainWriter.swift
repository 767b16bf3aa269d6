import LarderModel

/// Writes one row per line, tab-separated, without a header; nil is empty.
struct PlainWriter: RowWriter {
    private var output = StandardOutput()

    mutating func begin(_ names: [String]) throws(LarderError) {}

    mutating func write(_ row: [Value]) throws(LarderError) {
        let texts = row.map { EscapedText.escaped($0.text) }
        try output.write(texts.joined(separator: "\t") + "\n")
    }

    mutating func flush() throws(LarderError) { try output.flush() }

    mutating func end() throws(LarderError) { try output.flush() }
}
