/// Reads one line of a configuration file.
struct ConfigurationLine {
    private var rest: Substring

    init(_ line: Substring) { rest = line }

    /// The key and its value; nil for an empty line or a comment.
    mutating func read() throws(LineError) -> (key: String, value: ConfigurationFile.Value)? {
        skipSpaces()
        if isAtEnd { return nil }
        guard rest.first != "[" else {
            throw LineError("there are no tables; write key = value")
        }
        let key = rest.prefix(while: Self.isKeyCharacter)
        guard !key.isEmpty else { throw LineError("a line is key = value") }
        rest = rest.dropFirst(key.count)
        skipSpaces()
        guard rest.first == "=" else { throw LineError("a line is key = value") }
        rest = rest.dropFirst()
        skipSpaces()
        let value = try readValue()
        skipSpaces()
        guard isAtEnd else { throw LineError("there is something after the value") }
        return (String(key), value)
    }

    private static func isKeyCharacter(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber)
            || character == "-" || character == "_"
    }

    private var isAtEnd: Bool { rest.isEmpty || rest.first == "#" }

    private mutating func skipSpaces() {
        rest = rest.drop { $0 == " " || $0 == "\t" }
    }

    private mutating func readValue() throws(LineError) -> ConfigurationFile.Value {
        switch rest.first {
        case "\"", "'": return .text(try readText())
        case "[": return .list(try readList())
        default: break
        }
        let word = rest.prefix { !" \t#".contains($0) }
        rest = rest.dropFirst(word.count)
        switch word {
        case "true": return .bool(true)
        case "false": return .bool(false)
        default: break
        }
        let digits = word.replacing("_", with: "")
        // TOML has no leading zeros, and underscores between digits only.
        guard let number = Int64(digits), String(number) == digits, !word.hasPrefix("_"),
            !word.hasSuffix("_"), !word.contains("__")
        else {
            throw LineError(
                "a value is a text in quotes, a whole number, true, false, or a list of texts")
        }
        return .number(number)
    }

    private mutating func readList() throws(LineError) -> [String] {
        rest = rest.dropFirst()
        var texts: [String] = []
        while true {
            skipSpaces()
            if rest.first == "]" { break }
            guard rest.first == "\"" || rest.first == "'" else {
                throw LineError("a list has texts in quotes, and is on one line")
            }
            texts.append(try readText())
            skipSpaces()
            if rest.first == "," {
                rest = rest.dropFirst()
            } else if rest.first != "]" {
                throw LineError("texts of a list are separated by commas, on one line")
            }
        }
        rest = rest.dropFirst()
        return texts
    }

    /// A text in quotes, in which a backslash has a meaning, or in apostrophes.
    private mutating func readText() throws(LineError) -> String {
        guard let quote = rest.popFirst() else { throw Self.unfinished }
        var text = ""
        while let character = rest.popFirst() {
            if character == quote { return text }
            guard quote == "\"", character == "\\" else {
                guard character.unicodeScalars.allSatisfy({ $0.value >= 0x20 || $0 == "\t" }) else {
                    throw LineError("a text has no control characters")
                }
                text.append(character)
                continue
            }
            text.append(try readEscape())
        }
        throw Self.unfinished
    }

    private static let unfinished = LineError("the text has no end")

    private mutating func readEscape() throws(LineError) -> Character {
        switch rest.popFirst() {
        case "\"": return "\""
        case "\\": return "\\"
        case "n": return "\n"
        case "t": return "\t"
        case "r": return "\r"
        case "u": return try readScalar(digits: 4)
        case "U": return try readScalar(digits: 8)
        default: throw LineError("the escapes are \\\" \\\\ \\n \\t \\r \\uXXXX \\UXXXXXXXX")
        }
    }

    private mutating func readScalar(digits count: Int) throws(LineError) -> Character {
        let digits = rest.prefix(count)
        rest = rest.dropFirst(count)
        guard digits.utf8.count == count, digits.allSatisfy(\.isHexDigit),
            let number = UInt32(digits, radix: 16), let scalar = Unicode.Scalar(number)
        else { throw LineError("\\u has four hexadecimal digits, and \\U eight") }
        return Character(scalar)
    }
}
