/// A to-one or to-many relationship from the objects of an entity to objects of another.
public struct Relationship: Hashable, Sendable {
    /// The effect of deleting an object on its related objects.
    public enum DeleteRule: String, Hashable, Sendable, CaseIterable {
        /// The related objects no longer refer to the object.
        case nullify
        /// The related objects are deleted too.
        case cascade
        /// The object cannot be deleted while it has related objects.
        case deny
        /// Related objects whose rows hold the object's key keep it as a dangling reference.
        case noAction
    }

    public let name: String
    public let destination: String
    public let isToMany: Bool
    public let isOrdered: Bool
    /// Whether a to-one may be nil, and a to-many empty.
    public let isOptional: Bool
    /// The relationship of the destination in the opposite direction.
    public let inverse: String?
    public let deleteRule: DeleteRule
    /// The minimum number of objects of a to-many relationship, unless it is optional and empty.
    public let minCount: Int
    /// The maximum number of objects of a to-many relationship; 0 for no limit.
    public let maxCount: Int
    /// The name in an earlier version of the schema, if it was renamed. It has no effect on the
    /// fingerprint.
    public let originalName: String?
    /// A text that changes the fingerprint.
    public let hashModifier: String?

    public init(
        name: String, destination: String, isToMany: Bool = false, isOrdered: Bool = false,
        isOptional: Bool = true, inverse: String? = nil, deleteRule: DeleteRule = .nullify,
        minCount: Int = 0, maxCount: Int = 0, originalName: String? = nil,
        hashModifier: String? = nil
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
        self.originalName = originalName
        self.hashModifier = hashModifier
    }
}
