/// A value that every object of an entity has.
public struct Attribute: Hashable, Sendable {
    public let name: String
    public let type: AttributeType
    public private(set) var isOptional: Bool
    public let defaultValue: Value?
    /// Whether no two objects have the same value; see ``isUniqueInsensitively``.
    public let isUnique: Bool
    /// Whether values that differ only in case and accents count as the same for ``isUnique``.
    public let isUniqueInsensitively: Bool
    /// Whether the store keeps an index of the values.
    public let isIndexed: Bool
    /// Whether the store keeps an index of the values without case and accents instead.
    public let isIndexedInsensitively: Bool
    /// Whether the store keeps an index of the parts of the texts, which finds the objects whose
    /// texts contain another one.
    public let isSearchable: Bool
    /// Whether the store keeps an index of the words of the texts, for `SEARCH`.
    public let isSearchableByWords: Bool
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
    /// 0.0 for a double. A default of nil means no default. An attribute that is unique or indexed
    /// insensitively need not be marked ``isUnique`` or ``isIndexed`` too.
    public init(
        name: String, type: AttributeType, isOptional: Bool = false, defaultValue: Value? = nil,
        isUnique: Bool = false, isUniqueInsensitively: Bool = false, isIndexed: Bool = false,
        isIndexedInsensitively: Bool = false, isSearchable: Bool = false,
        isSearchableByWords: Bool = false, preservesValueOnDeletion: Bool = false,
        derivation: String? = nil, originalName: String? = nil, hashModifier: String? = nil,
        scale: Int? = nil, validation: Validation = Validation()
    ) {
        self.name = name
        self.type = type
        self.isOptional = isOptional
        self.defaultValue = Self.typed(defaultValue, type)
        self.isUnique = isUnique || isUniqueInsensitively
        self.isUniqueInsensitively = isUniqueInsensitively
        self.isIndexed = isIndexed && !isIndexedInsensitively
        self.isIndexedInsensitively = isIndexedInsensitively
        self.isSearchable = isSearchable
        self.isSearchableByWords = isSearchableByWords
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

    /// Whether the store computes the values.
    public var isDerived: Bool { derivation != nil }

    private static func typed(_ value: Value?, _ type: AttributeType) -> Value? {
        guard let value, !value.isNull else { return nil }
        return value.converted(to: type) ?? value
    }
}
