import LarderModel

/// The reasons why a store cannot load a dump: what the schema of the dump has and that of the
/// store has not, or has otherwise.
struct DumpDifferences {
    private let dump: Schema
    private let store: Schema
    private var problems: [String] = []

    /// - Throws: `schemaMismatch` with all differences.
    static func check(_ dump: Schema, against store: Schema) throws(LarderError) {
        guard dump.fingerprint != store.fingerprint else { return }
        var differences = DumpDifferences(dump: dump, store: store)
        for entity in dump.entities where !entity.isAbstract { differences.compare(entity) }
        guard !differences.problems.isEmpty else { return }
        throw LarderError(
            .schemaMismatch, "the schema of the store does not fit the dump",
            hint: "create a store with the schema of the dump: larder load FILE --store NEW",
            problems: differences.problems)
    }

    private init(dump: Schema, store: Schema) {
        self.dump = dump
        self.store = store
    }

    private mutating func compare(_ entity: Entity) {
        guard let target = store.entity(named: entity.name) else {
            problems.append("the store has no entity \(entity.name)")
            return
        }
        guard !target.isAbstract else {
            problems.append("\(entity.name) is abstract in the store")
            return
        }
        for attribute in entity.attributes where !attribute.isDerived {
            compare(attribute, "\(entity.name).\(attribute.name)", target)
        }
        for relationship in entity.relationships {
            compare(relationship, "\(entity.name).\(relationship.name)", target)
        }
        for attribute in target.attributes
        where !attribute.isOptional && attribute.defaultValue == nil && !attribute.isDerived {
            guard case .attribute? = entity.property(named: attribute.name) else {
                problems.append(
                    "the store requires \(entity.name).\(attribute.name), which the dump lacks")
                continue
            }
        }
        for relationship in target.relationships where !relationship.isOptional {
            guard case .relationship? = entity.property(named: relationship.name) else {
                problems.append(
                    "the store requires \(entity.name).\(relationship.name), which the dump lacks")
                continue
            }
        }
    }

    private mutating func compare(_ attribute: Attribute, _ name: String, _ target: Entity) {
        guard case .attribute(let found)? = target.property(named: attribute.name) else {
            problems.append("the store has no attribute \(name)")
            return
        }
        if found.isDerived {
            problems.append("\(name) is derived in the store")
        } else if !found.type.takesAll(of: attribute.type) {
            problems.append(
                "\(name) is \(attribute.type.rawValue) in the dump and \(found.type.rawValue) "
                    + "in the store")
        }
    }

    private mutating func compare(
        _ relationship: Relationship, _ name: String, _ target: Entity
    ) {
        guard case .relationship(let found)? = target.property(named: relationship.name) else {
            problems.append("the store has no relationship \(name)")
            return
        }
        if found.isToMany != relationship.isToMany {
            problems.append(
                "\(name) is \(relationship.isToMany ? "to-many" : "to-one") in the dump and "
                    + "\(found.isToMany ? "to-many" : "to-one") in the store")
        } else if found.inverse != relationship.inverse {
            problems.append("\(name) has another inverse in the store")
        } else if found.isOrdered != relationship.isOrdered {
            problems.append(
                relationship.isOrdered
                    ? "\(name) is ordered in the dump and not in the store"
                    : "\(name) is ordered in the store and not in the dump")
        }
        let entities = [relationship.destination]
        for entity in entities + dump.subentities(of: relationship.destination).map(\.name)
        where dump.entity(named: entity)?.isAbstract == false
            && !store.isKind(entity, of: found.destination)
        {
            problems.append("\(name) takes no objects of \(entity) in the store")
        }
    }
}

extension AttributeType {
    /// Whether each value of another type is one of this type.
    fileprivate func takesAll(of other: AttributeType) -> Bool {
        switch (other, self) {
        case (.int16, .int32), (.int16, .int64), (.int32, .int64): true
        default: self == other
        }
    }
}
