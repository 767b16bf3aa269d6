/// Parsing the strings and numbers of JSON.
extension JSONParser {
    mutating func string() throws(LarderError) -> String {
        position += 1
        var content: [UInt8] = []
        var runStart = position
        while let byte = current {
            switch byte {
            case UInt8(ascii: "\""):
                let run = bytes[runStart..<position]
                position += 1
                return content.isEmpty
                    ? String(decoding: run, as: UTF8.self)
                    : String(decoding: content + run, as: UTF8.self)
            case UInt8(ascii: "\\"):
                content += bytes[runStart..<position]
                content += String(try escape()).utf8
                runStart = position
            case 0..<0x20: throw controlCharacter
            default: try skipCharacter()
            }
        }
        throw expected("a closing quotation mark")
    }

    /// Checks a string without decoding it.
    mutating func checkString() throws(LarderError) {
        position += 1
        while let byte = current {
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                return
            case UInt8(ascii: "\\"): _ = try escape()
            case 0..<0x20: throw controlCharacter
            default: try skipCharacter()
            }
        }
        throw expected("a closing quotation mark")
    }

    private mutating func skipCharacter() throws(LarderError) {
        position += 1
        // A string is counted every 16 KiB, because its bytes are much cheaper than values.
        if position & 0x3FFF == 0 { try count(1_024) }
    }

    private var controlCharacter: LarderError {
        failure("a control character in a string must be escaped")
    }

    private mutating func escape() throws(LarderError) -> Character {
        try count()
        position += 1
        guard let byte = current else { throw expected("a character after `\\`") }
        let plain: Character? =
            switch byte {
            case UInt8(ascii: "\""): "\""
            case UInt8(ascii: "\\"): "\\"
            case UInt8(ascii: "/"): "/"
            case UInt8(ascii: "b"): "\u{8}"
            case UInt8(ascii: "f"): "\u{C}"
            case UInt8(ascii: "n"): "\n"
            case UInt8(ascii: "r"): "\r"
            case UInt8(ascii: "t"): "\t"
            default: nil
            }
        if let plain {
            position += 1
            return plain
        }
        guard byte == UInt8(ascii: "u") else { throw failure("unknown escape sequence") }
        position += 1
        let unit = try hexadecimalUnit()
        var units = [unit]
        if UTF16.isLeadSurrogate(unit) {
            guard bytes[position...].starts(with: #"\u"#.utf8) else {
                throw expected("the second half of a surrogate pair")
            }
            position += 2
            units.append(try hexadecimalUnit())
        }
        guard let text = String(validating: units, as: UTF16.self), let first = text.first else {
            throw failure("a surrogate pair is incomplete")
        }
        return first
    }

    private mutating func hexadecimalUnit() throws(LarderError) -> UInt16 {
        let digits = bytes[position...].prefix(4)
        guard let unit = UInt16(hexadecimalDigits: digits) else {
            throw expected("four hexadecimal digits")
        }
        position += 4
        return unit
    }

    mutating func number() throws(LarderError) -> JSONValue {
        let start = position
        var isInteger = true
        if current == UInt8(ascii: "-") { position += 1 }
        let integerStart = position
        try skipDigits()
        if bytes[integerStart] == UInt8(ascii: "0"), position > integerStart + 1 {
            position = integerStart
            throw failure("a number must not have leading zeros")
        }
        if current == UInt8(ascii: ".") {
            isInteger = false
            position += 1
            try skipDigits()
        }
        if current == UInt8(ascii: "e") || current == UInt8(ascii: "E") {
            isInteger = false
            position += 1
            if current == UInt8(ascii: "-") || current == UInt8(ascii: "+") { position += 1 }
            try skipDigits()
        }
        guard buildsTree else { return .null }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        // -0 is not an integer: its sign would be lost.
        if isInteger, text != "-0", let integer = Int64(text) { return .integer(integer) }
        guard let double = Double(text), double.isFinite,
            let written = DecimalDigits(text), written == DecimalDigits(double.description)
        else { return .decimal(text) }
        return .double(double)
    }

    private mutating func skipDigits() throws(LarderError) {
        let start = position
        while let byte = current, byte.isASCIIDigit { try skipCharacter() }
        guard position > start else { throw expected("a digit") }
    }
}
