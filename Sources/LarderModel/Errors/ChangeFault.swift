/// One thing that is wrong with a change set, in parts that a program can use.
public struct ChangeFault: Hashable, Sendable {
    public var code: ErrorCode
    /// One sentence, without a final full stop; it holds no stored values.
    public var message: String
    /// The place of the change at fault in the set; nil where the set as a whole is.
    public var change: Int?
    public var entityName: String?
    /// The property at fault; several for a constraint over several.
    public var propertyNames: [String]
    /// The object in question, as its URI: the one that has to change, or that stands in the way.
    public var uri: String?
    /// What kind of value was given: `a string`.
    public var valueKind: String?
    public var rule: Rule?
    /// For a conflict: what the store holds, and what the caller knew and wanted.
    public var conflict: MergeConflict?

    /// What was broken: a key of the schema file, or a condition of the change.
    public enum Rule: String, Hashable, Sendable, CaseIterable {
        case type, optional, minimum, maximum, minLength, maxLength, pattern
        case minCount, maxCount, unique, deleteRule, version, derived, abstract
    }

    public init(
        _ code: ErrorCode, _ message: String, change: Int? = nil, entityName: String? = nil,
        propertyNames: [String] = [], uri: String? = nil, valueKind: String? = nil,
        rule: Rule? = nil, conflict: MergeConflict? = nil
    ) {
        self.code = code
        self.message = message
        self.change = change
        self.entityName = entityName
        self.propertyNames = propertyNames
        self.uri = uri
        self.valueKind = valueKind
        self.rule = rule
        self.conflict = conflict
    }
}

/// Two snapshots of one object: the store's, and the caller's.
public struct MergeConflict: Hashable, Sendable {
    /// The object's version in the store; 0 once it is deleted.
    public var storedVersion: Int64
    /// The version that the change was based on, if it said so.
    public var expectedVersion: Int64?
    /// The properties that the change names; those with values too large for a reply are left out.
    public var properties: [Property]

    public struct Property: Hashable, Sendable {
        public var name: String
        /// The value that the change was based on, if it said so.
        public var base: Value?
        public var stored: Value
        /// The value that the change gives; nil for a property that it only read.
        public var given: Value?

        public init(name: String, base: Value?, stored: Value, given: Value?) {
            self.name = name
            self.base = base
            self.stored = stored
            self.given = given
        }
    }

    public init(storedVersion: Int64, expectedVersion: Int64?, properties: [Property]) {
        self.storedVersion = storedVersion
        self.expectedVersion = expectedVersion
        self.properties = properties
    }
}
