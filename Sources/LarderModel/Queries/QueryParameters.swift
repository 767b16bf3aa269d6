/// What fills a query when it is asked.
public struct QueryParameters: Hashable, Sendable {
    /// Fill `%@` and `%K` in order, first the predicate's, then `having`'s; a tree names them by
    /// place.
    public var arguments: [QueryArgument]
    /// Fill each `$name` that no SUBQUERY around it names.
    public var variables: [String: QueryArgument]
    /// The values are text that takes the type of what it is compared with, as a shell gives it; a
    /// list is the text of a JSON array.
    public var argumentsAreText: Bool
    public var limit: Int64?
    public var offset: Int64?

    public init(
        arguments: [QueryArgument] = [], variables: [String: QueryArgument] = [:],
        argumentsAreText: Bool = false, limit: Int64? = nil, offset: Int64? = nil
    ) {
        self.arguments = arguments
        self.variables = variables
        self.argumentsAreText = argumentsAreText
        self.limit = limit
        self.offset = offset
    }
}

extension QueryParameters {
    /// Whether the parameters are within ``Limits``, but for the values themselves.
    ///
    /// - Throws: `resourceExhausted`.
    public func checkLimits() throws(LarderError) {
        guard arguments.count <= Limits.argumentsMax else {
            throw LarderError(
                .resourceExhausted, "a query has \(Limits.argumentsMax) arguments at most")
        }
        guard variables.count <= Limits.variablesMax else {
            throw LarderError(
                .resourceExhausted, "a query has \(Limits.variablesMax) variables at most")
        }
        guard variables.keys.allSatisfy({ 1...Limits.nameBytesMax ~= $0.utf8.count }) else {
            throw LarderError(
                .resourceExhausted,
                "a variable's name has 1 to \(Limits.nameBytesMax) bytes")
        }
        for case .list(let values) in Array(variables.values) + arguments {
            guard values.count <= Limits.listElementsMax else {
                throw LarderError(
                    .resourceExhausted, "a list has \(Limits.listElementsMax) elements at most",
                    hint: "ask several queries")
            }
        }
    }
}
