/// Splits an argument that contains expressions. Separators within strings and brackets belong to
/// an expression and do not count.
struct ExpressionSplitter {
    private let text: String
    /// The indexes of the characters outside strings and brackets.
    private let outside: [String.Index]

    init(_ text: String) {
        self.text = text
        var outside: [String.Index] = []
        var depth = 0
        var quote: Character?
        var isEscaped = false
        for index in text.indices {
            let character = text[index]
            if let end = quote {
                if isEscaped {
                    isEscaped = false
                } else if character == "\\" {
                    isEscaped = true
                } else if character == end {
                    quote = nil
                }
                continue
            }
            switch character {
            case "\"", "'": quote = character
            case "(", "{", "[": depth += 1
            case ")", "}", "]": depth -= 1
            default: if depth == 0 { outside.append(index) }
            }
        }
        self.outside = outside
    }

    /// The parts between commas, without surrounding spaces.
    var parts: [String] {
        var parts: [String] = []
        var start = text.startIndex
        for index in outside where text[index] == "," {
            parts.append(Self.trimmed(text[start..<index]))
            start = text.index(after: index)
        }
        return parts + [Self.trimmed(text[start...])]
    }

    /// The last colon. An expression contains colons only within strings.
    var lastColon: String.Index? { outside.last { text[$0] == ":" } }

    /// The text before and after the first occurrence of a word, in any case; nil if there is none.
    func around(word: String) -> (left: String, right: String)? {
        for index in outside where text[index].isWhitespace {
            let found = text[index...].dropFirst()
            let rest = found.dropFirst(word.count)
            guard found.prefix(word.count).lowercased() == word, rest.first?.isWhitespace == true
            else { continue }
            return (Self.trimmed(text[..<index]), Self.trimmed(rest))
        }
        return nil
    }

    /// The text before the last word and this word; nil for a text without spaces.
    var lastWord: (left: String, word: String)? {
        guard let space = outside.last(where: { text[$0].isWhitespace }) else { return nil }
        return (Self.trimmed(text[..<space]), Self.trimmed(text[space...]))
    }

    /// Splits `NAME=TEXT`. The name is nil if the argument has none.
    static func named(_ text: String) -> (name: String?, rest: String) {
        guard let sign = text.firstIndex(of: "=") else { return (nil, text) }
        let name = text[..<sign]
        let rest = text[text.index(after: sign)...]
        let isName = name.allSatisfy {
            $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." || $0 == "-"
        }
        // `a == b`, `a => b` and the like are expressions.
        guard isName, let next = rest.first, !"=<>".contains(next) else { return (nil, text) }
        return (String(name), trimmed(rest))
    }

    private static func trimmed(_ text: Substring) -> String {
        let end = text.lastIndex { !$0.isWhitespace }
        guard let end else { return "" }
        return String(text[...end].drop(while: \.isWhitespace))
    }
}
