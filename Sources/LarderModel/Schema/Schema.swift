/// The entities of a store with their attributes and relationships. Immutable and consistent.
///
/// A schema comes from a schema file (`SchemaFile`) or from code. In both cases
/// `init(version:entities:)` of `LarderQuery`, which types derivations, checks it and reports all
/// problems at once.
public struct Schema: Hashable, Sendable {
    /// In the form `major.minor.patch`.
    public let version: String
    public let entities: [Entity]
    /// The derived attributes of all entities, in an order in which they can be computed: each one
    /// after those that it reads.
    package private(set) var derivations: [Derivation] = []
    private let positions: [String: Int]
    let inheritance: Inheritance

    /// - Parameter derivations: Parses, types and orders the derivations of a schema that is
    ///   otherwise valid.
    /// - Throws: ``SchemaError`` with all problems.
    package init(
        version: String, entities: [Entity],
        derivations: (Schema) throws(SchemaError) -> [Derivation]
    ) throws(SchemaError) {
        let declared = entities.map(\.withoutInherited)
        let problems = SchemaCheck.problems(in: declared, version: version)
        guard problems.isEmpty else { throw SchemaError(problems: problems) }
        self.version = version
        inheritance = Inheritance(declared)
        self.entities = inheritance.completed(declared)
        self.positions = Dictionary(
            uniqueKeysWithValues: entities.enumerated().map { ($1.name, $0) })
        self.derivations = try derivations(self)
    }

    public func entity(named name: String) -> Entity? {
        positions[name].map { entities[$0] }
    }
}

/// A kind of object: a table in SQL, an entity in Core Data.
///
/// In a ``Schema``, the properties of an entity include inherited ones, which precede its own.
public struct Entity: Hashable, Sendable {
    /// The declaration of an entity, without inherited properties.
    public struct Declaration: Hashable, Sendable {
        public fileprivate(set) var attributes: [Attribute]
        public let relationships: [Relationship]
        /// Constraints of attributes marked `unique` come first.
        public let uniquenessConstraints: [[String]]
        /// Indexes of attributes marked `indexed` come first.
        public let indexes: [[String]]
        /// Indexes of attributes marked `search` with words come first.
        public let wordIndexes: [[String]]
        /// The name in an earlier version of the schema, if the entity was renamed. It has no
        /// effect on the fingerprint.
        public let originalName: String?
        /// A text that changes the fingerprint.
        public let hashModifier: String?
        /// Whether the history has the values of objects before each change.
        public let recordsValues: Bool

        /// Whether a constraint compares values without case and accents.
        package func isInsensitive(_ constraint: [String]) -> Bool {
            constraint.count == 1
                && attributes.contains { $0.name == constraint[0] && $0.unique == .insensitive }
        }
    }

    public let name: String
    /// The entity from which this one inherits; nil for a root entity.
    public let parent: String?
    /// Whether all objects of the entity are of its subentities.
    public let isAbstract: Bool
    public let attributes: [Attribute]
    public let relationships: [Relationship]
    /// Lists of properties whose combined values are unique, including attributes marked `unique`.
    public let uniquenessConstraints: [[String]]
    /// Lists of properties to index, including attributes marked `indexed`.
    public let indexes: [[String]]
    /// Lists of attributes whose words are in one index, including attributes marked `search` with
    /// words.
    public let wordIndexes: [[String]]
    /// Whether the history has the values of objects before each change: if the entity or an
    /// ancestor declares it.
    public let recordsValues: Bool
    public let declared: Declaration
    private let properties: [String: Property]

    /// If several properties have one name, ``property(named:)`` returns the first; ``Schema``
    /// rejects duplicates.
    public init(
        name: String, attributes: [Attribute], relationships: [Relationship] = [],
        uniquenessConstraints: [[String]] = [], indexes: [[String]] = [],
        wordIndexes: [[String]] = [],
        parent: String? = nil, isAbstract: Bool = false, originalName: String? = nil,
        hashModifier: String? = nil, recordsValues: Bool = false
    ) {
        self.init(
            name, parent, isAbstract,
            Declaration(
                attributes: attributes, relationships: relationships,
                uniquenessConstraints: attributes.filter(\.isUnique).map { [$0.name] }
                    + uniquenessConstraints,
                indexes: attributes.filter { $0.indexed == .exact }.map { [$0.name] } + indexes,
                wordIndexes: attributes.filter { $0.search.contains(.words) }.map { [$0.name] }
                    + wordIndexes,
                originalName: originalName, hashModifier: hashModifier,
                recordsValues: recordsValues),
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
        wordIndexes = (ancestor?.wordIndexes ?? []) + declared.wordIndexes
        recordsValues = declared.recordsValues || ancestor?.recordsValues ?? false
        let all =
            attributes.map { ($0.name, Property.attribute($0)) }
            + relationships.map { ($0.name, Property.relationship($0)) }
        self.properties = Dictionary(all, uniquingKeysWith: { first, _ in first })
    }

    public var originalName: String? { declared.originalName }
    public var hashModifier: String? { declared.hashModifier }

    /// The own or inherited property with a name.
    public func property(named name: String) -> Property? { properties[name] }

    /// The entity as declared.
    var withoutInherited: Entity {
        parent == nil ? self : Entity(name, parent, isAbstract, declared, inheriting: nil)
    }

    /// The entity as declared, with its own attributes changed.
    package func mappingAttributes(_ change: (Attribute) throws -> Attribute) rethrows -> Entity {
        var declared = declared
        declared.attributes = try declared.attributes.map(change)
        return Entity(name, parent, isAbstract, declared, inheriting: nil)
    }

    func inheriting(from ancestor: Entity) -> Entity {
        Entity(name, parent, isAbstract, declared, inheriting: ancestor)
    }

    /// The number of inherited attributes and relationships.
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
