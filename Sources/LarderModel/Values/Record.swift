/// An object with its identifier, its version and its values by property name.
public struct Record: Hashable, Sendable {
    public var identifier: PersistentIdentifier
    /// The number of saves that changed the object, from 1. Optimistic locking compares it.
    public var version: Int64
    public var values: [String: Value]

    public init(identifier: PersistentIdentifier, version: Int64, values: [String: Value]) {
        self.identifier = identifier
        self.version = version
        self.values = values
    }

    public var entityName: String { identifier.entityName }

    /// The value of a property; nil if the record does not contain the property.
    public subscript(property: String) -> Value? { values[property] }
}
