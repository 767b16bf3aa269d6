/// What a store holds: its entities, their attributes and relationships. Immutable and consistent.
///
/// A schema comes from a schema file (`SchemaFile`) or from code; both ways end in
/// ``init(version:entities:)``, which refuses what does not fit together, all faults at once.
public struct Schema: Hashable, Sendable {
    /// `major.minor.patch`.
    public let version: String
    public let entities: [Entity]
    /// What the derived attributes of all entities mean, in an order in which they can be computed:
    /// none before another that it reads.
    public private(set) var derivations: [Derivation] = []
    private let positions: [String: Int]

    /// - Throws: ``SchemaError`` with every fault: dangling destinations, inverses that do not
    ///   match, names that clash or that SQLite would fold together, empty or doubled constraints.
    ///   Derivations are looked at once all else is right, since they read it.
    public init(version: String = "1.0.0", entities: [Entity]) throws(SchemaError) {
        let faults = SchemaCheck.faults(in: entities, version: version)
        guard faults.isEmpty else { throw SchemaError(faults: faults) }
        self.version = version
        self.entities = entities
        self.positions = Dictionary(
            uniqueKeysWithValues: entities.enumerated().map { ($1.name, $0) })
        derivations = try DerivationCheck.derivations(in: self)
    }

    public func entity(named name: String) -> Entity? {
        positions[name].map { entities[$0] }
    }
}

/// A kind of object: SQL's table, Core Data's entity.
public struct Entity: Hashable, Sendable {
    public let name: String
    public let attributes: [Attribute]
    public let relationships: [Relationship]
    /// Sets of properties whose values together name one object at most; attributes marked
    /// `unique` are among them.
    public let uniquenessConstraints: [[String]]
    /// Sets of properties to index; attributes marked `indexed` are among them.
    public let indexes: [[String]]
    private let properties: [String: Property]

    /// Doubled names are kept out of ``property(named:)`` and refused by ``Schema``.
    public init(
        name: String, attributes: [Attribute], relationships: [Relationship] = [],
        uniquenessConstraints: [[String]] = [], indexes: [[String]] = []
    ) {
        self.name = name
        self.attributes = attributes
        self.relationships = relationships
        self.uniquenessConstraints =
            attributes.filter(\.isUnique).map { [$0.name] } + uniquenessConstraints
        self.indexes = attributes.filter(\.isIndexed).map { [$0.name] } + indexes
        let all =
            attributes.map { ($0.name, Property.attribute($0)) }
            + relationships.map { ($0.name, Property.relationship($0)) }
        self.properties = Dictionary(all, uniquingKeysWith: { first, _ in first })
    }

    public func property(named name: String) -> Property? { properties[name] }
}

/// An attribute or a relationship.
public enum Property: Hashable, Sendable {
    case attribute(Attribute)
    case relationship(Relationship)
}
