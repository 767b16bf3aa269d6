/// The resolved expression of a derived attribute, with the properties that it reads.
///
/// The store computes the value again whenever one of its sources changes, and stores it.
public struct Derivation: Hashable, Sendable {
    /// A property on which the value depends.
    public enum Source: Hashable, Sendable {
        /// A property of the object itself; for a relationship, the set of related objects.
        case own(String)
        /// An attribute of the objects of one of its relationships.
        case related(through: String, attribute: String)
    }

    /// The entity of the objects. An inherited attribute has one derivation per entity.
    public let entityName: String
    public let attribute: Attribute
    public let expression: QueryExpression
    /// The type of the expression. The attribute's type can hold its values.
    public let type: AttributeType
    public let sources: Set<Source>
    /// Whether the expression calls `now()`, which returns the time of the object's last save.
    public let readsTime: Bool

    /// `Category.articleCount`.
    public var qualifiedName: String { "\(entityName).\(attribute.name)" }
}
