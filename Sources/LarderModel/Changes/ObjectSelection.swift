/// The objects that a bulk change applies to, or that a condition counts.
public struct ObjectSelection: Hashable, Sendable {
    public var entityName: String
    /// The predicate that the objects must match; nil selects every object of the entity.
    public var predicate: QueryTerm?
    /// The order in which ``limit`` selects objects; equal ones in the order of their keys. Without
    /// a limit there are no sort keys.
    public var sort: [SortKey]
    /// The maximum number of objects; nil is all objects that match.
    public var limit: Int64?
    /// The values of `%@` and `%K`, first those in the predicate, then those in the sort keys and
    /// in the assigned expressions. They may be temporary identifiers of objects that an earlier
    /// change of the set inserts.
    public var arguments: [QueryArgument]
    /// The values of the `$name` variables that no enclosing SUBQUERY declares.
    public var variables: [String: QueryArgument]
    /// Whether the argument values are text that is converted to the type it is compared with, as a
    /// shell passes it.
    public var argumentsAreText: Bool
    /// Whether a date without a time zone, in an argument or a literal, is in UTC. Otherwise it is
    /// rejected.
    public var assumesUTC: Bool
    /// Whether the result contains the identifiers of the objects.
    public var wantsIdentifiers: Bool
    /// Whether objects of subentities are selected too.
    public var includesSubentities: Bool

    public init(
        _ entityName: String, where predicate: QueryTerm? = nil, sort: [SortKey] = [],
        limit: Int64? = nil, arguments: [QueryArgument] = [],
        variables: [String: QueryArgument] = [:], argumentsAreText: Bool = false,
        assumesUTC: Bool = false, wantsIdentifiers: Bool = false, includesSubentities: Bool = true
    ) {
        self.entityName = entityName
        self.predicate = predicate
        self.sort = sort
        self.limit = limit
        self.arguments = arguments
        self.variables = variables
        self.argumentsAreText = argumentsAreText
        self.assumesUTC = assumesUTC
        self.wantsIdentifiers = wantsIdentifiers
        self.includesSubentities = includesSubentities
    }
}

/// A new value for a property of each selected object.
public struct PropertyAssignment: Hashable, Sendable {
    /// The name of an attribute or a to-one relationship.
    public var name: String
    /// An expression that is evaluated for each object as it was before the change.
    public var term: QueryTerm

    public init(_ name: String, _ term: QueryTerm) {
        self.name = name
        self.term = term
    }

    /// Assigns the same value to every object: an attribute value, an object, or nil.
    public init(_ name: String, to value: Value) {
        self.init(name, .tree(.constant(value)))
    }
}

/// The result of a bulk change.
public struct AffectedObjects: Hashable, Sendable {
    /// The number of objects that matched the predicate.
    public var count: Int64
    /// The objects, ordered by key; empty unless they were requested.
    public var identifiers: [PersistentIdentifier]

    public init(count: Int64, identifiers: [PersistentIdentifier] = []) {
        self.count = count
        self.identifiers = identifiers
    }
}
