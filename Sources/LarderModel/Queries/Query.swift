/// A question without its parameters: what is planned once and asked often.
///
/// Argument values, limit and offset travel beside it in ``QueryParameters``, so that the same
/// shape with other parameters meets a plan that is already made.
public enum Query: Hashable, Sendable {
    case fetch(Fetch)
    /// How many objects of an entity satisfy a predicate; answered as one row, column `count`.
    case count(entityName: String, predicate: QueryTerm?, includesSubentities: Bool = true)
    case aggregate(Aggregate)

    /// Whether objects of entities below are asked too.
    public var includesSubentities: Bool {
        switch self {
        case .fetch(let fetch): fetch.includesSubentities
        case .count(_, _, let includesSubentities): includesSubentities
        case .aggregate(let aggregate): aggregate.includesSubentities
        }
    }

    public var entityName: String {
        switch self {
        case .fetch(let fetch): fetch.entityName
        case .count(let entityName, _, _): entityName
        case .aggregate(let aggregate): aggregate.entityName
        }
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
