/// One object as it was read: its identifier, its row version, its values by property name.
public struct Record: Hashable, Sendable {
    public var identifier: PersistentIdentifier
    /// Counts the saves that changed the object, from 1; the basis of optimistic locking.
    public var version: Int64
    public var values: [String: Value]

    public init(identifier: PersistentIdentifier, version: Int64, values: [String: Value]) {
        self.identifier = identifier
        self.version = version
        self.values = values
    }

    public var entityName: String { identifier.entityName }

    /// The value of a property; nil where the record does not hold that property.
    public subscript(property: String) -> Value? { values[property] }
}
