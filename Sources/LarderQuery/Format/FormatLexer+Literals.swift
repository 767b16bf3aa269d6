import LarderModel

/// Numbers and strings of a format string.
extension FormatLexer {
    /// Reads an unsigned number: a decimal, `0x…`, `0o…` or `0b…` integer, or a number with a
    /// fraction or an exponent.
    mutating func number() throws(LarderError) -> FormatToken.Kind {
        let start = position
        guard !FormatHint.beginsWithDate(bytes[start...]) else {
            throw failure(
                .malformedPredicate, "a date without quotation marks is arithmetic",
                hint: "\(FormatHint.date); to subtract numbers, put spaces around the operators",
                at: start)
        }
        let radix = radix
        if radix != 10 { position += 2 }
        let digitsStart = position
        skipDigits(hexadecimal: radix == 16)
        var isInteger = true
        if radix == 10 {
            if peek() == UInt8(ascii: "."), peek(1)?.isASCIIDigit == true {
                isInteger = false
                position += 1
                skipDigits()
            }
            if let byte = peek(), byte | 0x20 == UInt8(ascii: "e") {
                isInteger = false
                position += 1
                if peek() == UInt8(ascii: "-") || peek() == UInt8(ascii: "+") { position += 1 }
                guard peek()?.isASCIIDigit == true else {
                    throw failure(
                        .malformedPredicate, "expected the digits of an exponent", at: position)
                }
                skipDigits()
            }
        }
        let isTorn = peek().map(Self.isNameStart) == true || digitsStart == position
        guard !isTorn else {
            throw failure(.malformedPredicate, "expected a digit", at: position)
        }
        let digits = String(decoding: bytes[digitsStart..<position], as: UTF8.self)
        if isInteger {
            if let integer = UInt64(digits, radix: radix) { return .integer(integer) }
            guard digits.utf8.allSatisfy({ Int($0) - 48 < radix }) || radix > 9 else {
                throw failure(
                    .malformedPredicate, "expected digits of base \(radix)", at: digitsStart)
            }
            throw failure(
                .malformedPredicate, "the number is too large",
                hint: FormatHint.largeInteger, at: start)
        }
        if let value = Value(fractionLiteral: digits) { return .fraction(value) }
        let isTooLarge = Double(digits)?.isFinite == false
        throw failure(
            .malformedPredicate,
            isTooLarge
                ? "the number is too large"
                : "neither a double nor a decimal represents the number exactly",
            hint: isTooLarge ? nil : "a decimal has up to \(ExactDecimal.digitsMax) digits",
            at: start)
    }

    /// The base that the number's prefix names.
    private var radix: Int {
        guard peek() == UInt8(ascii: "0") else { return 10 }
        return switch (peek(1) ?? 0) | 0x20 {
        case UInt8(ascii: "x"): 16
        case UInt8(ascii: "o"): 8
        case UInt8(ascii: "b"): 2
        default: 10
        }
    }

    private mutating func skipDigits(hexadecimal: Bool = false) {
        while let byte = peek() {
            let isDigit = hexadecimal ? byte.hexadecimalDigitValue != nil : byte.isASCIIDigit
            guard isDigit else { return }
            position += 1
        }
    }

    mutating func string(quote: UInt8) throws(LarderError) -> String {
        let start = position
        position += 1
        var content: [UInt8] = []
        while let byte = peek() {
            switch byte {
            case quote:
                position += 1
                return String(decoding: content, as: UTF8.self)
            case UInt8(ascii: "\\"): try escape(into: &content)
            default:
                content.append(byte)
                position += 1
            }
        }
        throw failure(.malformedPredicate, "the string that begins here is not closed", at: start)
    }

    private mutating func escape(into content: inout [UInt8]) throws(LarderError) {
        let start = position
        position += 2
        guard start + 1 < bytes.count else { return }
        switch bytes[start + 1] {
        case UInt8(ascii: "\\"), UInt8(ascii: "\""), UInt8(ascii: "'"):
            content.append(bytes[start + 1])
        case UInt8(ascii: "n"): content.append(0x0A)
        case UInt8(ascii: "t"): content.append(0x09)
        case UInt8(ascii: "r"): content.append(0x0D)
        case UInt8(ascii: "b"): content.append(0x08)
        case UInt8(ascii: "f"): content.append(0x0C)
        case UInt8(ascii: "u"):
            var units = [try codeUnit(at: start)]
            if UTF16.isLeadSurrogate(units[0]), peek() == UInt8(ascii: "\\"),
                peek(1) == UInt8(ascii: "u")
            {
                position += 2
                units.append(try codeUnit(at: start))
            }
            guard let text = String(validating: units, as: UTF16.self) else {
                throw failure(
                    .malformedPredicate, "expected a complete surrogate pair", at: start)
            }
            content += text.utf8
        default:
            throw failure(
                .malformedPredicate, "unknown escape sequence",
                hint: #"a backslash is written `\\`"#,
                at: start)
        }
    }

    private mutating func codeUnit(at start: Int) throws(LarderError) -> UInt16 {
        let digits = bytes[min(position, bytes.count)...].prefix(4)
        guard let unit = UInt16(hexadecimalDigits: digits) else {
            throw failure(
                .malformedPredicate, #"expected four hexadecimal digits after `\u`"#, at: start)
        }
        position += 4
        return unit
    }
}
