import LarderModel

/// The boxes and lines of a diagram of a schema, independent of the language of the diagram.
///
/// The names of entities and properties consist of ASCII letters, digits and underscores, so no
/// text of a diagram needs escapes; the names of entities are quoted because they may be keywords.
struct Diagram {
    /// A relationship with its inverse, drawn as one line.
    struct Association {
        let source: String
        let relationship: Relationship
        let inverse: Relationship?

        var label: String {
            guard let inverse, inverse.name != relationship.name || !isReflexive else {
                return relationship.name
            }
            return "\(relationship.name) / \(inverse.name)"
        }

        private var isReflexive: Bool { source == relationship.destination }
    }

    /// The entities with a box. Lines may lead to others.
    let entities: [Entity]
    let associations: [Association]
    let inheritance: [(child: String, parent: String)]

    /// The whole schema, or one entity and its relationships to others.
    init(_ schema: Schema, only entity: Entity?) {
        func isDrawn(_ names: String...) -> Bool {
            entity.map { names.contains($0.name) } ?? true
        }
        entities = entity.map { [$0] } ?? schema.entities
        associations = Self.associations(in: schema).filter {
            isDrawn($0.source, $0.relationship.destination)
        }
        inheritance = schema.entities.compactMap { child in
            guard let parent = child.parent, isDrawn(child.name, parent) else { return nil }
            return (child.name, parent)
        }
    }

    private static func associations(in schema: Schema) -> [Association] {
        struct End: Hashable {
            let entity: String
            let relationship: String
        }
        var inverses: Set<End> = []
        var associations: [Association] = []
        for entity in schema.entities {
            for relationship in entity.declared.relationships {
                let end = End(entity: entity.name, relationship: relationship.name)
                if inverses.contains(end) { continue }
                let inverse = schema.inverse(of: relationship)
                if let inverse {
                    inverses.insert(
                        End(entity: relationship.destination, relationship: inverse.name))
                }
                associations.append(
                    Association(source: entity.name, relationship: relationship, inverse: inverse))
            }
        }
        return associations
    }

    /// The lines in the box of an entity: `title: string?`, and `/total: int64` for a derived
    /// attribute, as in UML.
    static func lines(of entity: Entity) -> [String] {
        let attributes = entity.declared.attributes.map { attribute in
            (attribute.isDerived ? "/" : "") + "\(attribute.name): \(attribute.type.rawValue)"
                + (attribute.isOptional ? "?" : "") + (attribute.isUnique ? " unique" : "")
        }
        return attributes
            + entity.listedConstraints.map { "unique(\($0.joined(separator: ", ")))" }
    }
}

extension Schema {
    /// The relationship in the opposite direction.
    func inverse(of relationship: Relationship) -> Relationship? {
        guard let name = relationship.inverse,
            case .relationship(let inverse)? = entity(named: relationship.destination)?
                .property(named: name)
        else { return nil }
        return inverse
    }
}

extension Relationship {
    /// The number of related objects as in UML: `0..1`, `1`, `1..*`, and `0,2..4` if there are
    /// either none or two to four.
    var cardinality: String {
        guard isToMany else { return isOptional ? "0..1" : "1" }
        let maximum = maxCount > 0 ? "\(maxCount)" : "*"
        if isOptional { return minCount > 1 ? "0,\(minCount)..\(maximum)" : "0..\(maximum)" }
        return "\(max(minCount, 1))..\(maximum)"
    }
}
