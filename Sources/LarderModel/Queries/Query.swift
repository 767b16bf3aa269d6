/// A question without its parameters: what is planned once and asked often.
///
/// Argument values, limit and offset travel beside it in ``QueryParameters``, so that the same
/// shape with other parameters meets a plan that is already made.
public enum Query: Hashable, Sendable {
    case fetch(Fetch)
    /// How many objects of an entity satisfy a predicate; answered as one row, column `count`.
    case count(entityName: String, predicate: QueryTerm?)
    case aggregate(Aggregate)

    public var entityName: String {
        switch self {
        case .fetch(let fetch): fetch.entityName
        case .count(let entityName, _): entityName
        case .aggregate(let aggregate): aggregate.entityName
        }
    }
}

/// What fills a query when it is asked.
public struct QueryParameters: Hashable, Sendable {
    /// Fill `%@` and `%K` in the order in which a query is read: its predicate, the selected columns
    /// or group keys, the aggregates (each its term, then its filter), `having`, the sort keys. A
    /// tree names them by place.
    public var arguments: [Value]
    /// The arguments, and ``after``, are text that takes the type of what it is compared with, as
    /// a shell gives it.
    public var argumentsAreText: Bool
    public var limit: Int64?
    public var offset: Int64?
    /// Of a fetch: only rows behind this place in its order. One value for each sort key, and last
    /// the object's identifier; empty begins at the first row.
    public var after: [Value]

    public init(
        arguments: [Value] = [], argumentsAreText: Bool = false, limit: Int64? = nil,
        offset: Int64? = nil, after: [Value] = []
    ) {
        self.arguments = arguments
        self.argumentsAreText = argumentsAreText
        self.limit = limit
        self.offset = offset
        self.after = after
    }
}

/// How a query will be answered, for a person to read.
public struct Explanation: Hashable, Sendable {
    /// The plan as an indented tree.
    public var plan: String
    public var sql: String
    /// SQLite's own plan, a line a step.
    public var steps: [String]
    /// Full scans, temporary sorts.
    public var warnings: [String]

    public init(plan: String, sql: String, steps: [String], warnings: [String]) {
        self.plan = plan
        self.sql = sql
        self.steps = steps
        self.warnings = warnings
    }
}
