extension Schema {
    /// Indexes of a model.
    public final class Index<T: PersistentModel>: ConstraintProperty {
        /// The kind of an index.
        public enum Types<P: PersistentModel> {
            case binary([PartialKeyPath<P>])
            /// An index for ranges of several numbers. Here it is a binary one.
            case rtree([PartialKeyPath<P>])

            var keyPaths: [PartialKeyPath<P>] {
                switch self {
                case .binary(let keyPaths), .rtree(let keyPaths): keyPaths
                }
            }
        }

        public let indices: [Types<T>]
        public var name = "SwiftData.Schema.Index"
        public var originalName = "SwiftData.Schema.Index"
        public var valueType: any Any.Type = Index<T>.self

        public init(_ indices: Types<T>...) {
            self.indices = indices
        }

        public init(_ binaryIndices: [PartialKeyPath<T>]...) {
            indices = binaryIndices.map { .binary($0) }
        }

        public init(from decoder: any Decoder) throws {
            indices = try Self.decoded(decoder).map { .binary($0) }
        }

        var keyPathLists: [[AnyKeyPath]] { indices.map(\.keyPaths) }
    }

    /// The uniqueness constraints of a model.
    public final class Unique<T: PersistentModel>: ConstraintProperty {
        public let constraints: [[PartialKeyPath<T>]]
        public var name = "SwiftData.Schema.Unique"
        public var originalName = "SwiftData.Schema.Unique"
        public var valueType: any Any.Type = Unique<T>.self

        public init(_ constraints: [PartialKeyPath<T>]...) {
            self.constraints = constraints
        }

        public init(from decoder: any Decoder) throws {
            constraints = try Self.decoded(decoder)
        }

        public var isUnique: Bool { true }

        var keyPathLists: [[AnyKeyPath]] { constraints }
    }
}

/// Lists of key paths of a model, which are encoded as the names of the properties.
protocol ConstraintProperty: AnyObject, SchemaProperty {
    associatedtype T: PersistentModel
    var keyPathLists: [[AnyKeyPath]] { get }
}

extension ConstraintProperty {
    public var isAttribute: Bool { false }
    public var isRelationship: Bool { false }
    public var isTransient: Bool { false }
    public var isOptional: Bool { false }
    public var isUnique: Bool { false }

    /// The names of the properties, by which the lists are encoded and compared. A key path that is
    /// not one of a persisted property has its description.
    var names: [[String]] {
        let model = ModelDescription.of(T.self)
        return keyPathLists.map { $0.map { model.property(of: $0)?.name ?? "\($0)" } }
    }

    public static func == (left: Self, right: Self) -> Bool { left.names == right.names }

    public func hash(into hasher: inout Hasher) { hasher.combine(names) }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(names)
    }

    static func decoded(_ decoder: any Decoder) throws -> [[PartialKeyPath<T>]] {
        let container = try decoder.singleValueContainer()
        let model = ModelDescription.of(T.self)
        return try container.decode([[String]].self).map { names in
            try names.map { name in
                guard let keyPath = model.property(named: name)?.keyPath as? PartialKeyPath<T>
                else {
                    throw DecodingError.dataCorruptedError(
                        in: container,
                        debugDescription: "\(model.entityName) has no property `\(name)`")
                }
                return keyPath
            }
        }
    }
}
