internal import Foundation
internal import LarderModel

// Text, numbers, Booleans and nil are encoded as they are. Other values are encoded under the name
// of their type, because a decoder cannot tell a date from a number without the schema.

extension DefaultSnapshot {
    private enum Kind: String, CodingKey {
        case date, uuid, url, data, decimal, json, object, objects
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: DataStoreSnapshotCodingKey.self)
        var values: [String: Value] = [:]
        for case .modeledProperty(let name) in container.allKeys {
            values[name] = try Self.value(container, .modeledProperty(name))
        }
        let identifier = try container.decode(
            PersistentIdentifier.self, forKey: .persistentIdentifier)
        self.init(identifier, values)
    }

    public func encode(to encoder: any Encoder) throws {
        if let encoder = encoder as? SnapshotEncoder { return encoder.take(values) }
        var container = encoder.container(keyedBy: DataStoreSnapshotCodingKey.self)
        try container.encode(persistentIdentifier, forKey: .persistentIdentifier)
        for (name, value) in values {
            try Self.encode(value, .modeledProperty(name), &container)
        }
    }

    private typealias Key = DataStoreSnapshotCodingKey

    private static func encode(
        _ value: Value, _ key: Key, _ container: inout KeyedEncodingContainer<Key>
    ) throws {
        switch value {
        case .null: try container.encodeNil(forKey: key)
        case .bool(let value): try container.encode(value, forKey: key)
        case .int(let value): try container.encode(value, forKey: key)
        case .float(let value): try container.encode(value, forKey: key)
        case .double(let value): try container.encode(value, forKey: key)
        case .string(let value): try container.encode(value, forKey: key)
        default:
            var nested = container.nestedContainer(keyedBy: Kind.self, forKey: key)
            try encodeNamed(value, &nested)
        }
    }

    private static func encodeNamed(
        _ value: Value, _ container: inout KeyedEncodingContainer<Kind>
    ) throws {
        switch value {
        case .date(let value): try container.encode(value, forKey: .date)
        case .uuid(let value): try container.encode(value, forKey: .uuid)
        case .url(let value): try container.encode(value.absoluteString, forKey: .url)
        case .data(let value): try container.encode(value, forKey: .data)
        case .decimal(let value): try container.encode(value.description, forKey: .decimal)
        case .json(let value): try container.encode(value, forKey: .json)
        case .object(let value): try container.encode(value, forKey: .object)
        case .objects(let value): try container.encode(value, forKey: .objects)
        case .null, .bool, .int, .float, .double, .string: break
        }
    }

    private static func value(
        _ container: KeyedDecodingContainer<Key>, _ key: Key
    ) throws -> Value {
        if try container.decodeNil(forKey: key) { return .null }
        if let nested = try? container.nestedContainer(keyedBy: Kind.self, forKey: key) {
            return try named(nested)
        }
        if let value = try? container.decode(Bool.self, forKey: key) { return .bool(value) }
        if let value = try? container.decode(Int64.self, forKey: key) { return .int(value) }
        if let value = try? container.decode(Double.self, forKey: key) { return .double(value) }
        return .string(try container.decode(String.self, forKey: key))
    }

    private static func named(_ container: KeyedDecodingContainer<Kind>) throws -> Value {
        guard let kind = container.allKeys.first else {
            throw malformed(container, "the value has no type")
        }
        switch kind {
        case .date: return .date(try container.decode(Date.self, forKey: kind))
        case .uuid: return .uuid(try container.decode(UUID.self, forKey: kind))
        case .data: return .data(try container.decode(Data.self, forKey: kind))
        case .json: return .json(try container.decode(String.self, forKey: kind))
        case .object:
            return .object(try container.decode(PersistentIdentifier.self, forKey: kind))
        case .objects:
            return .objects(try container.decode([PersistentIdentifier].self, forKey: kind))
        case .url:
            guard let url = URL(string: try container.decode(String.self, forKey: kind)) else {
                throw malformed(container, "the text is not a URL")
            }
            return .url(url)
        case .decimal:
            guard let value = Decimal(string: try container.decode(String.self, forKey: kind))
            else { throw malformed(container, "the text is not a decimal number") }
            return .decimal(value)
        }
    }

    private static func malformed(
        _ container: KeyedDecodingContainer<Kind>, _ reason: String
    ) -> DecodingError {
        .dataCorrupted(.init(codingPath: container.codingPath, debugDescription: reason))
    }
}
