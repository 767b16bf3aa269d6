import LarderModel

/// An object to which expressions refer: that of the query, or an element of a collection.
///
/// This and a step are classes, because a copy of an entity retains each of its lists.
package final class TypedObject: Hashable, Sendable {
    /// 0 for the object of the query; an element of a collection has the number of collections
    /// around it.
    package let slot: Int
    package let entity: Entity

    init(slot: Int, entity: Entity) {
        self.slot = slot
        self.entity = entity
    }

    package static func == (left: TypedObject, right: TypedObject) -> Bool {
        left.slot == right.slot && left.entity.name == right.entity.name
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(slot) }
}

/// One step of a key path.
package final class TypedStep: Hashable, Sendable {
    package enum Kind: Sendable {
        case attribute(Attribute)
        case relationship(Relationship)
        /// The object itself, if it is of this subentity; otherwise nil.
        case cast(Entity)
    }

    /// The entity of the object that has the property.
    package let entity: Entity
    package let name: String
    package let kind: Kind
    package let isToMany: Bool

    init(entity: Entity, name: String, kind: Kind) {
        self.entity = entity
        self.name = name
        self.kind = kind
        isToMany =
            if case .relationship(let relationship) = kind { relationship.isToMany } else { false }
    }

    package static func == (left: TypedStep, right: TypedStep) -> Bool {
        left.name == right.name && left.entity.name == right.entity.name
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

/// A key path with resolved names: from an object along relationships to its last property.
package struct TypedKeyPath: Hashable, Sendable {
    package let base: TypedObject
    /// `SELF` or the variable at its start.
    package let start: QueryExpression
    /// Empty for the object itself.
    package let steps: [TypedStep]
    /// The steps after a json attribute, into its document.
    package var members: [String] = []
    package let type: OperandType

    /// Whether one of the steps is a to-many relationship.
    package var isToMany: Bool { steps.contains(where: \.isToMany) }

    /// The last property with its entity, for messages: `Category.name`.
    package var name: String {
        guard let last = steps.last else { return base.entity.name }
        return "\(last.entity.name).\(last.name)"
    }

    /// Its node in the tree of the query.
    package var expression: QueryExpression {
        steps.isEmpty ? start : .keyPath(start, steps.map(\.name) + members)
    }
}
