/// Cuts what was typed where it is no part of an expression: outside of its strings and brackets.
struct ExpressionText {
    private let text: String
    /// The characters outside of strings and brackets.
    private let outside: [String.Index]

    init(_ text: String) {
        self.text = text
        var outside: [String.Index] = []
        var depth = 0
        var quote: Character?
        var isEscaped = false
        for place in text.indices {
            let character = text[place]
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
            default: if depth == 0 { outside.append(place) }
            }
        }
        self.outside = outside
    }

    /// The parts between commas, without the spaces around them.
    var parts: [String] {
        var parts: [String] = []
        var start = text.startIndex
        for place in outside where text[place] == "," {
            parts.append(Self.trimmed(text[start..<place]))
            start = text.index(after: place)
        }
        return parts + [Self.trimmed(text[start...])]
    }

    /// The last colon; an expression has none outside of its strings.
    var lastColon: String.Index? { outside.last { text[$0] == ":" } }

    /// What stands in front of the first word `where`, and what behind it; nil without the word.
    var whereHalves: (asked: String, filter: String)? {
        for place in outside where text[place].isWhitespace {
            let word = text[place...].dropFirst()
            let rest = word.dropFirst(5)
            guard word.prefix(5).lowercased() == "where", rest.first?.isWhitespace == true else {
                continue
            }
            return (Self.trimmed(text[..<place]), Self.trimmed(rest))
        }
        return nil
    }

    /// A name and what stands behind its `=`; the name is nil where what was typed has none.
    static func named(_ text: String) -> (name: String?, rest: String) {
        guard let sign = text.firstIndex(of: "=") else { return (nil, text) }
        let name = text[..<sign]
        let rest = text[text.index(after: sign)...]
        let isName = name.allSatisfy {
            $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." || $0 == "-"
        }
        // These would be comparisons.
        guard isName, let next = rest.first, !"=<>".contains(next) else { return (nil, text) }
        return (String(name), trimmed(rest))
    }

    private static func trimmed(_ text: Substring) -> String {
        let end = text.lastIndex { !$0.isWhitespace }
        guard let end else { return "" }
        return String(text[...end].drop(while: \.isWhitespace))
    }
}
