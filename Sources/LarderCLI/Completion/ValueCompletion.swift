import LarderModel

/// Completes the value at the end of an argument, if its attribute has few values that begin so.
///
/// The value is that of `path == "va` in an expression, or that of `path=va`. Only `larder shell`
/// proposes values: bash expands what it is given, so that a value could be a command.
struct ValueCompletion {
    /// An attribute with more values is no enumeration, and none of them is proposed.
    static let valuesMax = 20
    /// The longest value that is proposed, in bytes.
    static let valueBytesMax = 64

    /// Characters with a meaning in a line of `larder shell`.
    private static let shellCharacters = Set("\"'()[]{}".unicodeScalars)

    /// The key path that the value is compared with or assigned to.
    let path: String
    /// The beginning of the value.
    let typed: String
    /// The argument before the value.
    private let start: String
    /// The quotation mark that opens the value; nil if there is none.
    private let quote: Character?

    /// The value after a comparison and a quotation mark; nil if the argument does not end so.
    init?(comparisonIn argument: String) {
        guard let open = ExpressionCompletion.openLiteral(in: argument) else { return nil }
        let before = argument[..<open]
        let comparison = /([A-Za-z_][A-Za-z0-9_.]*)\s*(?:==|!=|<>|=|(?i:\bIN\b|\bBEGINSWITH\b))/
        // Options of an operator, and the list of IN before the value.
        let rest = /(?:\[[a-z]+\])?\s*(?:\{[^{}]*)?/
        guard let match = before.matches(of: comparison).last,
            before[match.range.upperBound...].wholeMatch(of: rest) != nil
        else { return nil }
        path = String(match.1)
        quote = argument[open]
        start = String(argument[...open])
        typed = String(argument[argument.index(after: open)...])
        guard Self.isPlain(typed, in: quote) else { return nil }
    }

    /// The value after `path=`; nil if the argument is another one.
    init?(assignment argument: String) {
        guard let match = argument.wholeMatch(of: /([A-Za-z_][A-Za-z0-9_.]*)=(.*)/) else {
            return nil
        }
        path = String(match.1)
        quote = nil
        typed = String(match.2)
        start = String(argument.dropLast(typed.count))
        guard Self.isPlain(typed, in: nil) else { return nil }
    }

    /// The argument with each of the values.
    func arguments(_ values: [String]) -> [String] {
        let shown = values.filter {
            $0.hasPrefix(typed) && $0.utf8.count <= Self.valueBytesMax
                && Self.isPlain($0, in: quote)
        }
        return shown.map { start + $0 + (quote.map { String($0) } ?? "") }
    }

    /// Whether the value needs no escapes: in quotation marks, or as a part of a word.
    private static func isPlain(_ text: String, in quote: Character?) -> Bool {
        text.unicodeScalars.allSatisfy { scalar in
            guard scalar.properties.generalCategory != .control, scalar != "\\" else {
                return false
            }
            if let quote { return Character(scalar) != quote }
            return !scalar.properties.isWhitespace && !shellCharacters.contains(scalar)
        }
    }
}
