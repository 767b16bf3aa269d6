/// The values with which a query is run.
public struct QueryParameters: Hashable, Sendable {
    /// The values of `%@` and `%K`, in the order in which a query is read: the predicate, the
    /// selected columns or group keys, the aggregates (each its expression, then its filter),
    /// `having`, the sort keys. Trees refer to them by index.
    public var arguments: [QueryArgument]
    /// The values of the `$name` variables that no enclosing SUBQUERY declares.
    public var variables: [String: QueryArgument]
    /// Whether the values, including those of ``after``, are text that is converted to the type it
    /// is compared with, as a shell passes it. A list is then the text of a JSON array.
    public var argumentsAreText: Bool
    /// Whether a date without a time zone, in an argument or a literal of the query, is in UTC.
    /// Otherwise it is rejected.
    public var assumesUTC: Bool
    public var limit: Int64?
    public var offset: Int64?
    /// A keyset cursor: a fetch returns only rows after this position in its order. It has one
    /// value per sort key and then the object's identifier; empty to begin at the first row.
    public var after: [Value]

    public init(
        arguments: [QueryArgument] = [], variables: [String: QueryArgument] = [:],
        argumentsAreText: Bool = false, assumesUTC: Bool = false, limit: Int64? = nil,
        offset: Int64? = nil, after: [Value] = []
    ) {
        self.arguments = arguments
        self.variables = variables
        self.argumentsAreText = argumentsAreText
        self.assumesUTC = assumesUTC
        self.limit = limit
        self.offset = offset
        self.after = after
    }
}

extension QueryParameters {
    /// Checks the counts and names against ``Limits``, but not the values.
    ///
    /// - Throws: `resourceExhausted`.
    package func checkLimits() throws(LarderError) {
        guard arguments.count <= Limits.argumentsMax else {
            throw LarderError(
                .resourceExhausted, "a query takes at most \(Limits.argumentsMax) arguments")
        }
        guard variables.count <= Limits.variablesMax else {
            throw LarderError(
                .resourceExhausted, "a query takes at most \(Limits.variablesMax) variables")
        }
        guard variables.keys.allSatisfy({ 1...Limits.nameBytesMax ~= $0.utf8.count }) else {
            throw LarderError(
                .resourceExhausted,
                "the name of a variable must have 1 to \(Limits.nameBytesMax) bytes")
        }
        for case .list(let values) in Array(variables.values) + arguments {
            try QueryArgument.checkCount(of: values)
        }
    }
}
