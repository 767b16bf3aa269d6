import LarderModel

extension Schema {
    /// The schema with the history `values` for all entities.
    package func recordingValues() throws -> Schema {
        try Schema(
            version: version,
            entities: entities.map { entity in
                let declared = entity.declared
                return Entity(
                    name: entity.name, attributes: declared.attributes,
                    relationships: declared.relationships,
                    uniquenessConstraints: Array(
                        declared.uniquenessConstraints.dropFirst(
                            declared.attributes.count(where: \.isUnique))),
                    indexes: Array(
                        declared.indexes.dropFirst(
                            declared.attributes.count { $0.indexed == .exact })),
                    parent: entity.parent, isAbstract: entity.isAbstract, recordsValues: true)
            })
    }
}
