import LarderModel

/// Writes CSV (RFC 4180): a header, lines that end with CR LF, quotation marks only if needed.
///
/// nil is an empty field and the empty string is `""`, so that an import can distinguish them.
struct CSVWriter: RowWriter {
    private var output = StandardOutput()

    mutating func begin(_ names: [String]) throws(LarderError) {
        try write(fields: names.map(Self.field))
    }

    mutating func write(_ row: [Value]) throws(LarderError) {
        try write(fields: row.map { $0.isNull ? "" : Self.field($0.text) })
    }

    mutating func flush() throws(LarderError) { try output.flush() }

    mutating func end() throws(LarderError) { try output.flush() }

    private mutating func write(fields: [String]) throws(LarderError) {
        try output.write(fields.joined(separator: ",") + "\r\n")
    }

    private static func field(_ text: String) -> String {
        let needsQuotes = text.utf8.contains { byte in
            byte == UInt8(ascii: ",") || byte == UInt8(ascii: "\"") || byte == 0x0A || byte == 0x0D
        }
        guard needsQuotes || text.isEmpty else { return text }
        var quoted = "\""
        for scalar in text.unicodeScalars {
            if scalar == "\"" { quoted += "\"" }
            quoted.unicodeScalars.append(scalar)
        }
        return quoted + "\""
    }
}
