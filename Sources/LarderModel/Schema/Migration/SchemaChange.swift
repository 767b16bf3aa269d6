/// One change between a schema and the schema that continues it, as a sentence.
public struct SchemaChange: Hashable, Sendable, CustomStringConvertible {
    /// `Article.title: renamed from headline`.
    public let description: String
    /// Whether clients that were built for the old schema neither see nor disturb it.
    public let isAdditive: Bool

    package init(_ description: String, isAdditive: Bool = false) {
        self.description = description
        self.isAdditive = isAdditive
    }
}

extension SchemaMapping {
    /// Whether clients that were built for the old schema can go on: the new one only adds
    /// entities, optional properties, attributes with a default, and indexes.
    public var isAdditive: Bool { problems.isEmpty && changes.allSatisfy(\.isAdditive) }

    /// The changes, in the order of the new schema; removed entities come last.
    public var changes: [SchemaChange] {
        var changes: [SchemaChange] = []
        if old.version != new.version {
            changes.append(
                SchemaChange("version: \(old.version) -> \(new.version)", isAdditive: true))
        }
        for entity in new.entities { changes += self.changes(of: entity) }
        for entity in old.entities where successor(of: entity) == nil {
            changes.append(SchemaChange("\(entity.name): removed, with its objects"))
        }
        return changes
    }

    private func changes(of entity: Entity) -> [SchemaChange] {
        guard let origin = origin(of: entity) else {
            // A new kind of object would appear in an old client's results.
            let isVisible = new.lineage(of: entity).contains { self.origin(of: $0) != nil }
            return [SchemaChange("\(entity.name): added", isAdditive: !isVisible)]
        }
        var changes: [SchemaChange] = []
        if origin.name != entity.name {
            changes.append(SchemaChange("\(entity.name): renamed from \(origin.name)"))
        }
        for (former, facet) in zip(origin.facets, entity.facets) {
            let formerValue =
                facet.name == "parent" ? newName(ofEntity: former.value) : former.value
            guard formerValue != facet.value else { continue }
            changes.append(
                SchemaChange(
                    "\(entity.name): \(facet.name) \(former.value) -> \(facet.value)",
                    isAdditive: facet.name == Facet.historyName))
        }
        for name in entity.propertyNames { changes += propertyChanges(name, of: entity) }
        for name in origin.propertyNames
        where successor(of: name, in: origin) == nil {
            changes.append(SchemaChange("\(entity.name).\(name): removed, with its values"))
        }
        return changes + listChanges(of: entity, origin)
    }

    private func propertyChanges(_ name: String, of entity: Entity) -> [SchemaChange] {
        guard let property = entity.property(named: name) else { return [] }
        let place = "\(entity.name).\(name)"
        guard let former = origin(of: name, in: entity) else {
            return [SchemaChange("\(place): added", isAdditive: isAdditive(added: property))]
        }
        var changes: [SchemaChange] = []
        if former.name != name {
            changes.append(SchemaChange("\(place): renamed from \(former.name)"))
        }
        for (old, facet) in zip(former.facets, property.facets) where old.name == facet.name {
            let formerValue =
                switch facet.name {
                case "destination": newName(ofEntity: old.value)
                case "inverse": newInverse(of: former) ?? old.value
                default: old.value
                }
            guard formerValue != facet.value else { continue }
            changes.append(
                SchemaChange(
                    "\(place): \(facet.name) \(old.value) -> \(facet.value)",
                    isAdditive: facet.name == Facet.scaleName))
        }
        return changes
    }

    private func isAdditive(added property: Property) -> Bool {
        switch property {
        case .attribute: true
        case .relationship(let relationship):
            relationship.isOptional && relationship.minCount == 0 && relationship.maxCount == 0
        }
    }

    private func listChanges(of entity: Entity, _ origin: Entity) -> [SchemaChange] {
        let old = origin.lists { successor(of: $0, in: origin) ?? $0 }
        let new = entity.lists
        return new.filter { !old.contains($0) }.map {
            SchemaChange("\(entity.name): \($0) added", isAdditive: $0.hasPrefix("index"))
        }
            + old.filter { !new.contains($0) }.map {
                SchemaChange("\(entity.name): \($0) removed", isAdditive: $0.hasPrefix("index"))
            }
    }

    private func newName(ofEntity name: String) -> String {
        old.entity(named: name).flatMap(successor)?.name ?? name
    }

    /// The new name of a relationship's inverse.
    private func newInverse(of property: Property) -> String? {
        guard case .relationship(let relationship) = property, let inverse = relationship.inverse,
            let destination = old.entity(named: relationship.destination)
        else { return nil }
        return successor(of: inverse, in: destination)
    }
}

extension Property {
    /// The name of the attribute or relationship.
    public var name: String {
        switch self {
        case .attribute(let attribute): attribute.name
        case .relationship(let relationship): relationship.name
        }
    }
}
