extension Schema.Attribute {
    /// An option of an attribute.
    public struct Option: Codable, Hashable, Sendable {
        private enum Kind: String, Codable {
            case unique, externalStorage, allowsCloudEncryption, preserveValueOnDeletion
            case ephemeral, spotlight, codable, transformable
        }

        private let kind: Kind
        /// The name of the transformer.
        let transformerName: String?

        private init(_ kind: Kind, transformerName: String? = nil) {
            self.kind = kind
            self.transformerName = transformerName
        }

        /// No two models have the same value.
        public static var unique: Option { Option(.unique) }

        /// The store may keep the value in a file of its own. Here it has no effect.
        public static var externalStorage: Option { Option(.externalStorage) }

        /// The value may be encrypted by CloudKit. Here it has no effect.
        public static var allowsCloudEncryption: Option { Option(.allowsCloudEncryption) }

        /// The history keeps the value of a deleted model.
        public static var preserveValueOnDeletion: Option { Option(.preserveValueOnDeletion) }

        /// Changes are observed and are changes of the context, and the store does not have the
        /// value: a model that is read has the default value.
        public static var ephemeral: Option { Option(.ephemeral) }

        /// The value is indexed by Spotlight. Here it has no effect.
        public static var spotlight: Option { Option(.spotlight) }

        /// The value is stored by its `Codable` conformance, also if it is an enum with raw values.
        public static var codable: Option { Option(.codable) }

        /// The value is stored as the data that a transformer makes of it.
        public static func transformable(by transformerType: ValueTransformer.Type) -> Option {
            let name = ValueTransformer.registeredName(of: transformerType)
            return Option(.transformable, transformerName: name)
        }

        /// The value is stored as the data that a registered transformer makes of it.
        public static func transformable(by transformerName: String) -> Option {
            Option(.transformable, transformerName: transformerName)
        }

        var isTransformable: Bool { kind == .transformable }
    }
}
