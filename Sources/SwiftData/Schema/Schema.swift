/// The models of a store with their attributes and relationships.
///
/// A schema is made from model types. The models to which they have relationships, and their
/// superclasses, join it. Its entities are in the order of their names, whatever the order of the
/// types.
public final class Schema: Codable, Hashable, Sendable, CustomDebugStringConvertible {
    /// The version of the form in which schemas are encoded.
    public static let schemaEncodingVersion = Version(1, 0, 0)

    public let encodingVersion: Version
    public let version: Version
    public let entities: [Entity]
    /// If several entities have one name, the first; ``larderSchema()`` reports duplicates.
    public let entitiesByName: [String: Entity]
    /// The assumptions where the classes leave something open, which a container logs.
    package let assumptions: [String]
    /// Problems of the relationships, which ``larderSchema()`` throws.
    let problems: [String]

    init(
        entities: [Entity], version: Version, problems: [String] = [], assumptions: [String] = []
    ) {
        encodingVersion = Schema.schemaEncodingVersion
        self.version = version
        self.entities = entities.sorted { $0.name < $1.name }
        entitiesByName = Dictionary(
            self.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        self.problems = problems
        self.assumptions = assumptions
    }

    public convenience init() {
        self.init(entities: [], version: Version(1, 0, 0))
    }

    public convenience init(_ entities: Entity..., version: Version = Version(1, 0, 0)) {
        self.init(entities: entities, version: version)
    }

    public convenience init(
        _ types: [any PersistentModel.Type], version: Version = Version(1, 0, 0)
    ) {
        let inference = EntityInference(types)
        self.init(
            entities: inference.entities, version: version, problems: inference.problems,
            assumptions: inference.assumptions)
    }

    public convenience init(
        _ types: any PersistentModel.Type..., version: Version = Version(1, 0, 0)
    ) {
        self.init(types, version: version)
    }

    public convenience init(versionedSchema: any VersionedSchema.Type) {
        self.init(versionedSchema.models, version: versionedSchema.versionIdentifier)
    }

    /// The name of the entity of a model: that of the class without the types that contain it.
    public static func entityName<T: PersistentModel>(for type: T.Type) -> String {
        ModelDescription.entityName(of: type)
    }

    /// The entity of a model; nil if the model is not in the schema.
    public func entity<T: PersistentModel>(for type: T.Type) -> Entity? {
        entitiesByName[Schema.entityName(for: type)]
    }

    public static func == (left: Schema, right: Schema) -> Bool {
        left.version == right.version && left.encodingVersion == right.encodingVersion
            && left.entities == right.entities
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(version)
        hasher.combine(entities)
    }

    public var debugDescription: String {
        let entities = entities.map { "\n  \($0.debugDescription)" }
        return "Schema \(version)\(entities.joined())"
    }
}

extension Schema {
    /// The version of a schema.
    public struct Version: Codable, Comparable, CustomStringConvertible, Hashable, Sendable {
        public let major: Int
        public let minor: Int
        public let patch: Int

        public init(_ major: Int, _ minor: Int, _ patch: Int) {
            self.major = major
            self.minor = minor
            self.patch = patch
        }

        public var description: String { "\(major).\(minor).\(patch)" }

        public static func < (left: Version, right: Version) -> Bool {
            (left.major, left.minor, left.patch) < (right.major, right.minor, right.patch)
        }
    }
}
