/// The members of a property in the schema, apart from its name and type. `docs/schema.md`
/// describes each key.
public struct PropertyOptions: Sendable {
    var attribute: [AttributeOption] = []
    var isOrdered = false
    var deleteRule = Relationship.DeleteRule.nullify
    var minCount = 0
    var maxCount = 0
    var inverse: (any AnyKeyPath & Sendable)?
    var originalName: String?
    var hashModifier: String?

    public init() {}

    /// The options of the macro ``Attribute(_:originalName:hashModifier:)``.
    public static func attribute(
        _ options: AttributeOption..., originalName: String? = nil, hashModifier: String? = nil
    ) -> PropertyOptions {
        var all = PropertyOptions()
        all.attribute = options
        all.originalName = originalName
        all.hashModifier = hashModifier
        return all
    }

    /// The options of the macro
    /// ``Relationship(_:deleteRule:minCount:maxCount:inverse:originalName:hashModifier:)``.
    public static func relationship(
        _ options: RelationshipOption..., deleteRule: Relationship.DeleteRule = .nullify,
        minCount: Int = 0, maxCount: Int = 0, inverse: (any AnyKeyPath & Sendable)? = nil,
        originalName: String? = nil, hashModifier: String? = nil
    ) -> PropertyOptions {
        var all = PropertyOptions()
        all.isOrdered = options.contains(.ordered)
        all.deleteRule = deleteRule
        all.minCount = minCount
        all.maxCount = maxCount
        all.inverse = inverse
        all.originalName = originalName
        all.hashModifier = hashModifier
        return all
    }

    var isDerived: Bool {
        attribute.contains { if case .derived = $0 { true } else { false } }
    }
}

/// An option of an attribute.
public enum AttributeOption: Hashable, Sendable {
    /// No two objects have the same value.
    case unique
    /// No two objects have values that differ only in case and accents. For strings.
    case uniqueInsensitively
    /// The store keeps an index of the values.
    case indexed
    /// The store keeps an index of the values without case and accents, for `[cd]`. For strings.
    case indexedInsensitively
    /// The store keeps an index of the parts of the texts, for `CONTAINS` and `LIKE`. For strings.
    case search
    /// The store keeps an index of the words of the texts, for `SEARCH`. For strings.
    case searchWords
    /// The history keeps the value of a deleted object.
    case preserveValueOnDeletion
    /// The store computes the value from an expression in Core Data's format.
    case derived(String)
    /// The inclusive bounds of a number or a date.
    case minimum(Value)
    case maximum(Value)
    /// The inclusive bounds of the length of a string in characters, or of data in bytes.
    case minLength(Int)
    case maxLength(Int)
    /// A regular expression that the whole string matches.
    case pattern(String)
}

/// An option of a relationship.
public enum RelationshipOption: Hashable, Sendable {
    /// The objects of a to-many relationship have an order.
    case ordered
}

/// The members of an entity in the schema, apart from its properties.
public struct EntityOptions: Sendable {
    let parent: (any EntityRecord.Type)?
    let originalName: String?
    let hashModifier: String?
    let unique: [[any AnyKeyPath & Sendable]]
    let indexes: [[any AnyKeyPath & Sendable]]
    let search: [[any AnyKeyPath & Sendable]]

    public init(
        parent: (any EntityRecord.Type)? = nil, originalName: String? = nil,
        hashModifier: String? = nil, unique: [[any AnyKeyPath & Sendable]] = [],
        indexes: [[any AnyKeyPath & Sendable]] = [],
        search: [[any AnyKeyPath & Sendable]] = []
    ) {
        self.parent = parent
        self.originalName = originalName
        self.hashModifier = hashModifier
        self.unique = unique
        self.indexes = indexes
        self.search = search
    }
}
