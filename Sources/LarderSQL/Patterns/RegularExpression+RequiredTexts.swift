extension RegularExpression {
    /// Finds texts that are in every string that an expression matches, in their order.
    ///
    /// It may find fewer, but never one that is not required. So an expression with an alternative,
    /// an option or an escape that is not understood requires nothing.
    static func requiredTexts(of pattern: String) -> [String] {
        var scanner = ExpressionScanner(pattern)
        return scanner.texts() ?? []
    }
}

/// Reads a regular expression from the left: literals outside of all groups.
private struct ExpressionScanner {
    private let scalars: [Unicode.Scalar]
    private var position = 0
    private var found: [String] = []
    private var text = String.UnicodeScalarView()

    init(_ pattern: String) { scalars = Array(pattern.unicodeScalars) }

    private var next: Unicode.Scalar? {
        position < scalars.count ? scalars[position] : nil
    }

    /// nil if the expression has an alternative, or something that is not understood.
    mutating func texts() -> [String]? {
        while let scalar = next {
            position += 1
            switch scalar {
            case "|": return nil
            case "(":
                guard skipGroup() else { return nil }
                endText()
            case "[":
                guard skipClass() else { return nil }
                endText()
            case "{":
                guard skipBraces() else { return nil }
                endText()
            case ".", "^", "$", "*", "+", "?": endText()
            case "\\":
                guard let escaped = next else { return nil }
                position += 1
                if !escaped.isASCIIWordCharacter {
                    take(escaped)
                } else if Self.classes.contains(escaped) {
                    endText()
                } else {
                    return nil
                }
            default: take(scalar)
            }
        }
        endText()
        return found
    }

    /// The escapes that stand for one character of a kind, or for a position.
    private static let classes = Set("dDwWsSbBAzZhHvVRX".unicodeScalars)

    /// Whether the next character has another meaning than alone: `\Q)` and `\c)` end no group.
    private static func hidesNext(_ escaped: Unicode.Scalar) -> Bool {
        escaped == "Q" || escaped == "c"
    }

    /// Adds a literal, unless its quantifier permits that it is missing.
    private mutating func take(_ scalar: Unicode.Scalar) {
        switch next {
        case "*", "?", "{": endText()
        case "+":
            text.append(scalar)
            endText()
        default: text.append(scalar)
        }
    }

    private mutating func endText() {
        if !text.isEmpty { found.append(String(text)) }
        text = String.UnicodeScalarView()
    }

    /// Moves behind the end of a group. Groups that begin with `?` or `*` may be options.
    private mutating func skipGroup() -> Bool {
        var depth = 1
        if next == "?" || next == "*" { return false }
        while depth > 0 {
            guard let scalar = next else { return false }
            position += 1
            switch scalar {
            case "\\":
                guard let escaped = next, !Self.hidesNext(escaped) else { return false }
                position += 1
            case "[":
                guard skipClass() else { return false }
            case "(":
                if next == "?" || next == "*" { return false }
                depth += 1
            case ")": depth -= 1
            default: break
            }
        }
        return true
    }

    /// Moves behind the end of a character class.
    private mutating func skipClass() -> Bool {
        if next == "^" { position += 1 }
        // The bracket is a member if it comes first.
        if next == "]" { position += 1 }
        while let scalar = next {
            position += 1
            switch scalar {
            case "]": return true
            // A class within the class.
            case "[": return false
            case "\\":
                guard let escaped = next, !Self.hidesNext(escaped) else { return false }
                position += 1
            default: break
            }
        }
        return false
    }

    private mutating func skipBraces() -> Bool {
        while let scalar = next {
            position += 1
            if scalar == "}" { return true }
        }
        return false
    }
}

extension Unicode.Scalar {
    fileprivate var isASCIIWordCharacter: Bool {
        switch self {
        case "a"..."z", "A"..."Z", "0"..."9", "_": true
        default: false
        }
    }
}
