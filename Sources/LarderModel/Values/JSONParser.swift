extension JSONValue {
    /// Parses one JSON document (RFC 8259).
    ///
    /// - Throws: `malformedValue` with line and column, also for duplicate keys and for arrays and
    ///   objects nested deeper than `Limits.jsonDepthMax`.
    public init(parsing text: String) throws(LarderError) {
        var parser = JSONParser(bytes: Array(text.utf8))
        self = try parser.document()
    }
}

/// Parses JSON text into a tree in one pass, with recursion bounded by `Limits.jsonDepthMax`.
///
/// Foundation's decoder is not used, since it reports neither lines nor duplicate keys and rounds
/// numbers. The bytes come from a `String` and are valid UTF-8.
struct JSONParser {
    let bytes: [UInt8]
    var position = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    mutating func document() throws(LarderError) -> JSONValue {
        let value = try value(depth: 0)
        skipSpace()
        guard position == bytes.count else { throw expected("the end of the text") }
        return value
    }

    /// The byte at the position; nil at the end.
    var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func value(depth: Int) throws(LarderError) -> JSONValue {
        skipSpace()
        switch current {
        case UInt8(ascii: "{"): return .object(try object(depth: depth + 1))
        case UInt8(ascii: "["): return .array(try array(depth: depth + 1))
        case UInt8(ascii: "\""): return .string(try string())
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
            skipSpace()
            guard current == UInt8(ascii: "\"") else { throw expected("a key in quotation marks") }
            let start = position
            let key = try string()
            guard members[key] == nil else {
                position = start
                throw failure("duplicate key")
            }
            skipSpace()
            guard skip(UInt8(ascii: ":")) else { throw expected("`:`") }
            members[key] = try value(depth: depth)
            skipSpace()
        } while skip(UInt8(ascii: ","))
        guard skip(UInt8(ascii: "}")) else { throw expected("`,` or `}`") }
        return members
    }

    private mutating func array(depth: Int) throws(LarderError) -> [JSONValue] {
        try enter(depth)
        var elements: [JSONValue] = []
        skipSpace()
        if skip(UInt8(ascii: "]")) { return elements }
        repeat {
            elements.append(try value(depth: depth))
            skipSpace()
        } while skip(UInt8(ascii: ","))
        guard skip(UInt8(ascii: "]")) else { throw expected("`,` or `]`") }
        return elements
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

    private mutating func skip(_ byte: UInt8) -> Bool {
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

    func failure(_ sentence: String) -> LarderError {
        let lines = bytes[..<position].split(
            separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let column = lines.last.map { String(decoding: $0, as: UTF8.self).count } ?? 0
        return LarderError(
            .malformedValue, "JSON, line \(lines.count), column \(column + 1): \(sentence)")
    }
}
