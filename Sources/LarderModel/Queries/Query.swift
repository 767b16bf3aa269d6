/// A question without its parameters: what is planned once and asked often.
///
/// Argument values, limit and offset travel beside it in ``QueryParameters``, so that the same
/// shape with other parameters meets a plan that is already made.
public enum Query: Hashable, Sendable {
    case fetch(Fetch)
    /// How many objects of an entity satisfy a predicate; answered as one row, column `count`.
    case count(entityName: String, predicate: QueryPredicate?)
    case aggregate(Aggregate)

    public var entityName: String {
        switch self {
        case .fetch(let fetch): fetch.entityName
        case .count(let entityName, _): entityName
        case .aggregate(let aggregate): aggregate.entityName
        }
    }
}

/// A predicate as it arrives: Core Data's format string, or a tree that a client built.
public enum QueryPredicate: Hashable, Sendable {
    case format(String)
    case tree(QueryExpression)
}

/// Objects, or columns of them, that satisfy a predicate, in an order.
public struct Fetch: Hashable, Sendable {
    public enum Selection: Hashable, Sendable {
        /// Identifier, version, every attribute and every to-one relationship.
        case objects
        /// Identifier and version only.
        case identifiers
        /// Identifier, version and these key paths: attributes, to-one steps, and to-many
        /// relationships of the entity itself as lists of objects. Without identifier and version
        /// if the fetch is distinct.
        case keyPaths([String])
    }

    public var entityName: String
    public var predicate: QueryPredicate?
    public var sort: [SortKey]
    public var selection: Selection
    /// Each row once; needs `keyPaths`.
    public var isDistinct: Bool

    public init(
        _ entityName: String, where predicate: QueryPredicate? = nil, sort: [SortKey] = [],
        selection: Selection = .objects, isDistinct: Bool = false
    ) {
        self.entityName = entityName
        self.predicate = predicate
        self.sort = sort
        self.selection = selection
        self.isDistinct = isDistinct
    }
}

/// A key path, or an aggregate's output name, and a direction; nil sorts first ascending.
public struct SortKey: Hashable, Sendable {
    public var keyPath: String
    public var isDescending: Bool

    public init(_ keyPath: String, descending: Bool = false) {
        self.keyPath = keyPath
        self.isDescending = descending
    }
}

/// Values computed over groups of objects, by the database.
public struct Aggregate: Hashable, Sendable {
    public struct Column: Hashable, Sendable {
        /// The output's name: as given, or else what was asked (`sum:wordCount`).
        public var name: String
        public var function: AggregateFunction
        /// nil for a plain `count` of objects only.
        public var keyPath: String?

        public init(_ function: AggregateFunction, _ keyPath: String? = nil, name: String? = nil) {
            self.function = function
            self.keyPath = keyPath
            self.name = name ?? (keyPath.map { "\(function.rawValue):\($0)" } ?? function.rawValue)
        }

        public static let count = Column(.count)
    }

    public var entityName: String
    public var predicate: QueryPredicate?
    /// Key paths without a to-many step. An output column each, named as the key path, in front.
    public var groupBy: [String]
    public var columns: [Column]
    /// A predicate over output names.
    public var having: QueryPredicate?
    /// Over output names.
    public var sort: [SortKey]

    public init(
        _ entityName: String, where predicate: QueryPredicate? = nil, groupBy: [String] = [],
        _ columns: [Column], having: QueryPredicate? = nil, sort: [SortKey] = []
    ) {
        self.entityName = entityName
        self.predicate = predicate
        self.groupBy = groupBy
        self.columns = columns
        self.having = having
        self.sort = sort
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
