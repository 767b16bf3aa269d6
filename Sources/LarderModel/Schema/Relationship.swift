/// A link from each object of an entity to one object, or to many, of a destination entity.
public struct Relationship: Hashable, Sendable {
    /// What happens to the destinations when the object is deleted.
    public enum DeleteRule: String, Hashable, Sendable {
        /// The destinations forget the object.
        case nullify
        /// The destinations are deleted too.
        case cascade
        /// The object cannot be deleted while there are destinations.
        case deny
        /// Destinations whose rows hold the object's key keep it, and it leads to nothing.
        case noAction
    }

    public let name: String
    public let destination: String
    public let isToMany: Bool
    public let isOrdered: Bool
    /// Whether a to-one may be nil, and a to-many empty.
    public let isOptional: Bool
    /// The relationship of the destination that leads back.
    public let inverse: String?
    public let deleteRule: DeleteRule
    /// How many objects a to-many holds at least, if it holds any or is not optional.
    public let minCount: Int
    /// How many objects a to-many holds at most; 0 is any number.
    public let maxCount: Int

    public init(
        name: String, destination: String, isToMany: Bool = false, isOrdered: Bool = false,
        isOptional: Bool = true, inverse: String? = nil, deleteRule: DeleteRule = .nullify,
        minCount: Int = 0, maxCount: Int = 0
    ) {
        self.name = name
        self.destination = destination
        self.isToMany = isToMany
        self.isOrdered = isOrdered
        self.isOptional = isOptional
        self.inverse = inverse
        self.deleteRule = deleteRule
        self.minCount = minCount
        self.maxCount = maxCount
    }
}
