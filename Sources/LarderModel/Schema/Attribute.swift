/// A value that each object of an entity holds.
public struct Attribute: Hashable, Sendable {
    public let name: String
    public let type: AttributeType
    public let isOptional: Bool
    public let defaultValue: Value?
    public let isUnique: Bool
    public let isIndexed: Bool
    /// Whether the history keeps the value of an object that is deleted.
    public let preservesValueOnDeletion: Bool
    /// The expression whose value the store keeps, as text; nil for an attribute that is given its
    /// values. ``Schema/derivations`` has what it means.
    public let derivation: String?
    public let validation: Validation

    /// What the store checks before it saves; nil means no bound.
    public struct Validation: Hashable, Sendable {
        /// Bounds of a number or a date, both included.
        public var minimum: Value?
        public var maximum: Value?
        /// Bounds of a string's length in characters, or of data's in bytes, both included.
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

    /// Default and bounds take the attribute's type where that loses nothing: 0 for a double is
    /// 0.0. A default of nil is none.
    public init(
        name: String, type: AttributeType, isOptional: Bool = false, defaultValue: Value? = nil,
        isUnique: Bool = false, isIndexed: Bool = false,
        preservesValueOnDeletion: Bool = false, derivation: String? = nil,
        validation: Validation = Validation()
    ) {
        self.name = name
        self.type = type
        self.isOptional = isOptional
        self.defaultValue = Self.typed(defaultValue, type)
        self.isUnique = isUnique
        self.isIndexed = isIndexed
        self.preservesValueOnDeletion = preservesValueOnDeletion
        self.derivation = derivation
        self.validation = Validation(
            minimum: Self.typed(validation.minimum, type),
            maximum: Self.typed(validation.maximum, type), minLength: validation.minLength,
            maxLength: validation.maxLength, pattern: validation.pattern)
    }

    /// Whether the store computes the values, and nobody gives them.
    public var isDerived: Bool { derivation != nil }

    private static func typed(_ value: Value?, _ type: AttributeType) -> Value? {
        guard let value, !value.isNull else { return nil }
        return value.converted(to: type) ?? value
    }
}
