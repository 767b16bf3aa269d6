import LarderModel

/// The operators of strings. A character is Swift's: "é" is one, whatever its scalars are, and does
/// not begin with "e".
enum StringFunctions {
    /// `larder_fold(text, options)`: the text without the differences that the options ignore.
    static let fold = "larder_fold"

    /// The function `name(text, pattern, options)` of an operator: 1, 0, or nil if a side is nil.
    static func name(of comparison: Comparison.Operator) -> String? {
        switch comparison {
        case .beginsWith: "larder_begins_with"
        case .endsWith: "larder_ends_with"
        case .contains: "larder_contains"
        case .like: "larder_like"
        case .matches: "larder_matches"
        default: nil
        }
    }

    static func folded(
        _ text: String, _ options: Comparison.Options, _ interruption: Interruption = .never
    ) -> String {
        options.isEmpty
            ? text
            : text.folded(
                caseInsensitive: options.contains(.caseInsensitive),
                diacriticInsensitive: options.contains(.diacriticInsensitive), interruption)
    }

    /// The first value, in binary order, after all strings with this prefix: the prefix with its
    /// last scalar incremented, or an empty blob, which comes after every text.
    static func endOfPrefix(_ prefix: String) -> SQLValue {
        var scalars = Array(prefix.unicodeScalars)
        while let last = scalars.popLast() {
            // U+E000 is the next scalar after U+D7FF; the surrogates between them are not scalars.
            let next = last.value == 0xD7FF ? 0xE000 : last.value + 1
            guard let scalar = Unicode.Scalar(next) else { continue }
            var end = String.UnicodeScalarView()
            end.append(contentsOf: scalars)
            end.append(scalar)
            return .text(String(end))
        }
        return .blob([])
    }

    static func register(
        on connection: Connection, _ problems: FunctionFaults
    ) throws(SQLiteError) {
        let interruption = connection.limit.interruption
        try connection.registerScalar(name: fold, argumentCount: 2) { arguments in
            if arguments[0].isNull { return .null }
            return .text(folded(arguments[0].string, options(arguments[1]), interruption))
        }
        try register(.beginsWith, on: connection) { text, part in
            text.beginsWithCharacters(of: part)
        }
        try register(.endsWith, on: connection) { text, part in text.endsWithCharacters(of: part) }
        try register(.contains, on: connection) { text, part in
            text.containsCharacters(of: part, interruption)
        }
        let patterns = PatternCache(interruption)
        try register(.like, on: connection) { text, pattern, options in
            let text = folded(text, options, interruption)
            let pattern = folded(pattern, options, interruption)
            do throws(LarderError) {
                return .integer(try patterns.isLike(text, pattern) ? 1 : 0)
            } catch {
                return problems.report(error)
            }
        }
        try register(.matches, on: connection) { text, pattern, options in
            do throws(LarderError) {
                return .integer(try patterns.matches(text, pattern, options) ? 1 : 0)
            } catch {
                return problems.report(error)
            }
        }
    }

    /// Registers an operator without options of its own: both sides are folded first.
    private static func register(
        _ comparison: Comparison.Operator, on connection: Connection,
        test: @escaping (String, String) -> Bool
    ) throws(SQLiteError) {
        let interruption = connection.limit.interruption
        try register(comparison, on: connection) { text, pattern, options in
            test(folded(text, options, interruption), folded(pattern, options, interruption))
                ? .integer(1) : .integer(0)
        }
    }

    private static func register(
        _ comparison: Comparison.Operator, on connection: Connection,
        body: @escaping (String, String, Comparison.Options) -> FunctionResult
    ) throws(SQLiteError) {
        guard let name = name(of: comparison) else {
            preconditionFailure("\(comparison) is not an operator of strings")
        }
        try connection.registerScalar(name: name, argumentCount: 3) { arguments in
            if arguments[0].isNull || arguments[1].isNull { return .null }
            return body(arguments[0].string, arguments[1].string, options(arguments[2]))
        }
    }

    private static func options(_ argument: FunctionArgument) -> Comparison.Options {
        Comparison.Options(rawValue: UInt32(truncatingIfNeeded: argument.int64))
    }
}
