extension Schema {
    /// A model with its properties, own and inherited.
    ///
    /// A program may change an entity until it makes a container with its schema; the entity is not
    /// changed after that, which is what makes it safe to share.
    public final class Entity: Codable, Hashable, CustomDebugStringConvertible,
        @unchecked Sendable
    {
        public var name: String
        public var subentities: Set<Entity> = []
        public var superentityName: String?
        public weak var superentity: Entity?
        /// The properties that the class itself declares.
        var ownProperties: [any SchemaProperty]
        /// The properties of the superclasses, those of the topmost class first.
        public var inheritedProperties: [any SchemaProperty] = []
        public var uniquenessConstraints: [[String]] = []
        public var indices: [[String]] = []
        /// The class of the models; nil for an entity without one.
        public internal(set) var _objectType: (any PersistentModel.Type)?
        /// The mangled name of the class, by which a decoded entity finds it.
        public internal(set) var _mangledName: String?

        public init(_ name: String) {
            self.name = name
            ownProperties = []
        }

        public convenience init(
            _ name: String, subentities: Entity..., properties: any SchemaProperty...
        ) {
            self.init(name)
            self.subentities = Set(subentities)
            ownProperties = properties
            for entity in subentities {
                entity.superentity = self
                entity.superentityName = name
            }
            passOnProperties()
        }

        private func passOnProperties() {
            for entity in subentities {
                entity.inheritedProperties = properties
                entity.passOnProperties()
            }
        }

        public convenience init(_ name: String, properties: any SchemaProperty...) {
            self.init(name)
            ownProperties = properties
        }

        /// The properties that objects of the entity have: the inherited ones, and then its own.
        public var storedProperties: [any SchemaProperty] {
            get { inheritedProperties + ownProperties }
            set {
                let inherited = Set(inheritedProperties.map(\.name))
                ownProperties = newValue.filter { !inherited.contains($0.name) }
                inheritedProperties = newValue.filter { inherited.contains($0.name) }
            }
        }

        public var properties: [any SchemaProperty] { storedProperties }

        public var attributes: Set<Attribute> { Set(properties.compactMap { $0 as? Attribute }) }

        public var relationships: Set<Relationship> {
            Set(properties.compactMap { $0 as? Relationship })
        }

        public var attributesByName: [String: Attribute] {
            Self.byName(properties.compactMap { $0 as? Attribute })
        }

        public var relationshipsByName: [String: Relationship] {
            Self.byName(properties.compactMap { $0 as? Relationship })
        }

        public var storedPropertiesByName: [String: any SchemaProperty] {
            Self.byName(storedProperties)
        }

        public var inheritedPropertiesByName: [String: any SchemaProperty] {
            Self.byName(inheritedProperties)
        }

        private static func byName<Property>(_ properties: [Property]) -> [String: Property] {
            let named = properties.compactMap { property in
                (property as? any SchemaProperty).map { ($0.name, property) }
            }
            return Dictionary(named, uniquingKeysWith: { first, _ in first })
        }

        public static func == (left: Entity, right: Entity) -> Bool {
            left.name == right.name && left.superentityName == right.superentityName
                && left.uniquenessConstraints == right.uniquenessConstraints
                && left.indices == right.indices
                && left.properties.map { AnyHashable($0) }
                    == right.properties.map { AnyHashable($0) }
        }

        public func hash(into hasher: inout Hasher) {
            hasher.combine(name)
        }

        public var debugDescription: String {
            let parent = superentityName.map { ": \($0)" } ?? ""
            let names = properties.map { property in
                "\(property.name): \(property.isRelationship ? "relationship" : "attribute")"
            }
            return "Entity \(name)\(parent) (\(names.joined(separator: ", ")))"
        }

        private enum CodingKeys: String, CodingKey {
            case name, superentityName, properties, inheritedProperties
            case uniquenessConstraints, indices, mangledName
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(name, forKey: .name)
            try container.encodeIfPresent(superentityName, forKey: .superentityName)
            try container.encode(EncodedProperties(ownProperties), forKey: .properties)
            try container.encode(
                EncodedProperties(inheritedProperties), forKey: .inheritedProperties)
            try container.encode(uniquenessConstraints, forKey: .uniquenessConstraints)
            try container.encode(indices, forKey: .indices)
            try container.encodeIfPresent(_mangledName, forKey: .mangledName)
        }

        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            name = try container.decode(String.self, forKey: .name)
            superentityName = try container.decodeIfPresent(String.self, forKey: .superentityName)
            ownProperties =
                try container.decode(EncodedProperties.self, forKey: .properties).properties
            inheritedProperties =
                try container.decode(EncodedProperties.self, forKey: .inheritedProperties)
                .properties
            uniquenessConstraints =
                try container.decode([[String]].self, forKey: .uniquenessConstraints)
            indices = try container.decode([[String]].self, forKey: .indices)
            _mangledName = try container.decodeIfPresent(String.self, forKey: .mangledName)
            _objectType = EncodedType.type(named: _mangledName) as? any PersistentModel.Type
        }
    }
}

/// Properties in their order, each with its kind.
struct EncodedProperties: Codable {
    let properties: [any SchemaProperty]

    init(_ properties: [any SchemaProperty]) { self.properties = properties }

    private enum CodingKeys: String, CodingKey {
        case attribute, composite, relationship
    }

    func encode(to encoder: any Encoder) throws {
        var list = encoder.unkeyedContainer()
        for property in properties {
            var container = list.nestedContainer(keyedBy: CodingKeys.self)
            switch property {
            case let composite as Schema.CompositeAttribute:
                try container.encode(composite, forKey: .composite)
            case let attribute as Schema.Attribute:
                try container.encode(attribute, forKey: .attribute)
            case let relationship as Schema.Relationship:
                try container.encode(relationship, forKey: .relationship)
            default: break
            }
        }
    }

    init(from decoder: any Decoder) throws {
        var list = try decoder.unkeyedContainer()
        var properties: [any SchemaProperty] = []
        while !list.isAtEnd {
            let container = try list.nestedContainer(keyedBy: CodingKeys.self)
            if container.contains(.composite) {
                properties.append(
                    try container.decode(Schema.CompositeAttribute.self, forKey: .composite))
            } else if container.contains(.attribute) {
                properties.append(try container.decode(Schema.Attribute.self, forKey: .attribute))
            } else if container.contains(.relationship) {
                properties.append(
                    try container.decode(Schema.Relationship.self, forKey: .relationship))
            }
        }
        self.properties = properties
    }
}
