/// The words of a line of `larder shell`.
///
/// Words are separated by white space. '…' and "…" keep it, as in the shell of the system; a
/// backslash keeps the character after it, except at the beginning of the line: `\d` is a short
/// form. All other characters stand for themselves. The value of an option that takes an
/// expression extends to the next option, unless it begins with a quotation mark:
/// `fetch Article --where wordCount > 100 AND title BEGINSWITH "A" --sort title`.
struct ShellWords {
    /// The options whose value is an expression, or several.
    static let expressionOptions: Set<String> = [
        "--where", "--having", "--until", "--unless", "--expect", "--set", "--select", "--sort",
        "--group-by",
    ]

    private(set) var words: [String] = []
    /// Whether a quotation mark or a bracket is open at the end, or the last character is a
    /// backslash. The next line then belongs to this one.
    private(set) var isUnfinished = false
    /// Whether the last word is an expression without quotation marks.
    private(set) var endsInExpression = false

    private let bytes: [UInt8]
    private var index = 0

    init(_ text: String) {
        bytes = Array(text.utf8)
        while skipSpace() {
            let word = readWord()
            words.append(word)
            endsInExpression = false
            guard Self.expressionOptions.contains(word), skipSpace(), !bytes[index].isQuote,
                !startsOption
            else { continue }
            words.append(readExpression())
            endsInExpression = true
        }
    }

    /// Whether `--name` begins here.
    private var startsOption: Bool {
        guard index + 2 < bytes.count else { return false }
        return bytes[index] == .hyphen && bytes[index + 1] == .hyphen
            && (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(bytes[index + 2])
    }

    /// Whether a backslash here joins this line to the next one.
    private var joinsLines: Bool {
        guard bytes[index] == .backslash else { return false }
        let next = index + 1
        return next == bytes.count || bytes[next] == .newline
    }

    /// Skips white space. Returns false at the end.
    private mutating func skipSpace() -> Bool {
        while index < bytes.count {
            guard bytes[index].isSpace || joinsLines else { return true }
            isUnfinished = bytes[index] == .backslash && index + 1 == bytes.count
            index += 1
        }
        return false
    }

    private mutating func readWord() -> String {
        var word: [UInt8] = []
        while index < bytes.count, !bytes[index].isSpace, !joinsLines {
            let byte = bytes[index]
            index += 1
            if byte.isQuote {
                readQuoted(until: byte, into: &word)
            } else if byte == .backslash, !(words.isEmpty && word.isEmpty) {
                word.append(bytes[index])
                index += 1
            } else {
                word.append(byte)
            }
        }
        return String(decoding: word, as: UTF8.self)
    }

    /// Reads to the closing quotation mark. Within "…", a backslash keeps a quotation mark or
    /// another backslash.
    private mutating func readQuoted(until quote: UInt8, into word: inout [UInt8]) {
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            if byte == quote { return }
            if quote == .doubleQuote, byte == .backslash, index < bytes.count,
                bytes[index] == quote || bytes[index] == .backslash
            {
                word.append(bytes[index])
                index += 1
            } else {
                word.append(byte)
            }
        }
        isUnfinished = true
    }

    /// Reads to the next option outside of quotation marks, without the white space before it.
    private mutating func readExpression() -> String {
        var text: [UInt8] = []
        var depth = 0
        while index < bytes.count {
            if text.last?.isSpace == true, startsOption { break }
            let byte = bytes[index]
            let isJoined = joinsLines
            index += 1
            if isJoined {
                isUnfinished = index == bytes.count
                continue
            }
            text.append(byte)
            if byte.isQuote {
                readLiteral(until: byte, into: &text)
            } else if byte.opens {
                depth += 1
            } else if byte.closes {
                depth -= 1
            }
        }
        if depth > 0, index == bytes.count { isUnfinished = true }
        while text.last?.isSpace == true { text.removeLast() }
        return String(decoding: text, as: UTF8.self)
    }

    /// Reads a literal of an expression after its quotation mark, which stays in the text.
    private mutating func readLiteral(until quote: UInt8, into text: inout [UInt8]) {
        while index < bytes.count {
            let byte = bytes[index]
            text.append(byte)
            index += 1
            if byte == quote { return }
            if byte == .backslash, index < bytes.count {
                text.append(bytes[index])
                index += 1
            }
        }
        isUnfinished = true
    }
}

extension UInt8 {
    fileprivate static let hyphen = UInt8(ascii: "-")
    fileprivate static let backslash = UInt8(ascii: "\\")
    fileprivate static let newline = UInt8(ascii: "\n")
    fileprivate static let doubleQuote = UInt8(ascii: "\"")

    fileprivate var isSpace: Bool { self == 0x20 || (0x09...0x0D).contains(self) }
    fileprivate var isQuote: Bool { self == .doubleQuote || self == UInt8(ascii: "'") }
    fileprivate var opens: Bool { "([{".utf8.contains(self) }
    fileprivate var closes: Bool { ")]}".utf8.contains(self) }
}
