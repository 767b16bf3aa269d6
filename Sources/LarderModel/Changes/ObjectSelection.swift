/// The objects that a change by predicate is about.
public struct ObjectSelection: Hashable, Sendable {
    public var entityName: String
    /// nil is all objects of the entity.
    public var predicate: QueryTerm?
    /// Fill `%@` and `%K` in the order of the predicate, and then of the assigned expressions. They
    /// may be temporary identifiers that an earlier change of the set inserts.
    public var arguments: [QueryArgument]
    /// Fill each `$name` that no SUBQUERY around it names.
    public var variables: [String: QueryArgument]
    /// The values are text that takes the type of what it stands beside, as a shell gives it.
    public var argumentsAreText: Bool
    /// Whether ``AffectedObjects/identifiers`` are given.
    public var wantsIdentifiers: Bool
    /// Whether objects of the entity's sub-entities are meant too.
    public var includesSubentities: Bool

    public init(
        _ entityName: String, where predicate: QueryTerm? = nil, arguments: [QueryArgument] = [],
        variables: [String: QueryArgument] = [:], argumentsAreText: Bool = false,
        wantsIdentifiers: Bool = false, includesSubentities: Bool = true
    ) {
        self.entityName = entityName
        self.predicate = predicate
        self.arguments = arguments
        self.variables = variables
        self.argumentsAreText = argumentsAreText
        self.wantsIdentifiers = wantsIdentifiers
        self.includesSubentities = includesSubentities
    }
}

/// What a property of each selected object becomes.
public struct PropertyAssignment: Hashable, Sendable {
    /// The attribute, or to-one relationship.
    public var name: String
    /// An expression over the object as it was before the change.
    public var term: QueryTerm

    public init(_ name: String, _ term: QueryTerm) {
        self.name = name
        self.term = term
    }

    /// The same for all objects: a value of the attribute, an object, or nil.
    public init(_ name: String, to value: Value) {
        self.init(name, .tree(.constant(value)))
    }
}

/// What a change by predicate came to.
public struct AffectedObjects: Hashable, Sendable {
    /// How many objects satisfied the predicate.
    public var count: Int64
    /// Which they were, in the order of their keys; empty unless that was asked.
    public var identifiers: [PersistentIdentifier]

    public init(count: Int64, identifiers: [PersistentIdentifier] = []) {
        self.count = count
        self.identifiers = identifiers
    }
}
