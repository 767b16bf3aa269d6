import LarderModel

/// Where the values and links of a schema are in a dump: the order of the entities, and for each
/// entity the members of its object lines and of its link lines.
///
/// A link has two sides, and is written once unless both sides are needed: a required relationship
/// has to be known when its object is inserted, and each ordered list has an order of its own.
struct DumpPlan {
    struct EntityPlan {
        let entity: Entity
        /// The attributes, without those that the store computes.
        let attributes: [Attribute]
        /// Relationships in the object lines: to-one relationships, and required lists.
        let references: [Relationship]
        /// To-many relationships in link lines.
        let lists: [Relationship]
    }

    /// The entities that have objects, in the order of the dump.
    let entities: [EntityPlan]
    /// The index of each entity in ``entities``.
    let positions: [String: Int]

    init(_ schema: Schema) {
        let links = DumpLinks(schema)
        let plans = schema.entities.filter { !$0.isAbstract }.map { entity in
            let written = entity.relationships.filter { links.isWritten($0, of: entity) }
                .sorted { $0.name < $1.name }
            return EntityPlan(
                entity: entity,
                attributes: entity.attributes.filter { !$0.isDerived },
                references: written.filter { !$0.isToMany || $0.isRequiredInDump },
                lists: written.filter { $0.isToMany && !$0.isRequiredInDump })
        }
        entities = Self.ordered(plans, schema)
        positions = Dictionary(
            uniqueKeysWithValues: entities.enumerated().map { ($1.entity.name, $0) })
    }

    /// The order of two objects in a dump.
    func precedes(_ left: PersistentIdentifier, _ right: PersistentIdentifier) -> Bool {
        func position(_ identifier: PersistentIdentifier) -> (Int, Int64) {
            (positions[identifier.entityName] ?? .max, identifier.permanentKey ?? .max)
        }
        return position(left) < position(right)
    }

    // MARK: The order of entities

    /// Entities follow those that they refer to. In a cycle, an entity comes first that has no
    /// required references into it, if there is one. Otherwise the names decide.
    private static func ordered(_ plans: [EntityPlan], _ schema: Schema) -> [EntityPlan] {
        struct Count { var required = 0, optional = 0 }
        var counts = [Count](repeating: Count(), count: plans.count)
        var users: [String: [(index: Int, isRequired: Bool)]] = [:]
        for (index, plan) in plans.enumerated() {
            for reference in plan.references {
                let subentities = schema.subentities(of: reference.destination).map(\.name)
                for name in [reference.destination] + subentities where name != plan.entity.name {
                    guard schema.entity(named: name)?.isAbstract == false else { continue }
                    let isRequired = reference.isRequiredInDump
                    users[name, default: []].append((index, isRequired))
                    counts[index].required += isRequired ? 1 : 0
                    counts[index].optional += isRequired ? 0 : 1
                }
            }
        }
        func precedes(_ left: Int, _ right: Int) -> Bool {
            (counts[left].required, counts[left].optional, plans[left].entity.name)
                < (counts[right].required, counts[right].optional, plans[right].entity.name)
        }
        var rest = Array(plans.indices)
        var order: [EntityPlan] = []
        while let next = rest.min(by: precedes) {
            rest.removeAll { $0 == next }
            order.append(plans[next])
            for user in users[plans[next].entity.name] ?? [] {
                counts[user.index].required -= user.isRequired ? 1 : 0
                counts[user.index].optional -= user.isRequired ? 0 : 1
            }
        }
        return order
    }
}

/// Which sides of links are in a dump.
struct DumpLinks {
    private let schema: Schema

    init(_ schema: Schema) { self.schema = schema }

    /// Whether a relationship is written. If neither side is needed, a to-one side is, or else the
    /// one whose entity and name sort first.
    func isWritten(_ relationship: Relationship, of entity: Entity) -> Bool {
        guard let inverse = inverse(of: relationship) else { return true }
        if relationship.isNeeded || isOwnInverse(relationship, of: entity) { return true }
        if inverse.isNeeded { return false }
        if relationship.isToMany != inverse.isToMany { return inverse.isToMany }
        return (declarer(of: relationship, in: entity), relationship.name)
            < (inverseDeclarer(of: relationship), inverse.name)
    }

    /// Whether another side of the links of an ordered list is written too, so that the objects may
    /// already be in the list, in another order.
    func hasOtherSide(_ relationship: Relationship, of entity: Entity) -> Bool {
        guard let inverse = inverse(of: relationship) else { return false }
        return inverse.isNeeded || isOwnInverse(relationship, of: entity)
    }

    /// Whether the store may have keys of deleted objects in a to-one relationship.
    func mayDangle(_ relationship: Relationship) -> Bool {
        !relationship.isToMany && inverse(of: relationship)?.deleteRule == .noAction
    }

    private func inverse(of relationship: Relationship) -> Relationship? {
        guard let name = relationship.inverse,
            case .relationship(let inverse) = schema.entity(named: relationship.destination)?
                .property(named: name)
        else { return nil }
        return inverse
    }

    private func isOwnInverse(_ relationship: Relationship, of entity: Entity) -> Bool {
        relationship.inverse == relationship.name
            && declarer(of: relationship, in: entity) == inverseDeclarer(of: relationship)
    }

    private func declarer(of relationship: Relationship, in entity: Entity) -> String {
        schema.declaringEntity(of: relationship.name, in: entity).name
    }

    private func inverseDeclarer(of relationship: Relationship) -> String {
        guard let destination = schema.entity(named: relationship.destination),
            let inverse = relationship.inverse
        else { return "" }
        return schema.declaringEntity(of: inverse, in: destination).name
    }
}

extension Relationship {
    /// Whether an object cannot be inserted without its links: a to-one that is not optional, or a
    /// list whose least number of objects is checked.
    var isRequiredInDump: Bool { !isOptional || isToMany && minCount > 0 }

    fileprivate var isNeeded: Bool { isRequiredInDump || isToMany && isOrdered }
}
