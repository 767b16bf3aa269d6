/// Objects, or columns of them, that satisfy a predicate, in an order.
///
/// The order is the same each time: rows that no sort key tells apart stand in the order of their
/// identifiers.
public struct Fetch: Hashable, Sendable {
    public enum Selection: Hashable, Sendable {
        /// Identifier, version, every attribute and every to-one relationship.
        case objects
        /// Identifier and version only.
        case identifiers
        /// Identifier, version and these: expressions with one value for each object, and to-many
        /// relationships of the entity itself as lists of objects. Without identifier and version
        /// if the fetch is distinct.
        case columns([QueryColumn])
        /// The same columns alone: values, where nobody needs to know of which objects they are.
        case values([QueryColumn])

        /// What is selected of each object, beside what belongs to objects themselves.
        public var columns: [QueryColumn] {
            switch self {
            case .objects, .identifiers: []
            case .columns(let columns), .values(let columns): columns
            }
        }
    }

    public var entityName: String
    /// Whether objects of entities below are asked too.
    public var includesSubentities: Bool
    public var predicate: QueryTerm?
    public var sort: [SortKey]
    public var selection: Selection
    /// Each row once; needs `columns` or `values`.
    public var isDistinct: Bool
    /// Key paths of relationships, such as `category.parent`; needs `objects`.
    ///
    /// The objects along them come too: in batches of their own in front of the rows that refer to
    /// them, each with ``Batch/relatedBy``. A row then has the list of a to-many that is so named.
    public var prefetch: [String]

    public init(
        _ entityName: String, where predicate: QueryTerm? = nil, sort: [SortKey] = [],
        selection: Selection = .objects, isDistinct: Bool = false, prefetch: [String] = [],
        includesSubentities: Bool = true
    ) {
        self.entityName = entityName
        self.includesSubentities = includesSubentities
        self.predicate = predicate
        self.sort = sort
        self.selection = selection
        self.isDistinct = isDistinct
        self.prefetch = prefetch
    }
}
