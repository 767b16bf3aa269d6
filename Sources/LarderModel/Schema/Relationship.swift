/// A link from each object of an entity to one object, or to many, of a destination entity.
public struct Relationship: Hashable, Sendable {
    /// What happens to the destinations when the object is deleted.
    public enum DeleteRule: String, Hashable, Sendable {
        /// The destinations forget the object.
        case nullify
        /// The destinations are deleted too.
        case cascade
    }

    public let name: String
    public let destination: String
    public let isToMany: Bool
    public let isOrdered: Bool
    /// Whether a to-one may be nil; a to-many is always optional.
    public let isOptional: Bool
    /// The relationship of the destination that leads back.
    public let inverse: String?
    public let deleteRule: DeleteRule

    public init(
        name: String, destination: String, isToMany: Bool = false, isOrdered: Bool = false,
        isOptional: Bool = true, inverse: String? = nil, deleteRule: DeleteRule = .nullify
    ) {
        self.name = name
        self.destination = destination
        self.isToMany = isToMany
        self.isOrdered = isOrdered
        self.isOptional = isOptional
        self.inverse = inverse
        self.deleteRule = deleteRule
    }
}
