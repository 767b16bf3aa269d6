import LarderModel
import LarderQuery

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
        text.folded(options, interruption)
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
            let folder = arguments.prepared(at: 1) { TextFolder(options(arguments[1])) }
            return folded(arguments[0], folder, interruption)
        }
        for comparison in [Comparison.Operator.beginsWith, .endsWith, .contains, .like] {
            try register(comparison, on: connection, problems) { pattern, options in
                StringOperator(comparison, pattern.normalized(interruption), options, interruption)
            } test: { text, test throws(LarderError) in
                try test.holds(text, interruption)
            }
        }
        let patterns = PatternCache(interruption)
        let limit = connection.limit
        try register(.matches, on: connection, problems) { pattern, options throws(LarderError) in
            try patterns.match(pattern, options)
        } test: { text, match throws(LarderError) in
            // A match may take as long as many steps of SQLite.
            guard limit.allowsMore() else { return false }
            return try match.holds(text, interruption)
        }
    }

    /// The argument without the differences that a folder ignores.
    static func folded(
        _ argument: FunctionArgument, _ folder: TextFolder, _ interruption: Interruption
    ) -> FunctionResult {
        argument.withSpan { text in
            if let folded = folder.folded(text, interruption) { return .utf8(folded) }
            return argument.type == .text ? .argument(0) : .text(text.string)
        }
    }

    /// Registers an operator.
    ///
    /// - Parameter prepare: Called once per run of a statement if the pattern is constant. The
    ///   options always are.
    private static func register<Prepared: AnyObject>(
        _ comparison: Comparison.Operator, on connection: Connection, _ problems: FunctionFaults,
        prepare: @escaping (String, Comparison.Options) throws(LarderError) -> Prepared,
        test: @escaping (Span<UInt8>, Prepared) throws(LarderError) -> Bool
    ) throws(SQLiteError) {
        guard let name = name(of: comparison) else {
            preconditionFailure("\(comparison) is not an operator of strings")
        }
        let limit = connection.limit
        // It counts the bytes itself, since those of a constant pattern cost nothing per row.
        try connection.registerScalar(name: name, argumentCount: 3, isBounded: false) { arguments in
            if arguments[0].isNull { return .null }
            do throws(LarderError) {
                let prepared = try arguments.preparedUnlessNull(at: 1) {
                    () throws(LarderError) in
                    guard limit.allowsCall(ofBytes: arguments[1].byteCount) else {
                        throw Conversions.stopped
                    }
                    return try prepare(arguments[1].string, options(arguments[2]))
                }
                guard let prepared else { return .null }
                let isTrue = try arguments[0].withSpan { text throws(LarderError) in
                    guard limit.allowsCall(ofBytes: text.count) else { throw Conversions.stopped }
                    return try test(text, prepared)
                }
                return .integer(isTrue ? 1 : 0)
            } catch {
                return limit.stopReason == nil ? problems.report(error) : .stopped
            }
        }
    }

    private static func options(_ argument: FunctionArgument) -> Comparison.Options {
        Comparison.Options(rawValue: UInt32(truncatingIfNeeded: argument.int64))
    }
}
