/// A value that every object of an entity has.
public struct Attribute: Hashable, Sendable {
    public let name: String
    public let type: AttributeType
    public private(set) var isOptional: Bool
    public let defaultValue: Value?
    /// The values of which no two objects have the same one; nil if values may be repeated.
    public let unique: Matching?
    /// The values of which the store keeps an index; nil for none.
    public let indexed: Matching?
    /// The other indexes of the texts.
    public let search: SearchIndexes
    /// Whether the history keeps the value of a deleted object.
    public let preservesValueOnDeletion: Bool
    /// The expression, as a format string, from which the store computes the value; nil for an
    /// attribute that is set by callers.
    public let derivation: String?
    /// The name in an earlier version of the schema, if it was renamed. It has no effect on the
    /// fingerprint.
    public let originalName: String?
    /// A text that changes the fingerprint. Another one marks the meaning of the values as changed
    /// although their type is not.
    public let hashModifier: String?
    /// The number of decimal places with which tables show a decimal. It limits no value; nil for
    /// values as they are stored.
    public let scale: Int?
    public let validation: Validation

    /// The values that a constraint or an index is about.
    public enum Matching: Hashable, Sendable {
        /// The values as they are stored.
        case exact
        /// The texts without case and accents.
        case insensitive
    }

    /// The indexes that find objects by something that their texts contain.
    public struct SearchIndexes: OptionSet, Hashable, Sendable {
        /// That of the parts, for `CONTAINS` and `LIKE`.
        public static let parts = SearchIndexes(rawValue: 1)
        /// That of the words, for `SEARCH`.
        public static let words = SearchIndexes(rawValue: 2)

        public let rawValue: Int

        public init(rawValue: Int) { self.rawValue = rawValue }
    }

    /// The constraints that the store checks before a save; nil for no constraint.
    public struct Validation: Hashable, Sendable {
        /// The inclusive bounds of a number or a date.
        public var minimum: Value?
        public var maximum: Value?
        /// The inclusive bounds of the length of a string in characters, or of data in bytes.
        public var minLength: Int?
        public var maxLength: Int?
        /// A regular expression that the whole string must match.
        public var pattern: String?

        public init(
            minimum: Value? = nil, maximum: Value? = nil, minLength: Int? = nil,
            maxLength: Int? = nil, pattern: String? = nil
        ) {
            self.minimum = minimum
            self.maximum = maximum
            self.minLength = minLength
            self.maxLength = maxLength
            self.pattern = pattern
        }
    }

    /// The default and the bounds are converted to the attribute's type if that is exact: 0 becomes
    /// 0.0 for a double. A default of nil means no default.
    public init(
        name: String, type: AttributeType, isOptional: Bool = false, defaultValue: Value? = nil,
        unique: Matching? = nil, indexed: Matching? = nil, search: SearchIndexes = [],
        preservesValueOnDeletion: Bool = false,
        derivation: String? = nil, originalName: String? = nil, hashModifier: String? = nil,
        scale: Int? = nil, validation: Validation = Validation()
    ) {
        self.name = name
        self.type = type
        self.isOptional = isOptional
        self.defaultValue = Self.typed(defaultValue, type)
        self.unique = unique
        self.indexed = indexed
        self.search = search
        self.preservesValueOnDeletion = preservesValueOnDeletion
        self.derivation = derivation
        self.originalName = originalName
        self.hashModifier = hashModifier
        self.scale = scale
        self.validation = Validation(
            minimum: Self.typed(validation.minimum, type),
            maximum: Self.typed(validation.maximum, type), minLength: validation.minLength,
            maxLength: validation.maxLength, pattern: validation.pattern)
    }

    /// A copy of the attribute that is optional.
    package var madeOptional: Attribute {
        var attribute = self
        attribute.isOptional = true
        return attribute
    }

    /// Whether no two objects may have the same value.
    public var isUnique: Bool { unique != nil }

    /// Whether the store computes the values.
    public var isDerived: Bool { derivation != nil }

    private static func typed(_ value: Value?, _ type: AttributeType) -> Value? {
        guard let value, !value.isNull else { return nil }
        return value.converted(to: type) ?? value
    }
}
