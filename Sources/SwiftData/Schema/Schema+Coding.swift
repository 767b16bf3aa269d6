public import Foundation

extension Schema {
    private enum CodingKeys: String, CodingKey {
        case encodingVersion, version, entities
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(encodingVersion, forKey: .encodingVersion)
        try container.encode(version, forKey: .version)
        try container.encode(entities, forKey: .entities)
    }

    public convenience init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let encodingVersion = try container.decode(Version.self, forKey: .encodingVersion)
        guard encodingVersion <= Schema.schemaEncodingVersion else {
            throw DecodingError.dataCorruptedError(
                forKey: .encodingVersion, in: container,
                debugDescription: "the schema was encoded in the newer form \(encodingVersion)")
        }
        let entities = try container.decode([Entity].self, forKey: .entities)
        let byName = Dictionary(
            entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        for entity in entities {
            guard let name = entity.superentityName, let superentity = byName[name] else {
                continue
            }
            entity.superentity = superentity
            superentity.subentities.insert(entity)
        }
        self.init(
            entities: entities, version: try container.decode(Version.self, forKey: .version))
    }

    /// Writes the schema to a file.
    public func save(to url: URL) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
        try encoder.encode(self).write(to: url, options: .atomic)
    }

    /// Reads a schema that ``save(to:)`` wrote.
    public static func load(from url: URL) throws -> Schema {
        try JSONDecoder().decode(Schema.self, from: Data(contentsOf: url))
    }
}

/// A type by its mangled name, as it is encoded.
struct EncodedType {
    /// Nil for a type that has no name at run time.
    static func name(of type: any Any.Type) -> String? { _mangledTypeName(type) }

    /// Nil if the program does not have the type.
    static func type(named name: String?) -> (any Any.Type)? { name.flatMap { _typeByName($0) } }

    /// A type, or `Any` in place of one that the program does not have.
    static func type(named name: String?, isOptional: Bool?) -> any Any.Type {
        type(named: name) ?? (isOptional == true ? Any?.self : Any.self)
    }
}
