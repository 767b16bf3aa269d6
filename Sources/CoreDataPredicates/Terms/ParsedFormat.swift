internal import LarderModel
internal import LarderQuery

/// A format string that was parsed, with the values that it is given.
package struct ParsedFormat {
    let expression: QueryExpression
    /// The values of `%@` and `%K`, of which the key paths are in the tree already.
    let arguments: [Any?]
    /// The positions of the parts in the text.
    let sourceMap: FormatSourceMap

    /// - Throws: the error in the format with its column; `malformedPredicate` if there are more
    ///   arguments than the format uses.
    init(predicate format: String, _ arguments: [Any?]) throws(LarderError) {
        let parsed = try PredicateFormat.parse(
            format, arguments: Self.texts(of: arguments), isPart: true)
        try self.init(parsed, arguments)
    }

    /// - Throws: as for a predicate.
    init(expression format: String, _ arguments: [Any?]) throws(LarderError) {
        let parsed = try PredicateFormat.parseExpression(
            format, arguments: Self.texts(of: arguments))
        try self.init(parsed, arguments)
    }

    private init(
        _ parsed: PredicateFormat.Parsed, _ arguments: [Any?]
    ) throws(LarderError) {
        guard parsed.argumentsUsed == arguments.count else {
            throw LarderError(
                .malformedPredicate,
                "the format uses \(parsed.argumentsUsed) arguments, but "
                    + "\(arguments.count) were given"
            )
        }
        expression = parsed.expression
        sourceMap = parsed.sourceMap
        self.arguments = arguments
    }

    /// The texts among the arguments, which may be key paths. The parser reads no other values.
    private static func texts(of arguments: [Any?]) -> [QueryArgument] {
        arguments.map { .value(($0 as? String).map { .string($0) } ?? .null) }
    }

    var type: NSExpression.ExpressionType {
        switch expression {
        case .constant, .argument: .constantValue
        case .object: .evaluatedObject
        case .variable: .variable
        case .keyPath(.object, _): .keyPath
        case .list: .aggregate
        case .subquery: .subquery
        case .function(.conditional, _): .conditional
        default: .function
        }
    }
}
