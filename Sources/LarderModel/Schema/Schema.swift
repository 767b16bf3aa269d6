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
    let inheritance: Inheritance

    /// - Throws: ``SchemaError`` with every fault: dangling destinations, inverses that do not
    ///   match, names that clash or that SQLite would fold together, empty or doubled constraints,
    ///   parents that are unknown or lead back. Derivations are looked at once all else is right,
    ///   since they read it.
    public init(version: String = "1.0.0", entities: [Entity]) throws(SchemaError) {
        let declared = entities.map(\.withoutInherited)
        let faults = SchemaCheck.faults(in: declared, version: version)
        guard faults.isEmpty else { throw SchemaError(faults: faults) }
        self.version = version
        inheritance = Inheritance(declared)
        self.entities = inheritance.completed(declared)
        self.positions = Dictionary(
            uniqueKeysWithValues: entities.enumerated().map { ($1.name, $0) })
        derivations = try DerivationCheck.derivations(in: self)
    }

    public func entity(named name: String) -> Entity? {
        positions[name].map { entities[$0] }
    }
}

/// A kind of object: SQL's table, Core Data's entity.
///
/// The entities of a ``Schema`` have what they inherit too, in front of what they declare.
public struct Entity: Hashable, Sendable {
    /// What an entity says itself, without what it inherits.
    public struct Declaration: Hashable, Sendable {
        public let attributes: [Attribute]
        public let relationships: [Relationship]
        /// Those of attributes marked `unique` first.
        public let uniquenessConstraints: [[String]]
        /// Those of attributes marked `indexed` first.
        public let indexes: [[String]]
    }

    public let name: String
    /// The entity whose properties this one has too, and whose objects its own are.
    public let parent: String?
    /// Whether its only objects are those of its sub-entities.
    public let isAbstract: Bool
    public let attributes: [Attribute]
    public let relationships: [Relationship]
    /// Sets of properties whose values together name one object at most; attributes marked
    /// `unique` are among them.
    public let uniquenessConstraints: [[String]]
    /// Sets of properties to index; attributes marked `indexed` are among them.
    public let indexes: [[String]]
    public let declared: Declaration
    private let properties: [String: Property]

    /// Doubled names are kept out of ``property(named:)`` and refused by ``Schema``.
    public init(
        name: String, attributes: [Attribute], relationships: [Relationship] = [],
        uniquenessConstraints: [[String]] = [], indexes: [[String]] = [], parent: String? = nil,
        isAbstract: Bool = false
    ) {
        self.init(
            name, parent, isAbstract,
            Declaration(
                attributes: attributes, relationships: relationships,
                uniquenessConstraints: attributes.filter(\.isUnique).map { [$0.name] }
                    + uniquenessConstraints,
                indexes: attributes.filter(\.isIndexed).map { [$0.name] } + indexes),
            inheriting: nil)
    }

    private init(
        _ name: String, _ parent: String?, _ isAbstract: Bool, _ declared: Declaration,
        inheriting ancestor: Entity?
    ) {
        self.name = name
        self.parent = parent
        self.isAbstract = isAbstract
        self.declared = declared
        attributes = (ancestor?.attributes ?? []) + declared.attributes
        relationships = (ancestor?.relationships ?? []) + declared.relationships
        uniquenessConstraints =
            (ancestor?.uniquenessConstraints ?? []) + declared.uniquenessConstraints
        indexes = (ancestor?.indexes ?? []) + declared.indexes
        let all =
            attributes.map { ($0.name, Property.attribute($0)) }
            + relationships.map { ($0.name, Property.relationship($0)) }
        self.properties = Dictionary(all, uniquingKeysWith: { first, _ in first })
    }

    /// Also one that is inherited.
    public func property(named name: String) -> Property? { properties[name] }

    /// The entity as it was declared.
    var withoutInherited: Entity {
        parent == nil ? self : Entity(name, parent, isAbstract, declared, inheriting: nil)
    }

    func inheriting(from ancestor: Entity) -> Entity {
        Entity(name, parent, isAbstract, declared, inheriting: ancestor)
    }

    /// How many of the properties are inherited, attributes and relationships.
    var inheritedCount: Int {
        attributes.count - declared.attributes.count + relationships.count
            - declared.relationships.count
    }
}

/// An attribute or a relationship.
public enum Property: Hashable, Sendable {
    case attribute(Attribute)
    case relationship(Relationship)
}
