/// A query without its parameters, which can be planned once and run many times.
///
/// ``QueryParameters`` has the argument values, limit and offset, so that queries that differ only
/// in these share a plan.
public enum Query: Hashable, Sendable {
    case fetch(Fetch)
    /// Counts the objects that match a predicate. The result is one row with the column `count`.
    case count(entityName: String, predicate: QueryTerm?, includesSubentities: Bool = true)
    case aggregate(Aggregate)

    /// Whether objects of subentities are included.
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

/// The execution plan of a query, for people to read.
public struct Explanation: Hashable, Sendable {
    /// Larder's plan as an indented tree.
    public var plan: String
    public var sql: String
    /// SQLite's query plan, one line per step.
    public var steps: [String]
    /// Warnings about full scans and temporary sorts.
    public var warnings: [String]
    /// The indexes that would help: the entity, a colon and a space, and the attribute with the
    /// index, as it is written in a schema file.
    public var indexes: [String]
    /// The costs of the run: rows, the work of the database, and times in milliseconds. Empty if
    /// the query was only planned.
    public var execution: [Statistic]

    package init(
        plan: String, sql: String, steps: [String], warnings: [String], indexes: [String] = [],
        execution: [Statistic] = []
    ) {
        self.plan = plan
        self.sql = sql
        self.steps = steps
        self.warnings = warnings
        self.indexes = indexes
        self.execution = execution
    }
}
