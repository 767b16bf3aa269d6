import LarderModel

/// A part of a format string that is valid, but rarely means what its author intends.
package struct FormatWarning: Hashable, Sendable {
    /// One sentence without a final period. It contains no text in quotation marks.
    package var message: String
    /// One sentence that says what to write instead.
    package var hint: String
    /// The column of the part, counted in characters from 1.
    package var column: Int?

    package init(message: String, hint: String, column: Int? = nil) {
        self.message = message
        self.hint = hint
        self.column = column
    }
}

extension PredicateFormat {
    /// Finds text in quotation marks that looks like a placeholder, and patterns of LIKE that have
    /// only wildcards of SQL. Both are legal text, so that they cannot be errors.
    ///
    /// A store and a client do not look for them; `larder` prints them on standard error.
    ///
    /// - Parameters:
    ///   - arguments: The arguments of the query, so that patterns among them are checked. Missing
    ///     ones are no error.
    ///   - name: The role of the text, which the messages begin with.
    /// - Returns: The warnings in the order of the text, and the number of arguments that it uses;
    ///   nil if it cannot be parsed.
    package static func warnings(
        of text: String, arguments: some Sequence<QueryArgument> = [], name: String = "predicate"
    ) -> (warnings: [FormatWarning], argumentsUsed: Int)? {
        // A missing argument of `%K` has to be a key path.
        let missing = [QueryArgument](
            repeating: .value(.string("missing")),
            count: min(text.utf8.count { $0 == UInt8(ascii: "%") }, Limits.argumentsMax))
        let given = Array(arguments) + missing
        guard let parsed = try? parseExpression(text, arguments: given, name: name) else {
            return nil
        }
        var warnings: [FormatWarning] = []
        var pending: [[QueryExpression]] = [[parsed.expression]]
        while let path = pending.popLast() {
            if let (message, hint) = path[0].warning(in: path.last, given) {
                let located = parsed.sourceMap.locating(
                    LarderError(.malformedPredicate, message), at: path)
                warnings.append(
                    FormatWarning(message: located.message, hint: hint, column: located.column))
            }
            pending += path[0].children.reversed().map { [$0, path[0]] }
        }
        return (warnings, parsed.argumentsUsed)
    }
}

extension QueryExpression {
    /// The warning about a constant or an argument.
    ///
    /// - Parameter parent: The expression whose operand it is.
    fileprivate func warning(
        in parent: QueryExpression?, _ arguments: [QueryArgument]
    ) -> (message: String, hint: String)? {
        if case .constant(.string(let text)) = self, Self.isPlaceholder(text) {
            return (
                "a placeholder in quotation marks is text", "write it without quotation marks"
            )
        }
        guard case .comparison(let comparison) = parent, comparison.operator == .like,
            comparison.right == self, let pattern = text(arguments),
            Self.hasOnlySQLWildcards(pattern)
        else { return nil }
        return (
            "`%` and `_` are no wildcards of LIKE",
            "`*` matches any number of characters, `?` one; or write CONTAINS or BEGINSWITH"
        )
    }

    private static func isPlaceholder(_ text: String) -> Bool {
        text.utf8.count <= 64 && text.contains("%@")
            || ["%K", "%d", "%i", "%u", "%f", "%s", "%ld", "%lu"].contains(text)
    }

    private static func hasOnlySQLWildcards(_ pattern: String) -> Bool {
        let bytes = Set(pattern.utf8)
        guard !bytes.contains(UInt8(ascii: "*")) else { return false }
        return bytes.contains(UInt8(ascii: "%"))
            || bytes.contains(UInt8(ascii: "_")) && !bytes.contains(UInt8(ascii: "?"))
    }

    /// The text of a constant or an argument.
    private func text(_ arguments: [QueryArgument]) -> String? {
        switch self {
        case .constant(.string(let text)): return text
        case .argument(let index):
            guard arguments.indices.contains(index),
                case .value(.string(let text)) = arguments[index]
            else { return nil }
            return text
        default: return nil
        }
    }
}
