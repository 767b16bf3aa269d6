/// Cuts a format string into tokens.
///
/// It works on UTF-8 bytes, because all syntax is ASCII; characters matter only inside of strings,
/// and for the column of an error. It never looks back, and each call moves on or throws.
struct FormatLexer {
    let text: FormatText
    var position = 0

    init(_ text: FormatText) { self.text = text }

    var bytes: [UInt8] { text.bytes }

    /// The byte at the position and some after it, nil beyond the end.
    func peek(_ distance: Int = 0) -> UInt8? {
        position + distance < bytes.count ? bytes[position + distance] : nil
    }

    mutating func next() throws(LarderError) -> FormatToken {
        while let byte = peek(), byte == 0x20 || (0x09...0x0D).contains(byte) { position += 1 }
        let start = position
        return FormatToken(kind: try kind(), start: start)
    }

    private mutating func kind() throws(LarderError) -> FormatToken.Kind {
        guard let byte = peek() else { return .end }
        switch byte {
        case _ where Self.isNameStart(byte):
            let name = name()
            return FormatKeyword(name)?.token ?? .name(name, isEscaped: false)
        case _ where Self.isDigit(byte): return try number()
        case UInt8(ascii: "\""), UInt8(ascii: "'"): return .string(try string(quote: byte))
        case UInt8(ascii: "#"): return .name(try prefixedName(), isEscaped: true)
        case UInt8(ascii: "$"): return .variable(try prefixedName())
        case UInt8(ascii: "@"): return .collectionOperator(try prefixedName())
        case UInt8(ascii: "%"): return try placeholder()
        default: break
        }
        for (spelling, kind) in Self.symbols
        where bytes[position...].starts(with: spelling.utf8) {
            position += spelling.utf8.count
            return kind
        }
        throw failure(.malformedPredicate, "unexpected character", at: position)
    }

    /// Longer ones before those with which they begin.
    private static let symbols: [(String, FormatToken.Kind)] = [
        ("==", .comparison(.equal)), ("=<", .comparison(.lessThanOrEqual)),
        ("=>", .comparison(.greaterThanOrEqual)), ("=", .comparison(.equal)),
        ("!=", .comparison(.notEqual)), ("<>", .comparison(.notEqual)),
        ("<=", .comparison(.lessThanOrEqual)), ("<", .comparison(.lessThan)),
        (">=", .comparison(.greaterThanOrEqual)), (">", .comparison(.greaterThan)),
        ("&&", .and), ("||", .or), ("!", .not), ("**", .symbol("**")),
        ("(", .symbol("(")), (")", .symbol(")")), ("{", .symbol("{")), ("}", .symbol("}")),
        ("[", .symbol("[")), ("]", .symbol("]")), (",", .symbol(",")), (".", .symbol(".")),
        ("+", .symbol("+")), ("-", .symbol("-")), ("*", .symbol("*")), ("/", .symbol("/")),
    ]

    /// A name; a colon within joins two, because an aggregate's output may be called
    /// `sum:wordCount`, and Core Data's own functions `add:to:(a, b)`.
    private mutating func name() -> String {
        let start = position
        while let byte = peek() {
            guard Self.isNameStart(byte) || Self.isDigit(byte) || isColonOfName(byte) else { break }
            position += 1
        }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private func isColonOfName(_ byte: UInt8) -> Bool {
        guard byte == UInt8(ascii: ":"), let next = peek(1) else { return false }
        return Self.isNameStart(next) || next == UInt8(ascii: "(")
    }

    private mutating func prefixedName() throws(LarderError) -> String {
        position += 1
        guard let byte = peek(), Self.isNameStart(byte) else {
            throw failure(.malformedPredicate, "expected a name", at: position)
        }
        return name()
    }

    private mutating func placeholder() throws(LarderError) -> FormatToken.Kind {
        let rest = bytes[(position + 1)...]
        if rest.first == UInt8(ascii: "K") {
            position += 2
            return .keyPathArgument
        }
        for spelling in ["@", "d", "i", "u", "f", "s", "ld", "lu", "lld", "llu"]
        where rest.starts(with: spelling.utf8) {
            position += 1 + spelling.utf8.count
            return .argument
        }
        throw failure(
            .malformedPredicate, "no such placeholder; there are `%@` and `%K`",
            hint: rest.first == UInt8(ascii: " ") ? "the remainder is `modulus(a, b)`" : nil,
            at: position)
    }

    /// An error at a byte of the text; its column is counted in characters.
    func failure(
        _ code: ErrorCode, _ sentence: String, hint: String? = nil, at place: Int
    ) -> LarderError {
        text.failure(code, sentence, hint: hint, at: place)
    }

    static func isNameStart(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
            || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
            || byte == UInt8(ascii: "_")
    }

    static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
