/// The resolved expression of a derived attribute, with the properties that it reads.
///
/// The store computes the value again whenever one of its sources changes, and stores it.
package struct Derivation: Hashable, Sendable {
    /// A property on which the value depends.
    package enum Source: Hashable, Sendable {
        /// A property of the object itself; for a relationship, the set of related objects.
        case own(String)
        /// An attribute of the objects of one of its relationships.
        case related(through: String, attribute: String)
    }

    /// The entity of the objects. An inherited attribute has one derivation per entity.
    package let entityName: String
    package let attribute: Attribute
    package let expression: QueryExpression
    /// The type of the expression. The attribute's type can hold its values.
    package let type: AttributeType
    package let sources: Set<Source>
    /// Whether the expression calls `now()`, which returns the time of the object's last save.
    package let readsTime: Bool

    package init(
        entityName: String, attribute: Attribute, expression: QueryExpression,
        type: AttributeType, sources: Set<Source>, readsTime: Bool
    ) {
        self.entityName = entityName
        self.attribute = attribute
        self.expression = expression
        self.type = type
        self.sources = sources
        self.readsTime = readsTime
    }

    /// `Category.articleCount`.
    package var qualifiedName: String { "\(entityName).\(attribute.name)" }
}
