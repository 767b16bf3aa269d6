import LarderModel

/// Parses Core Data's predicate format strings into expression trees: `birthOfYear >= 1990 AND name
/// CONTAINS[cd] "bob"`.
///
/// The stages are text -> tokens (`FormatLexer`) -> tree (`FormatParser`). Parsing does not
/// consult a schema: the planner resolves key paths and checks operand types. `docs/queries.md`
/// documents the operators and functions. Core Data features that Larder does not have (CAST,
/// indexes, UNION, FUNCTION, random) throw `unsupported`, all other errors `malformedPredicate`;
/// both report a column.
package enum PredicateFormat {
    /// The result of parsing a format string.
    package struct Parsed: Sendable {
        package var expression: QueryExpression
        /// The number of arguments used, so that the caller can reject unused ones.
        package var argumentsUsed: Int
        /// Whether a `%K` was substituted, which makes the tree specific to these arguments.
        package var usesKeyPathArguments: Bool
        /// The positions of the tree's parts in the text.
        package var sourceMap: FormatSourceMap
    }

    /// Parses a format string that must be a predicate.
    ///
    /// Each `%@` (also `%d %i %u %f %s %ld %lu %lld %llu`) and `%K` takes one argument, in order,
    /// starting with `arguments[firstArgument]`. A `%@` becomes an
    /// ``QueryExpression/argument(_:)``; its value is not read. A `%K` becomes the key path in its
    /// argument. A `$name` that no enclosing SUBQUERY declares becomes a
    /// ``QueryExpression/variable(_:)``, whose value the query supplies.
    ///
    /// - Parameters:
    ///   - name: The role of the text, for error messages.
    ///   - isPart: Whether the predicate may be that of a SUBQUERY, so that variables which it does
    ///     not declare have properties.
    /// - Throws: `malformedPredicate` or `unsupported` with a column; `resourceExhausted` if the
    ///   text, its nesting or the tree exceeds ``Limits``.
    package static func parse(
        _ text: String, arguments: [QueryArgument] = [], firstArgument: Int = 0,
        name: String = "predicate", isPart: Bool = false
    ) throws(LarderError) -> Parsed {
        try parse(text, arguments, firstArgument, name) { (parser) throws(LarderError) in
            parser.isPart = isPart
            return try parser.wholePredicate()
        }
    }

    /// Parses a format string that may be any value, such as `wordCount * 2` or `articles.title`: a
    /// sort key, a selected column or a group key. Arguments and errors are those of
    /// ``parse(_:arguments:firstArgument:name:)``.
    package static func parseExpression(
        _ text: String, arguments: [QueryArgument] = [], firstArgument: Int = 0,
        name: String = "expression"
    ) throws(LarderError) -> Parsed {
        try parse(text, arguments, firstArgument, name) { (parser) throws(LarderError) in
            try parser.wholeExpression()
        }
    }

    /// The key path in a text that has the form of one, even if its names have a meaning in a
    /// format string.
    package static func keyPath(_ text: String, name: String = "expression") -> Parsed {
        let path = QueryExpression.keyPath(text)
        var sourceMap = FormatSourceMap(FormatText(text, name: name))
        var starts = [0]
        for (offset, byte) in text.utf8.enumerated() where byte == UInt8(ascii: ".") {
            starts.append(offset + 1)
        }
        sourceMap.add(path, at: 0, steps: starts)
        return Parsed(
            expression: path, argumentsUsed: 0, usesKeyPathArguments: false, sourceMap: sourceMap)
    }

    private static func parse(
        _ text: String, _ arguments: [QueryArgument], _ firstArgument: Int, _ name: String,
        _ whole: (inout FormatParser) throws(LarderError) -> QueryExpression
    ) throws(LarderError) -> Parsed {
        guard text.utf8.count <= Limits.predicateBytesMax else {
            throw LarderError(
                .resourceExhausted, "the \(name) is longer than \(Limits.predicateBytesMax) bytes",
                hint: "pass long values as arguments")
        }
        var parser = try FormatParser(
            FormatText(text, name: name), arguments: arguments, firstArgument: firstArgument)
        let expression = try whole(&parser)
        try expression.checkLimits()
        return Parsed(
            expression: expression, argumentsUsed: parser.argumentsUsed,
            usesKeyPathArguments: parser.usesKeyPathArguments, sourceMap: parser.sourceMap)
    }
}
