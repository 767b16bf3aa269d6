/// One violation in a rejected change set, in a form that a program can evaluate.
public struct ChangeViolation: Hashable, Sendable {
    public var code: ErrorCode
    /// One sentence without a final period. It contains no stored values.
    public var message: String
    /// The index of the change in the set; nil if the violation concerns the set as a whole.
    public var change: Int?
    public var entityName: String?
    /// The property concerned; several for a constraint over several properties.
    public var propertyNames: [String]
    /// The URI of the object concerned: the object to change, or the existing object that conflicts
    /// with the change.
    public var uri: String?
    /// The kind of the given value, such as `a string`.
    public var valueKind: String?
    /// The rule that the change violates.
    public var rule: Rule?
    /// For a conflict: the stored values, the caller's base values and its new values.
    public var conflict: MergeConflict?
    /// The index of the condition in the set; nil if the violation is not in a condition.
    public var condition: Int?
    /// For a condition that is not met: the number of objects found, at most one more than the
    /// condition's ``ChangeSet/Condition/count``.
    public var found: Int64?

    /// The violated rule: a key of the schema file, or a condition of the change.
    public enum Rule: String, Hashable, Sendable, CaseIterable {
        case type, optional, minimum, maximum, minLength, maxLength, pattern
        case minCount, maxCount, unique, deleteRule, version, derived, abstract, condition
    }

    package init(
        _ code: ErrorCode, _ message: String, change: Int? = nil, entityName: String? = nil,
        propertyNames: [String] = [], uri: String? = nil, valueKind: String? = nil,
        rule: Rule? = nil, conflict: MergeConflict? = nil, condition: Int? = nil,
        found: Int64? = nil
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
        self.condition = condition
        self.found = found
    }
}

/// A conflict between the stored object and the caller's snapshot of it.
public struct MergeConflict: Hashable, Sendable {
    /// The stored version; 0 if the object is deleted.
    public var storedVersion: Int64
    /// The version that the change was based on; nil if it names none.
    public var expectedVersion: Int64?
    /// The properties of the change, without those whose values are too large for a reply.
    public var properties: [Property]

    public struct Property: Hashable, Sendable {
        public var name: String
        /// The value that the change was based on; nil if it names none.
        public var base: Value?
        public var stored: Value
        /// The new value; nil for a property that the caller read and does not change.
        public var given: Value?

        package init(name: String, base: Value?, stored: Value, given: Value?) {
            self.name = name
            self.base = base
            self.stored = stored
            self.given = given
        }
    }

    package init(storedVersion: Int64, expectedVersion: Int64?, properties: [Property]) {
        self.storedVersion = storedVersion
        self.expectedVersion = expectedVersion
        self.properties = properties
    }
}
