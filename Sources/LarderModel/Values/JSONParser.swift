extension JSONValue {
    /// Parses one JSON document (RFC 8259).
    ///
    /// - Throws: `malformedValue` with line and column, also for duplicate keys and for arrays and
    ///   objects nested deeper than `Limits.jsonDepthMax`.
    public init(parsing text: String) throws(LarderError) {
        try self.init(parsing: text, valuesMax: .max)
    }

    /// - Parameters:
    ///   - valuesMax: The maximum number of values in the tree.
    ///   - interruption: After it, the error is meaningless.
    /// - Throws: `malformedValue` as above, and `resourceExhausted` for more values.
    package init(
        parsing text: String, valuesMax: Int, _ interruption: Interruption = .never
    ) throws(LarderError) {
        var parser = JSONParser(text, interruption, valuesMax: valuesMax)
        self = try parser.document()
    }

    /// Checks that a text is one JSON document, by the same rules, without building its tree.
    ///
    /// - Parameter interruption: After it, the error is meaningless.
    package static func check(
        _ text: String, _ interruption: Interruption = .never
    ) throws(LarderError) {
        var parser = JSONParser(text, interruption, buildsTree: false)
        _ = try parser.document()
    }
}

/// Parses JSON text into a tree in one pass, with recursion bounded by `Limits.jsonDepthMax`.
///
/// Foundation's decoder is not used, since it reports neither lines nor duplicate keys and rounds
/// numbers. The bytes come from a `String` and are valid UTF-8.
package struct JSONParser {
    /// An object with more keys looks for duplicates by hashing.
    private static let comparedKeysMax = 16

    let bytes: [UInt8]
    var position = 0
    /// Whether the values are needed, and not only their syntax. If not, each value is null.
    let buildsTree: Bool
    private var valuesLeft: Int
    private var interruption: Interruption
    /// The keys of the objects around the position while no tree is built, outermost first.
    private var keys: [String] = []

    init(
        _ text: String, _ interruption: Interruption, buildsTree: Bool = true,
        valuesMax: Int = .max
    ) {
        bytes = Array(text.utf8)
        self.interruption = interruption
        self.buildsTree = buildsTree
        valuesLeft = valuesMax
    }

    mutating func document() throws(LarderError) -> JSONValue {
        let value = try value(depth: 0)
        skipSpace()
        guard position == bytes.count else { throw expected("the end of the text") }
        return value
    }

    /// The byte at the position; nil at the end.
    var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    mutating func value(depth: Int) throws(LarderError) -> JSONValue {
        skipSpace()
        try count()
        valuesLeft -= 1
        guard valuesLeft >= 0 else {
            throw LarderError(.resourceExhausted, "the JSON document has too many values")
        }
        switch current {
        case UInt8(ascii: "{"):
            guard buildsTree else {
                try checkObject(depth: depth + 1)
                return .null
            }
            return .object(try object(depth: depth + 1))
        case UInt8(ascii: "["): return .array(try array(depth: depth + 1))
        case UInt8(ascii: "\""):
            guard buildsTree else {
                try checkString()
                return .null
            }
            return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case let byte? where byte == UInt8(ascii: "-") || byte.isASCIIDigit: return try number()
        default: throw expected("a value")
        }
    }

    private mutating func object(depth: Int) throws(LarderError) -> [String: JSONValue] {
        try enter(depth)
        var members: [String: JSONValue] = [:]
        skipSpace()
        if skip(UInt8(ascii: "}")) { return members }
        repeat {
            let (key, start) = try key()
            try endKey(from: start, isNew: members[key] == nil)
            members[key] = try value(depth: depth)
            skipSpace()
        } while skip(UInt8(ascii: ","))
        guard skip(UInt8(ascii: "}")) else { throw expected("`,` or `}`") }
        return members
    }

    mutating func key() throws(LarderError) -> (key: String, start: Int) {
        skipSpace()
        guard current == UInt8(ascii: "\"") else { throw expected("a key in quotation marks") }
        let start = position
        return (try string(), start)
    }

    /// Parses the colon after a key.
    private mutating func endKey(from start: Int, isNew: Bool) throws(LarderError) {
        guard isNew else {
            position = start
            throw failure("duplicate key")
        }
        skipSpace()
        guard skip(UInt8(ascii: ":")) else { throw expected("`:`") }
    }

    private mutating func checkObject(depth: Int) throws(LarderError) {
        try enter(depth)
        skipSpace()
        if skip(UInt8(ascii: "}")) { return }
        let firstKey = keys.count
        defer { keys.removeSubrange(firstKey...) }
        var hashed: Set<String> = []
        repeat {
            let (key, start) = try key()
            let isNew = !keys[firstKey...].contains(key) && !hashed.contains(key)
            try endKey(from: start, isNew: isNew)
            if keys.count < firstKey + Self.comparedKeysMax {
                keys.append(key)
            } else {
                hashed.insert(key)
            }
            _ = try value(depth: depth)
            skipSpace()
        } while skip(UInt8(ascii: ","))
        guard skip(UInt8(ascii: "}")) else { throw expected("`,` or `}`") }
    }

    private mutating func array(depth: Int) throws(LarderError) -> [JSONValue] {
        try enter(depth)
        var elements: [JSONValue] = []
        skipSpace()
        if skip(UInt8(ascii: "]")) { return elements }
        repeat {
            let element = try value(depth: depth)
            if buildsTree { elements.append(element) }
            skipSpace()
        } while skip(UInt8(ascii: ","))
        guard skip(UInt8(ascii: "]")) else { throw expected("`,` or `]`") }
        return elements
    }

    /// Stops the parser if its result is no longer needed.
    mutating func count(_ elements: Int = 1) throws(LarderError) {
        guard interruption.isDue(after: elements) else { return }
        throw LarderError(.cancelled, "the parser was stopped")
    }

    /// Skips an opening bracket unless it exceeds the nesting limit.
    private mutating func enter(_ depth: Int) throws(LarderError) {
        guard depth <= Limits.jsonDepthMax else {
            throw failure("nested more than \(Limits.jsonDepthMax) levels deep")
        }
        position += 1
    }

    private mutating func word(
        _ word: StaticString, _ value: JSONValue
    ) throws(LarderError) -> JSONValue {
        let spelling = word.description.utf8
        guard bytes[position...].starts(with: spelling) else { throw expected("a value") }
        position += spelling.count
        return value
    }

    mutating func skip(_ byte: UInt8) -> Bool {
        guard current == byte else { return false }
        position += 1
        return true
    }

    mutating func skipSpace() {
        while let byte = current, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
            position += 1
        }
    }

    func expected(_ what: String) -> LarderError {
        failure(current == nil ? "expected \(what), but the text ends" : "expected \(what)")
    }

    /// The number of the line of the position, from 1.
    var line: Int {
        bytes[..<position].reduce(1) { $1 == UInt8(ascii: "\n") ? $0 + 1 : $0 }
    }

    func failure(_ sentence: String) -> LarderError {
        let newline = UInt8(ascii: "\n")
        let before = bytes[..<position]
        let start = before.lastIndex(of: newline).map { $0 + 1 } ?? 0
        let column = String(decoding: before[start...], as: UTF8.self).count + 1
        return LarderError(
            .malformedValue, "JSON, line \(line), column \(column): \(sentence)")
    }
}
