/// Core Data's predicate format strings, read into the one tree of expressions:
/// `birthOfYear >= 1990 AND name CONTAINS[cd] "bob"`.
///
/// The way is text -> tokens (``FormatLexer``) -> tree (``FormatParser``). Reading asks no schema:
/// whether a key path leads anywhere, and whether an operator fits its sides, is the planner's.
/// `docs/queries.md` has the operators and functions. What Core Data knows and Larder does not
/// (CAST, indexes, UNION, FUNCTION, random) is refused as `unsupported`, all else that is wrong as
/// `malformedPredicate`; both say at which column.
public enum PredicateFormat {
    /// What a format string was read into.
    public struct Parsed: Sendable {
        public var expression: QueryExpression
        /// How many arguments it takes, so that the caller can refuse what is left over.
        public var argumentsUsed: Int
        /// Whether a `%K` was filled in, so that the tree is good for these arguments only.
        public var usesKeyPathArguments: Bool
        /// Where the parts of the tree stand in the text.
        public var places: FormatPlaces
    }

    /// Reads a format string that is true or false.
    ///
    /// `%@` (also `%d %i %u %f %s %ld %lu %lld %llu`) and `%K` take one argument each, in order,
    /// from `arguments[firstArgument]`. A `%@` stays an ``QueryExpression/argument(_:)`` whose
    /// value is not looked at; a `%K` becomes the key path that its argument spells. A `$name` that
    /// no SUBQUERY around it names stays a ``QueryExpression/variable(_:)``, a value that comes
    /// with the query.
    ///
    /// - Parameter name: What the text is to the one who wrote it, for sentences.
    /// - Throws: `malformedPredicate` or `unsupported` with the column; `resourceExhausted` for a
    ///   text, a nesting, or a tree beyond ``Limits``.
    public static func parse(
        _ text: String, arguments: [QueryArgument] = [], firstArgument: Int = 0,
        name: String = "predicate"
    ) throws(LarderError) -> Parsed {
        try parse(text, arguments, firstArgument, name) { (parser) throws(LarderError) in
            try parser.wholePredicate()
        }
    }

    /// Reads a format string that is a value, such as `wordCount * 2` or `articles.title`: of a
    /// sort key, a selected column, a group. All else is as in ``parse(_:arguments:firstArgument:name:)``.
    public static func parseExpression(
        _ text: String, arguments: [QueryArgument] = [], firstArgument: Int = 0,
        name: String = "expression"
    ) throws(LarderError) -> Parsed {
        try parse(text, arguments, firstArgument, name) { (parser) throws(LarderError) in
            try parser.wholeExpression()
        }
    }

    private static func parse(
        _ text: String, _ arguments: [QueryArgument], _ firstArgument: Int, _ name: String,
        _ whole: (inout FormatParser) throws(LarderError) -> QueryExpression
    ) throws(LarderError) -> Parsed {
        guard text.utf8.count <= Limits.predicateBytesMax else {
            throw LarderError(
                .resourceExhausted, "the \(name) is longer than \(Limits.predicateBytesMax) bytes",
                hint: "give long values as arguments")
        }
        var parser = try FormatParser(
            FormatText(text, name: name), arguments: arguments, firstArgument: firstArgument)
        let expression = try whole(&parser)
        try expression.checkLimits()
        return Parsed(
            expression: expression, argumentsUsed: parser.argumentsUsed,
            usesKeyPathArguments: parser.usesKeyPathArguments, places: parser.places)
    }
}
