/// Core Data's predicate format strings, read into the one tree of expressions:
/// `birthOfYear >= 1990 AND name CONTAINS[cd] "bob"`.
///
/// The way is text -> tokens (``FormatLexer``) -> tree (``FormatParser``). Reading asks no schema:
/// whether a key path leads anywhere, and whether an operator fits its sides, is the planner's.
/// What Core Data knows and Larder does not yet (arithmetic, functions, CAST, TERNARY, indexes,
/// other collection operators) is refused as `unsupported`, all else that is wrong as
/// `malformedPredicate`; both say at which column.
public enum PredicateFormat {
    /// Reads a format string.
    ///
    /// `%@` (also `%d %i %u %f %s %ld %lu %lld %llu`) and `%K` take one argument each, in order,
    /// from `arguments[firstArgument]`. A `%@` stays an ``QueryExpression/argument(_:)`` whose
    /// value is not looked at; a `%K` becomes the key path that its argument spells.
    ///
    /// - Returns: the tree; how many arguments it takes, so that the caller can refuse what is left
    ///   over; and whether a `%K` was filled in, so that the tree is good for these arguments only.
    /// - Throws: `malformedPredicate` or `unsupported` with the column; `resourceExhausted` for a
    ///   text, a nesting, or a tree beyond ``Limits``.
    public static func parse(
        _ text: String, arguments: [Value] = [], firstArgument: Int = 0
    ) throws(LarderError) -> (
        expression: QueryExpression, argumentsUsed: Int, usesKeyPathArguments: Bool
    ) {
        guard text.utf8.count <= Limits.predicateBytesMax else {
            throw LarderError(
                .resourceExhausted,
                "the predicate is longer than \(Limits.predicateBytesMax) bytes",
                hint: "give long values as arguments")
        }
        var parser = try FormatParser(
            text, arguments: arguments, firstArgument: firstArgument)
        let expression = try parser.wholePredicate()
        try expression.checkLimits()
        return (expression, parser.argumentsUsed, parser.usesKeyPathArguments)
    }
}
