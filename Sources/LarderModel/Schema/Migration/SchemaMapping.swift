/// How a new schema continues an old one: the old entity of each new entity, and the old property
/// of each of its properties.
///
/// A pure function of the two schemas. A name continues the same name if the old schema has it, and
/// otherwise the `originalName`. What cannot be inferred is in ``problems``, all at once, with the
/// paths of the new schema's file.
package struct SchemaMapping: Sendable {
    package let old: Schema
    package let new: Schema
    /// Why the new schema cannot be reached from the old one without help; empty if it can.
    package private(set) var problems: [SchemaError.Problem] = []
    /// By the name of the new entity.
    private var entities: [String: String] = [:]
    /// By the name of the new entity, its properties with their old names.
    private var properties: [String: [String: String]] = [:]

    /// - Parameter permitsEarlierVersion: Whether the new schema may be of an earlier version, as
    ///   that of a stage may.
    package init(from old: Schema, to new: Schema, permitsEarlierVersion: Bool = false) {
        self.old = old
        self.new = new
        var located: [LocatedProblem] = []
        mapEntities(&located)
        for entity in new.entities { mapProperties(of: entity, &located) }
        var check = MappingCheck(mapping: self, permitsEarlierVersion: permitsEarlierVersion)
        check.run()
        problems = (located + check.problems).sorted { $0.path < $1.path }.map(\.problem)
    }

    /// The entity that a new one continues; nil for an added entity.
    package func origin(of entity: Entity) -> Entity? {
        entities[entity.name].flatMap { old.entity(named: $0) }
    }

    /// The property of ``origin(of:)`` that a property continues; nil for an added property.
    package func origin(of property: String, in entity: Entity) -> Property? {
        guard let name = properties[entity.name]?[property] else { return nil }
        return origin(of: entity)?.property(named: name)
    }

    /// The entity that continues an old one; nil for a removed entity.
    package func successor(of entity: Entity) -> Entity? {
        entities.first { $0.value == entity.name }.flatMap { new.entity(named: $0.key) }
    }

    /// The new name of a property of an old entity; nil for a removed property.
    package func successor(of property: String, in entity: Entity) -> String? {
        guard let successor = successor(of: entity) else { return nil }
        return properties[successor.name]?.first { $0.value == property }?.key
    }

    // MARK: Names

    private mutating func mapEntities(_ problems: inout [LocatedProblem]) {
        for entity in new.entities where old.entity(named: entity.name) != nil {
            entities[entity.name] = entity.name
        }
        for entity in new.entities {
            guard entities[entity.name] == nil, let original = entity.originalName,
                old.entity(named: original) != nil
            else { continue }
            guard new.entity(named: original) == nil else {
                problems.append(
                    LocatedProblem(
                        path: path(of: entity)["originalName"],
                        message: "\(original) is continued by the entity \(original), so that "
                            + "\(entity.name) cannot continue it; rename in one version, and add "
                            + "the new \(original) in the next"))
                continue
            }
            entities[entity.name] = original
        }
    }

    private mutating func mapProperties(
        of entity: Entity, _ problems: inout [LocatedProblem]
    ) {
        guard let origin = origin(of: entity) else { return }
        var names: [String: String] = [:]
        for name in entity.allNames where origin.property(named: name) != nil {
            names[name] = name
        }
        for name in entity.allNames where names[name] == nil {
            guard let original = entity.property(named: name)?.originalName,
                origin.property(named: original) != nil
            else { continue }
            guard entity.property(named: original) == nil else {
                problems.append(
                    LocatedProblem(
                        path: path(of: name, in: entity)["originalName"],
                        message: "\(entity.name).\(original) is continued by the property "
                            + "\(original), so that \(name) cannot continue it; rename in one "
                            + "version, and add the new \(original) in the next"))
                continue
            }
            names[name] = original
        }
        properties[entity.name] = names
    }

    // MARK: Paths

    /// The path of an entity in the new schema's file.
    func path(of entity: Entity) -> SchemaPath {
        SchemaPath.root["entities"][new.entities.firstIndex { $0.name == entity.name } ?? 0]
    }

    /// The path of a property in the new schema's file, where it is declared.
    func path(of property: String, in entity: Entity) -> SchemaPath {
        let declarer = new.declaringEntity(of: property, in: entity)
        let declared = declarer.declared
        if let index = declared.attributes.firstIndex(where: { $0.name == property }) {
            return path(of: declarer)["attributes"][index]
        }
        let index = declared.relationships.firstIndex { $0.name == property } ?? 0
        return path(of: declarer)["relationships"][index]
    }
}

extension Entity {
    /// The names of all properties, inherited ones first.
    package var allNames: [String] { attributes.map(\.name) + relationships.map(\.name) }
}

extension Property {
    var originalName: String? {
        switch self {
        case .attribute(let attribute): attribute.originalName
        case .relationship(let relationship): relationship.originalName
        }
    }
}
