extension Schema {
    /// A property whose values are other models.
    ///
    /// A program may change a relationship until it makes a container with its schema; the
    /// relationship is not changed after that, which is what makes it safe to share.
    public final class Relationship: SchemaProperty, CustomDebugStringConvertible,
        @unchecked Sendable
    {
        /// The effect of deleting a model on its related models.
        public enum DeleteRule: String, Codable, Hashable, Sendable {
            /// The related models keep their references.
            case noAction
            /// The related models no longer refer to the model.
            case nullify
            /// The related models are deleted too.
            case cascade
            /// The model cannot be deleted while it has related models.
            case deny
        }

        /// An option of a relationship.
        public struct Option: Codable, Hashable, Sendable {
            private enum Kind: String, Codable {
                case unique
            }

            private let kind: Kind

            /// No two models have the same related model.
            public static var unique: Option { Option(kind: .unique) }
        }

        public var name: String
        public var originalName: String
        public var keypath: AnyKeyPath?
        public var options: [Option]
        public var valueType: any Any.Type
        /// The name of the entity of the related models.
        public var destination: String
        public var deleteRule: DeleteRule
        public var inverseName: String?
        public var inverseKeyPath: AnyKeyPath?
        public var minimumModelCount: Int?
        public var maximumModelCount: Int?
        public var hashModifier: String?
        /// Whether it is to one, if the program does not have the type.
        private var isDecodedToOne = false

        public init(
            _ options: Option..., deleteRule: DeleteRule = .nullify, minimumModelCount: Int? = 0,
            maximumModelCount: Int? = 0, originalName: String? = nil, inverse: AnyKeyPath? = nil,
            hashModifier: String? = nil
        ) {
            name = ""
            self.originalName = originalName ?? ""
            self.options = options
            valueType = Any.self
            destination = ""
            self.deleteRule = deleteRule
            inverseKeyPath = inverse
            self.minimumModelCount = minimumModelCount
            self.maximumModelCount = maximumModelCount
            self.hashModifier = hashModifier
        }

        public var isAttribute: Bool { false }
        public var isRelationship: Bool { true }
        public var isTransient: Bool { false }
        public var isOptional: Bool { ValueType(valueType).isOptional }
        public var isUnique: Bool { options.contains(.unique) }
        public var isToOneRelationship: Bool {
            RelationshipType(valueType).map { !$0.isToMany } ?? isDecodedToOne
        }

        public static func == (left: Relationship, right: Relationship) -> Bool {
            left.name == right.name && left.originalName == right.originalName
                && left.options == right.options && left.valueType == right.valueType
                && left.destination == right.destination && left.deleteRule == right.deleteRule
                && left.inverseName == right.inverseName
                && left.minimumModelCount == right.minimumModelCount
                && left.maximumModelCount == right.maximumModelCount
                && left.hashModifier == right.hashModifier
        }

        public func hash(into hasher: inout Hasher) {
            hasher.combine(name)
            hasher.combine(destination)
            hasher.combine(deleteRule)
            hasher.combine(inverseName)
        }

        public var debugDescription: String {
            "Relationship \(name): \(valueType), inverse \(inverseName ?? "none")"
        }

        private enum CodingKeys: String, CodingKey {
            case name, originalName, options, valueType, valueTypeName, isOptional, isToOne
            case destination, deleteRule, inverseName
            case minimumModelCount, maximumModelCount, hashModifier
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(name, forKey: .name)
            try container.encode(originalName, forKey: .originalName)
            try container.encode(options, forKey: .options)
            try container.encodeIfPresent(EncodedType.name(of: valueType), forKey: .valueType)
            try container.encode(String(reflecting: valueType), forKey: .valueTypeName)
            try container.encode(isOptional, forKey: .isOptional)
            try container.encode(isToOneRelationship, forKey: .isToOne)
            try container.encode(destination, forKey: .destination)
            try container.encode(deleteRule, forKey: .deleteRule)
            try container.encodeIfPresent(inverseName, forKey: .inverseName)
            try container.encodeIfPresent(minimumModelCount, forKey: .minimumModelCount)
            try container.encodeIfPresent(maximumModelCount, forKey: .maximumModelCount)
            try container.encodeIfPresent(hashModifier, forKey: .hashModifier)
        }

        /// The key paths are not encoded; the names are.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            name = try container.decode(String.self, forKey: .name)
            originalName = try container.decode(String.self, forKey: .originalName)
            options = try container.decode([Option].self, forKey: .options)
            let typeName = try container.decodeIfPresent(String.self, forKey: .valueType)
            let isOptional = try container.decodeIfPresent(Bool.self, forKey: .isOptional)
            valueType = EncodedType.type(named: typeName, isOptional: isOptional)
            isDecodedToOne = try container.decodeIfPresent(Bool.self, forKey: .isToOne) ?? false
            destination = try container.decode(String.self, forKey: .destination)
            deleteRule = try container.decode(DeleteRule.self, forKey: .deleteRule)
            inverseName = try container.decodeIfPresent(String.self, forKey: .inverseName)
            minimumModelCount = try container.decodeIfPresent(Int.self, forKey: .minimumModelCount)
            maximumModelCount = try container.decodeIfPresent(Int.self, forKey: .maximumModelCount)
            hashModifier = try container.decodeIfPresent(String.self, forKey: .hashModifier)
        }
    }
}

/// The type of a relationship: its destination, and whether it is to many.
struct RelationshipType {
    let destination: any PersistentModel.Type
    let isToMany: Bool
    let isOptional: Bool

    /// Nil if the type is not one of a relationship.
    init?(_ type: any Any.Type) {
        let value = ValueType(type)
        isOptional = value.isOptional
        if let model = value.wrapped as? any PersistentModel.Type {
            destination = model
            isToMany = false
        } else if let list = value.wrapped as? any RelationshipCollection.Type {
            destination = Self.element(of: list)
            isToMany = true
        } else {
            return nil
        }
    }

    private static func element<List: RelationshipCollection>(
        of type: List.Type
    ) -> any PersistentModel.Type { List.PersistentElement.self }
}
