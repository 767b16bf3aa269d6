import LarderModel

/// The properties that key paths reach from each entity of a schema.
struct SchemaPaths {
    enum End: Hashable {
        case attribute(AttributeType)
        case object(String)
    }

    struct Entry {
        var single: [End: [[String]]] = [:]
        /// With at least one to-many step.
        var many: [End: [[String]]] = [:]
    }

    private(set) var entries: [String: Entry] = [:]

    init(_ schema: Schema) {
        for entity in schema.entities {
            var entry = Entry()
            Self.walk(entity, [], isMany: false, in: schema, &entry)
            entries[entity.name] = entry
        }
    }

    private static func walk(
        _ entity: Entity, _ steps: [String], isMany: Bool, in schema: Schema, _ entry: inout Entry
    ) {
        func add(_ end: End, _ name: String, _ isMany: Bool) {
            if isMany {
                entry.many[end, default: []].append(steps + [name])
            } else {
                entry.single[end, default: []].append(steps + [name])
            }
        }
        for attribute in entity.attributes {
            add(.attribute(attribute.type), attribute.name, isMany)
        }
        for subentity in schema.subentities(of: entity.name) where steps.count < 2 {
            add(.object(subentity.name), subentity.name, isMany)
            walk(subentity, steps + [subentity.name], isMany: isMany, in: schema, &entry)
        }
        for relationship in entity.relationships {
            let becomesMany = isMany || relationship.isToMany
            add(.object(relationship.destination), relationship.name, becomesMany)
            if steps.count < 2, let next = schema.entity(named: relationship.destination) {
                walk(next, steps + [relationship.name], isMany: becomesMany, in: schema, &entry)
            }
        }
    }
}
