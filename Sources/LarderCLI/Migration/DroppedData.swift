import LarderClient
import LarderModel

/// The objects and values that a store loses by a change of its schema.
struct DroppedData {
    /// Such as `3 objects of Tag` and `7 values of Book.title`.
    let descriptions: [String]

    /// Counts what the new schema has no place for.
    init(from old: Schema, to new: Schema, _ client: StoreClient) throws {
        let mapping = SchemaMapping(from: old, to: new)
        var descriptions: [String] = []
        for entity in old.entities where !entity.isAbstract {
            guard mapping.successor(of: entity) == nil else { continue }
            let count = try client.count(entity.name, includesSubentities: false)
            if count > 0 {
                descriptions.append("\(count) object\(count == 1 ? "" : "s") of \(entity.name)")
            }
        }
        for entity in old.entities where mapping.successor(of: entity) != nil {
            for (name, condition) in Self.droppedProperties(of: entity, mapping) {
                let count = try client.count(entity.name, where: condition)
                if count > 0 {
                    descriptions.append(
                        "\(count) value\(count == 1 ? "" : "s") of \(entity.name).\(name)")
                }
            }
        }
        self.descriptions = descriptions
    }

    /// The declared properties that are removed, each with a predicate for objects with a value.
    private static func droppedProperties(
        of entity: Entity, _ mapping: SchemaMapping
    ) -> [(name: String, condition: String)] {
        let attributes = entity.declared.attributes.filter {
            !$0.isDerived && mapping.successor(of: $0.name, in: entity) == nil
        }
        let relationships = entity.declared.relationships.filter {
            mapping.successor(of: $0.name, in: entity) == nil && !isKept($0, mapping)
        }
        return attributes.map { ($0.name, "\($0.name) != nil") }
            + relationships.map {
                ($0.name, $0.isToMany ? "\($0.name).@count > 0" : "\($0.name) != nil")
            }
    }

    /// Whether the inverse of a removed relationship has its links: it stays, or it is a to-one
    /// that is counted itself.
    private static func isKept(_ relationship: Relationship, _ mapping: SchemaMapping) -> Bool {
        guard let inverse = relationship.inverse,
            let destination = mapping.old.entity(named: relationship.destination),
            case .relationship(let other)? = destination.property(named: inverse)
        else { return false }
        return mapping.successor(of: inverse, in: destination) != nil
            || relationship.isToMany && !other.isToMany
    }
}
