/// Values computed over groups of objects, by the database.
public struct Aggregate: Hashable, Sendable {
    public struct Column: Hashable, Sendable {
        /// The output's name: as given, or else what was asked (`sum:wordCount`).
        public var name: String
        public var function: AggregateFunction
        /// What it is computed over; nil for a plain `count` of objects only.
        public var term: QueryTerm?
        /// Only objects of the group that satisfy it are looked at; nil is all of them.
        public var filter: QueryTerm?

        /// Expression and filter as text.
        public init(
            _ function: AggregateFunction, _ text: String? = nil, where filter: String? = nil,
            name: String? = nil
        ) {
            let asked =
                function.rawValue + (text.map { ":\($0)" } ?? "")
                + (filter.map { " where \($0)" } ?? "")
            self.init(
                function, text.map { .format($0) }, where: filter.map { .format($0) },
                name: name ?? asked)
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
    /// Whether objects of entities below are asked too.
    public var includesSubentities: Bool
    public var predicate: QueryTerm?
    /// Expressions with one value for each object. An output column each, in front.
    public var groupBy: [QueryColumn]
    public var columns: [Column]
    /// A predicate over output names.
    public var having: QueryTerm?
    /// Output names, or expressions over them.
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
