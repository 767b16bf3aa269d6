import LarderModel

extension Schema {
    /// The schema without some entities and properties, for those who may not see them.
    ///
    /// Entities keep the form in which they are stored: only names are left out, with the
    /// relationships to entities that are left out, and constraints and indexes over names that
    /// are. An entity with subentities that are not left out must stay.
    package func hiding(
        entities hiddenEntities: Set<String>, properties hidden: [String: Set<String>],
        version: String
    ) throws(SchemaError) -> Schema {
        var rest: [Entity] = []
        for entity in entities where !hiddenEntities.contains(entity.name) {
            let own = hidden[entity.name] ?? []
            rest.append(
                entity.hiding { name in
                    if own.contains(name) { return true }
                    guard case .relationship(let relationship) = entity.property(named: name)
                    else { return false }
                    return hiddenEntities.contains(relationship.destination)
                } inverse: { relationship in
                    guard let inverse = relationship.inverse else { return false }
                    return hidden[relationship.destination]?.contains(inverse) ?? false
                })
        }
        return try Schema(version: version, entities: rest)
    }
}

extension Entity {
    /// - Parameters:
    ///   - isHidden: Whether a property is left out.
    ///   - inverse: Whether the inverse of a relationship is.
    fileprivate func hiding(
        _ isHidden: (String) -> Bool, inverse isInverseHidden: (Relationship) -> Bool
    ) -> Entity {
        func isVisible(_ names: [String]) -> Bool { !names.contains(where: isHidden) }
        return Entity(
            name: name,
            attributes: declared.attributes.filter { !isHidden($0.name) },
            relationships: declared.relationships.filter { !isHidden($0.name) }.map {
                isInverseHidden($0) ? $0.withoutInverse : $0
            },
            uniquenessConstraints: declared.uniquenessConstraints.filter {
                isVisible($0) && !($0.count == 1 && isUniqueAttribute($0[0]))
            },
            indexes: declared.indexes.filter {
                isVisible($0) && !($0.count == 1 && isIndexedAttribute($0[0]))
            },
            wordIndexes: declared.wordIndexes.filter {
                isVisible($0) && !($0.count == 1 && isWordAttribute($0[0]))
            },
            parent: parent, isAbstract: isAbstract, originalName: originalName,
            hashModifier: hashModifier, recordsValues: declared.recordsValues)
    }

    private func attribute(_ name: String) -> Attribute? {
        declared.attributes.first { $0.name == name }
    }

    private func isUniqueAttribute(_ name: String) -> Bool { attribute(name)?.isUnique ?? false }
    private func isIndexedAttribute(_ name: String) -> Bool { attribute(name)?.indexed == .exact }
    private func isWordAttribute(_ name: String) -> Bool {
        attribute(name)?.search.contains(.words) ?? false
    }
}

extension Relationship {
    fileprivate var withoutInverse: Relationship {
        Relationship(
            name: name, destination: destination, isToMany: isToMany, isOrdered: isOrdered,
            isOptional: isOptional, deleteRule: deleteRule, minCount: minCount,
            maxCount: maxCount, originalName: originalName, hashModifier: hashModifier)
    }
}
