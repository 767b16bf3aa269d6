public import LarderModel
import TestSupport

/// An object before it is stored. Its relationships refer to other drafts by index.
public struct DraftObject: Sendable {
    public let entityName: String
    public internal(set) var values: [String: Value]
    /// The destinations of the relationships from which links are made; inverses follow.
    public internal(set) var links: [String: [Int]]
}

/// Generates objects with many nils, duplicates and extreme values.
enum RandomObjects {
    static func objects(
        of schema: Schema, _ random: inout SeededGenerator
    ) -> [DraftObject] {
        var drafts: [DraftObject] = []
        var used: Set<String> = []
        for entity in schema.entities where !entity.isAbstract {
            // Sometimes an entity has no objects at all.
            let count = random.once(in: 12) ? random.number(0...1) : random.number(6...16)
            for _ in 0..<count {
                var values: [String: Value] = [:]
                for attribute in entity.attributes {
                    let declarer = schema.declaringEntity(of: attribute.name, in: entity)
                    values[attribute.name] = value(of: attribute, declarer, &used, &random)
                }
                drafts.append(DraftObject(entityName: entity.name, values: values, links: [:]))
            }
        }
        for entity in schema.entities {
            for relationship in entity.declared.relationships
            where !relationship.name.hasSuffix("back") {
                link(relationship, of: entity, in: schema, &drafts, &random)
            }
        }
        return drafts
    }

    private static func value(
        of attribute: Attribute, _ declarer: Entity, _ used: inout Set<String>,
        _ random: inout SeededGenerator
    ) -> Value {
        if attribute.isOptional, random.once(in: attribute.isUnique ? 4 : 3) { return .null }
        let value = RandomValue.value(of: attribute.type, &random)
        guard attribute.isUnique else { return value }
        // Decimals and strings are unique by value, not by representation.
        let key = "\(declarer.name).\(attribute.name) \(value.text.normalized)"
        return used.insert(key).inserted ? value : .null
    }

    private static func link(
        _ relationship: Relationship, of entity: Entity, in schema: Schema,
        _ drafts: inout [DraftObject], _ random: inout SeededGenerator
    ) {
        let destinations = drafts.indices.filter {
            schema.isKind(drafts[$0].entityName, of: relationship.destination)
        }
        let inverse = relationship.inverse.flatMap {
            schema.entity(named: relationship.destination)?.property(named: $0)
        }
        var isExclusive = false
        if case .relationship(let inverse) = inverse { isExclusive = !inverse.isToMany }
        var free = destinations.shuffled(using: &random)
        for index in drafts.indices where schema.isKind(drafts[index].entityName, of: entity.name) {
            let count =
                random.once(in: 3) ? 0 : relationship.isToMany ? random.number(1...4) : 1
            var chosen: [Int] = []
            for _ in 0..<count {
                let other = isExclusive ? free.popLast() : random.pick(destinations)
                if let other, !chosen.contains(other) { chosen.append(other) }
            }
            drafts[index].links[relationship.name] = chosen
        }
    }
}
