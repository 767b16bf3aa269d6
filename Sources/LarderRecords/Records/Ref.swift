/// A reference to an object of an entity: an identifier that knows the type of its object.
///
/// A to-one relationship is a `Ref` or an optional one, a to-many relationship an array of them.
public struct Ref<Target: EntityRecord>: Hashable, Sendable, Identifiable {
    public let id: PersistentIdentifier

    /// A reference by an identifier, for example one that another process sent. The store checks
    /// that the object is of the entity.
    public init(_ id: PersistentIdentifier) { self.id = id }

    /// A reference to a value that was read or inserted.
    ///
    /// - Throws: `objectNotFound` if its `id` is nil.
    public init(_ record: Target) throws(LarderError) { id = try record.requiredID() }
}

extension Ref: ValueConvertible {
    public var storeValue: Value { .object(id) }
}

/// As its identifier, in SwiftData's JSON form.
extension Ref: Codable {
    public init(from decoder: any Decoder) throws {
        id = try decoder.singleValueContainer().decode(PersistentIdentifier.self)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(id)
    }
}

extension Ref: CustomStringConvertible {
    /// The URI of the object.
    public var description: String { id.uriRepresentation }
}
