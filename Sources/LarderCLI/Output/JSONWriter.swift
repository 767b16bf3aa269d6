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

    mutating func write(json row: [JSONValue]) throws(LarderError) {
        var text = isArray ? (isFirst ? "\n" : ",\n") : ""
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
