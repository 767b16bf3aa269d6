/// A value that each object of an entity holds.
public struct Attribute: Hashable, Sendable {
    public let name: String
    public let type: AttributeType
    public let isOptional: Bool
    public let defaultValue: Value?
    public let isUnique: Bool
    public let isIndexed: Bool
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

    public init(
        name: String, type: AttributeType, isOptional: Bool = false, defaultValue: Value? = nil,
        isUnique: Bool = false, isIndexed: Bool = false, validation: Validation = Validation()
    ) {
        self.name = name
        self.type = type
        self.isOptional = isOptional
        self.defaultValue = defaultValue
        self.isUnique = isUnique
        self.isIndexed = isIndexed
        self.validation = validation
    }
}
