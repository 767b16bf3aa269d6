/// A query for values aggregated over groups of objects.
public struct Aggregate: Hashable, Sendable {
    public struct Column: Hashable, Sendable {
        /// The name of the result column; by default the function and its expression
        /// (`sum:wordCount`).
        public var name: String
        public var function: AggregateFunction
        /// The expression to aggregate; nil for a plain `count` of objects only.
        public var term: QueryTerm?
        /// Only objects that match this predicate are aggregated; nil for all objects of the group.
        public var filter: QueryTerm?

        /// An aggregate whose expression and filter are format strings.
        public init(
            _ function: AggregateFunction, _ text: String? = nil, where filter: String? = nil,
            name: String? = nil
        ) {
            let defaultName =
                function.rawValue + (text.map { ":\($0)" } ?? "")
                + (filter.map { " where \($0)" } ?? "")
            self.init(
                function, text.map { .format($0) }, where: filter.map { .format($0) },
                name: name ?? defaultName)
        }

        public init(
            _ function: AggregateFunction, _ term: QueryTerm?, where filter: QueryTerm? = nil,
            name: String
        ) {
            self.function = function
            self.term = term
            self.filter = filter
            self.name = name
        }

        public static let count = Column(.count)
    }

    public var entityName: String
    /// Whether objects of subentities are included.
    public var includesSubentities: Bool
    public var predicate: QueryTerm?
    /// The group keys: expressions with one value per object. They are the first result columns.
    public var groupBy: [QueryColumn]
    public var columns: [Column]
    /// A predicate over the result columns, which removes groups.
    public var having: QueryTerm?
    /// Names of result columns, or expressions over them.
    public var sort: [SortKey]

    public init(
        _ entityName: String, where predicate: QueryTerm? = nil, groupBy: [QueryColumn] = [],
        _ columns: [Column], having: QueryTerm? = nil, sort: [SortKey] = [],
        includesSubentities: Bool = true
    ) {
        self.entityName = entityName
        self.includesSubentities = includesSubentities
        self.predicate = predicate
        self.groupBy = groupBy
        self.columns = columns
        self.having = having
        self.sort = sort
    }
}
