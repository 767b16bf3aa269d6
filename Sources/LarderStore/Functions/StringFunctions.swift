import LarderModel
import LarderQuery
import LarderSQL

extension StringFunctions {
    static func register(
        on connection: Connection, _ problems: FunctionFaults
    ) throws(SQLError) {
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
    ) throws(SQLError) {
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
