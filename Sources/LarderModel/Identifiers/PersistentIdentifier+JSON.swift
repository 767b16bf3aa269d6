// The JSON form of identifiers, as in SwiftData: an object `implementation` with the URI and its
// parts. The URI is authoritative; parts that are present must agree with it.

extension PersistentIdentifier: Codable {
    private enum RootKey: String, CodingKey { case implementation }

    private enum PartKey: String, CodingKey {
        case primaryKey, uriRepresentation, isTemporary, storeIdentifier, entityName
    }

    /// The last component of the URI: `p1`.
    private var primaryKey: String {
        switch key {
        case .permanent(let number): "p\(number)"
        case .temporary(let name): "t\(name)"
        }
    }

    /// The JSON on one line with sorted keys. Equal identifiers have equal text in every process.
    public var jsonRepresentation: String {
        var parts: [String: JSONValue] = [
            PartKey.primaryKey.rawValue: .string(primaryKey),
            PartKey.uriRepresentation.rawValue: .string(uriRepresentation),
            PartKey.isTemporary.rawValue: .bool(isTemporary),
            PartKey.entityName.rawValue: .string(entityName),
        ]
        parts[PartKey.storeIdentifier.rawValue] = storeIdentifier.map { .string($0) }
        return JSONValue.object([RootKey.implementation.rawValue: .object(parts)]).text
    }

    public func encode(to encoder: any Encoder) throws {
        var root = encoder.container(keyedBy: RootKey.self)
        var parts = root.nestedContainer(keyedBy: PartKey.self, forKey: .implementation)
        try parts.encode(primaryKey, forKey: .primaryKey)
        try parts.encode(uriRepresentation, forKey: .uriRepresentation)
        try parts.encode(isTemporary, forKey: .isTemporary)
        try parts.encodeIfPresent(storeIdentifier, forKey: .storeIdentifier)
        try parts.encode(entityName, forKey: .entityName)
    }

    public init(from decoder: any Decoder) throws {
        let root = try decoder.container(keyedBy: RootKey.self)
        let parts = try root.nestedContainer(keyedBy: PartKey.self, forKey: .implementation)
        let uri = try parts.decode(String.self, forKey: .uriRepresentation)
        do throws(LarderError) {
            self = try PersistentIdentifier(uriRepresentation: uri)
        } catch {
            throw DecodingError.dataCorruptedError(
                forKey: .uriRepresentation, in: parts, debugDescription: error.message)
        }
        try Self.check(parts, .primaryKey, primaryKey)
        try Self.check(parts, .isTemporary, isTemporary)
        try Self.check(parts, .entityName, entityName)
        guard let text = try parts.decodeIfPresent(String.self, forKey: .storeIdentifier) else {
            return
        }
        guard StoreIdentifiers.uuid(of: text) == store else {
            throw Self.disagreeing(parts, .storeIdentifier)
        }
        StoreIdentifiers.shared.remember(text)
    }

    private static func check<Part: Decodable & Equatable>(
        _ parts: KeyedDecodingContainer<PartKey>, _ key: PartKey, _ expected: Part?
    ) throws {
        guard let part = try parts.decodeIfPresent(Part.self, forKey: key), part != expected else {
            return
        }
        throw disagreeing(parts, key)
    }

    private static func disagreeing(
        _ parts: KeyedDecodingContainer<PartKey>, _ key: PartKey
    ) -> DecodingError {
        .dataCorruptedError(
            forKey: key, in: parts,
            debugDescription: "\(key.rawValue) does not agree with uriRepresentation")
    }
}
