import LarderModel

/// Writes each row as a JSON object, keys in the order of the columns: as one array, or one object
/// per line.
struct JSONWriter: RowWriter {
    private var output = StandardOutput()
    private let isArray: Bool
    private var keys: [String] = []
    private var hasBegun = false
    private var isFirst = true

    init(isArray: Bool) { self.isArray = isArray }

    mutating func begin(_ names: [String]) throws(LarderError) {
        keys = names.map { JSONValue.string($0).text + ":" }
        if isArray && !hasBegun { try output.write("[") }
        hasBegun = true
    }

    mutating func write(_ row: [Value]) throws(LarderError) {
        try write(json: row.map(\.jsonValue))
    }

    /// Writes an object with members of its own.
    mutating func write(object: JSONValue) throws(LarderError) {
        try output.write(separator + object.text + (isArray ? "" : "\n"))
        isFirst = false
    }

    /// The text before the next object.
    private var separator: String { isArray ? (isFirst ? "\n" : ",\n") : "" }

    mutating func write(json row: [JSONValue]) throws(LarderError) {
        var text = separator
        isFirst = false
        text += "{"
        for (index, value) in row.enumerated() {
            if index > 0 { text += "," }
            text += keys[index]
            text += value.text
        }
        text += isArray ? "}" : "}\n"
        try output.write(text)
    }

    mutating func flush() throws(LarderError) { try output.flush() }

    mutating func end() throws(LarderError) {
        if isArray { try output.write(isFirst ? "]\n" : "\n]\n") }
        try output.flush()
    }
}
