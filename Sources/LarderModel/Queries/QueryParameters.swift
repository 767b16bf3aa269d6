/// What fills a query when it is asked.
public struct QueryParameters: Hashable, Sendable {
    /// Fill `%@` and `%K` in the order in which a query is read: the predicate, the selected
    /// columns or group keys, the aggregates (each its term, then its filter), `having`, the sort
    /// keys. A tree names them by place.
    public var arguments: [QueryArgument]
    /// Fill each `$name` that no SUBQUERY around it names.
    public var variables: [String: QueryArgument]
    /// The values, those of ``after`` too, are text that takes the type of what it is compared
    /// with, as a shell gives it; a list is the text of a JSON array.
    public var argumentsAreText: Bool
    public var limit: Int64?
    public var offset: Int64?
    /// Of a fetch: only rows behind this place in its order. One value for each sort key, and last
    /// the object's identifier; empty begins at the first row.
    public var after: [Value]

    public init(
        arguments: [QueryArgument] = [], variables: [String: QueryArgument] = [:],
        argumentsAreText: Bool = false, limit: Int64? = nil, offset: Int64? = nil,
        after: [Value] = []
    ) {
        self.arguments = arguments
        self.variables = variables
        self.argumentsAreText = argumentsAreText
        self.limit = limit
        self.offset = offset
        self.after = after
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
