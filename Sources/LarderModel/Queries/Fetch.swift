/// A query for objects, or columns of objects, that match a predicate.
///
/// The order of the rows is deterministic: rows with equal sort keys are ordered by identifier.
public struct Fetch: Hashable, Sendable {
    public enum Selection: Hashable, Sendable {
        /// The identifier, version, attributes and to-one relationships.
        case objects
        /// The identifier and version only.
        case identifiers
        /// The identifier, version and these columns: expressions with one value per object, and
        /// to-many relationships of the entity as lists of objects. A distinct fetch omits
        /// identifier and version.
        case columns([QueryColumn])
        /// The columns alone, without identifier and version.
        case values([QueryColumn])

        /// The selected columns, apart from identifier and version.
        public var columns: [QueryColumn] {
            switch self {
            case .objects, .identifiers: []
            case .columns(let columns), .values(let columns): columns
            }
        }
    }

    public var entityName: String
    /// Whether objects of subentities are included.
    public var includesSubentities: Bool
    public var predicate: QueryTerm?
    public var sort: [SortKey]
    public var selection: Selection
    /// Whether duplicate rows are removed; requires `columns` or `values`.
    public var isDistinct: Bool
    /// Key paths of relationships to prefetch, such as `category.parent`; requires `objects`.
    ///
    /// The related objects precede the rows that refer to them, in batches of their own with
    /// ``Batch/prefetchPath``. Rows contain the lists of prefetched to-many relationships.
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
