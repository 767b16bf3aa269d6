/// What a derived attribute means: the expression that the store computes, and what it reads.
///
/// The store computes it again whenever one of its sources has changed, and keeps the value.
public struct Derivation: Hashable, Sendable {
    /// What the value may change with.
    public enum Source: Hashable, Sendable {
        /// A property of the object itself; of a relationship, which objects it leads to.
        case own(String)
        /// An attribute of the objects to which a relationship of the object leads.
        case related(through: String, attribute: String)
    }

    /// The entity of the objects; an inherited attribute has a derivation for each entity.
    public let entityName: String
    public let attribute: Attribute
    public let expression: QueryExpression
    /// The type of the expression, whose values the attribute's type can hold.
    public let type: AttributeType
    public let sources: Set<Source>
    /// Whether it asks for the time, which is that of the object's last save.
    public let readsTime: Bool

    /// `Category.articleCount`.
    public var qualifiedName: String { "\(entityName).\(attribute.name)" }
}
