import LarderModel

/// Splits a format string into tokens.
///
/// It works on UTF-8 bytes, since all syntax is ASCII; characters matter only in strings and in the
/// columns of errors. It never backtracks: each call advances or throws.
struct FormatLexer {
    let text: FormatText
    var position = 0

    init(_ text: FormatText) { self.text = text }

    var bytes: [UInt8] { text.bytes }

    /// The byte at a distance from the position; nil past the end.
    func peek(_ distance: Int = 0) -> UInt8? {
        position + distance < bytes.count ? bytes[position + distance] : nil
    }

    mutating func next() throws(LarderError) -> FormatToken {
        while let byte = peek(), byte == 0x20 || (0x09...0x0D).contains(byte) { position += 1 }
        let start = position
        return FormatToken(kind: try kind(), start: start)
    }

    /// The token after a period in a key path: digits are a step, the index of an element.
    mutating func nextStep() throws(LarderError) -> FormatToken {
        let digits = bytes[position...].prefix(while: \.isASCIIDigit)
        if digits.isEmpty { return try next() }
        defer { position += digits.count }
        let name = String(decoding: digits, as: UTF8.self)
        return FormatToken(kind: .name(name, isEscaped: true), start: position)
    }

    private mutating func kind() throws(LarderError) -> FormatToken.Kind {
        guard let byte = peek() else { return .end }
        switch byte {
        case _ where Self.isNameStart(byte):
            let name = name()
            return FormatKeyword(name)?.token ?? .name(name, isEscaped: false)
        case _ where byte.isASCIIDigit: return try number()
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
        throw failure(
            .malformedPredicate, "unexpected character",
            hint: FormatHint.character(bytes[position...]), at: position)
    }

    /// A symbol precedes the symbols that are prefixes of it.
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

    /// Reads a name. A colon inside is part of it: the default name of an aggregate column is
    /// `sum:wordCount`, and Core Data has functions such as `add:to:(a, b)`.
    private mutating func name() -> String {
        let start = position
        while let byte = peek() {
            guard Self.isNameStart(byte) || byte.isASCIIDigit || isColonOfName(byte) else { break }
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
            .malformedPredicate, "unknown placeholder; valid placeholders are `%@` and `%K`",
            hint: rest.first == UInt8(ascii: " ") ? "the remainder is `modulus(a, b)`" : nil,
            at: position)
    }

    /// An error at a byte of the text, with its column counted in characters.
    func failure(
        _ code: ErrorCode, _ sentence: String, hint: String? = nil, at offset: Int
    ) -> LarderError {
        text.failure(code, sentence, hint: hint, at: offset)
    }

    static func isNameStart(_ byte: UInt8) -> Bool {
        byte.isASCIILetter || byte == UInt8(ascii: "_")
    }
}
