extension Schema {
    /// A property whose values are stored with the object.
    ///
    /// A program may change an attribute until it makes a container with its schema; the attribute
    /// is not changed after that, which is what makes it safe to share.
    public class Attribute: SchemaProperty, CustomDebugStringConvertible, @unchecked Sendable {
        public var name: String
        public var originalName: String
        public var options: [Option]
        public var valueType: any Any.Type
        public var defaultValue: Any?
        public var hashModifier: String?

        /// The options of an attribute that the class of a model names.
        public convenience init(
            _ options: Option..., originalName: String? = nil, hashModifier: String? = nil
        ) {
            self.init(
                name: "", originalName: originalName, options: options, valueType: Any.self,
                hashModifier: hashModifier)
        }

        public init(
            name: String, originalName: String? = nil, options: [Option] = [],
            valueType: any Any.Type, defaultValue: Any? = nil, hashModifier: String? = nil
        ) {
            self.name = name
            self.originalName = originalName ?? name
            self.options = options
            self.valueType = valueType
            self.defaultValue = defaultValue
            self.hashModifier = hashModifier
        }

        public var isAttribute: Bool { true }
        public var isRelationship: Bool { false }
        public var isTransient: Bool { options.contains(.ephemeral) }
        public var isOptional: Bool { ValueType(valueType).isOptional }
        public var isUnique: Bool { options.contains(.unique) }
        public var isTransformable: Bool { options.contains { $0.isTransformable } }
        public var isCodable: Bool { options.contains(.codable) }

        public static func == (left: Attribute, right: Attribute) -> Bool {
            left.name == right.name && left.originalName == right.originalName
                && left.options == right.options && left.valueType == right.valueType
                && left.hashModifier == right.hashModifier
                && (left as? CompositeAttribute)?.properties
                    == (right as? CompositeAttribute)?.properties
        }

        public func hash(into hasher: inout Hasher) {
            hasher.combine(name)
            hasher.combine(originalName)
            hasher.combine(options)
            hasher.combine(ObjectIdentifier(valueType))
            hasher.combine(hashModifier)
        }

        public var debugDescription: String { "Attribute \(name): \(valueType)" }

        private enum CodingKeys: String, CodingKey {
            case name, originalName, options, valueType, valueTypeName, isOptional, defaultValue
            case hashModifier
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(name, forKey: .name)
            try container.encode(originalName, forKey: .originalName)
            try container.encode(options, forKey: .options)
            try container.encodeIfPresent(EncodedType.name(of: valueType), forKey: .valueType)
            try container.encode(String(reflecting: valueType), forKey: .valueTypeName)
            try container.encode(isOptional, forKey: .isOptional)
            try container.encodeIfPresent(hashModifier, forKey: .hashModifier)
            if let value = defaultValue as? any Encodable, ValueType(valueType).isCodable {
                try container.encode(value, forKey: .defaultValue)
            }
        }

        public required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            name = try container.decode(String.self, forKey: .name)
            originalName = try container.decode(String.self, forKey: .originalName)
            options = try container.decode([Option].self, forKey: .options)
            let typeName = try container.decodeIfPresent(String.self, forKey: .valueType)
            let isOptional = try container.decodeIfPresent(Bool.self, forKey: .isOptional)
            valueType = EncodedType.type(named: typeName, isOptional: isOptional)
            hashModifier = try container.decodeIfPresent(String.self, forKey: .hashModifier)
            if let type = ValueType(valueType).wrapped as? any Decodable.Type {
                defaultValue = try container.decodeIfPresent(type, forKey: .defaultValue)
            }
        }
    }

    /// An attribute of a `Codable` structure.
    public final class CompositeAttribute: Attribute, @unchecked Sendable {
        /// The members of the structure, as far as they are known.
        public var properties: [Attribute] = []

        public override init(
            name: String, originalName: String? = nil, options: [Option] = [],
            valueType: any Any.Type, defaultValue: Any? = nil, hashModifier: String? = nil
        ) {
            super.init(
                name: name, originalName: originalName, options: options, valueType: valueType,
                defaultValue: defaultValue, hashModifier: hashModifier)
        }

        public static func == (left: CompositeAttribute, right: CompositeAttribute) -> Bool {
            left as Attribute == right as Attribute
        }

        private enum CodingKeys: String, CodingKey {
            case properties
        }

        public override func encode(to encoder: any Encoder) throws {
            try super.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(EncodedProperties(properties), forKey: .properties)
        }

        public required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            properties = try container.decode(EncodedProperties.self, forKey: .properties)
                .properties.compactMap { $0 as? Attribute }
            try super.init(from: decoder)
        }
    }
}

extension ValueType {
    var isCodable: Bool { wrapped is any (Decodable & Encodable).Type }
}
