internal import Foundation
internal import LarderModel

/// Snapshots as rows of batches.
enum SnapshotRows {
    /// One batch for each run of objects of one entity, in order.
    ///
    /// - Parameters:
    ///   - names: The properties; nil for all.
    ///   - lists: Whether to-many relationships are among all.
    static func batches(
        _ snapshots: [DefaultSnapshot], _ schema: LarderModel.Schema, _ names: [String]?,
        lists: Bool
    ) throws -> [Batch] {
        var batches: [Batch] = []
        for snapshot in snapshots {
            guard let key = snapshot.persistentIdentifier.permanentKey,
                let entity = schema.entity(named: snapshot.entityName)
            else { continue }
            if batches.last?.objects.entityName != entity.name {
                let columns = columns(of: entity, names, lists: lists)
                batches.append(
                    Batch(rowCount: 0, objects: .init(entityName: entity.name), columns: columns))
            }
            let last = batches.count - 1
            batches[last].rowCount += 1
            batches[last].objects.keys.append(key)
            batches[last].objects.versions.append(1)
            for index in batches[last].columns.indices {
                let name = batches[last].columns[index].name
                try batches[last].columns[index].append(snapshot.values[name] ?? .null)
            }
        }
        return batches
    }

    private static func columns(
        of entity: LarderModel.Entity, _ names: [String]?, lists: Bool
    ) -> [Column] {
        let wanted = names.map(Set.init)
        var columns: [Column] = []
        for attribute in entity.attributes where wanted?.contains(attribute.name) != false {
            columns.append(Column(name: attribute.name, kind: .attribute(attribute.type)))
        }
        for relationship in entity.relationships
        where wanted?.contains(relationship.name) ?? (lists || !relationship.isToMany) {
            let destination = relationship.destination
            columns.append(
                Column(
                    name: relationship.name,
                    kind: relationship.isToMany
                        ? .objects(entityName: destination) : .object(entityName: destination)))
        }
        return columns
    }

    /// The snapshot with values of the schema's types, since a number has no type in JSON. A
    /// property that is missing has its default value.
    static func typed(_ snapshot: DefaultSnapshot, _ schema: LarderModel.Schema) -> DefaultSnapshot
    {
        guard let entity = schema.entity(named: snapshot.entityName) else { return snapshot }
        var values: [String: Value] = [:]
        for attribute in entity.attributes {
            let value = snapshot.values[attribute.name] ?? attribute.defaultValue ?? .null
            values[attribute.name] =
                switch (attribute.type, value) {
                case (.double, .int(let value)): .double(Double(value))
                case (.double, .float(let value)): .double(Double(value))
                case (.float, .int(let value)): .float(Float(value))
                case (.float, .double(let value)): .float(Float(value))
                default: value
                }
        }
        for relationship in entity.relationships {
            values[relationship.name] =
                snapshot.values[relationship.name] ?? (relationship.isToMany ? .objects([]) : .null)
        }
        return DefaultSnapshot(snapshot.persistentIdentifier, values)
    }

    /// The rows of a batch with all properties.
    static func snapshots(_ batch: Batch, _ store: UUID) -> [DefaultSnapshot] {
        guard let identity = batch.identity else { return [] }
        return (0..<batch.rowCount).map { row in
            let name = identity.entityName(at: row)
            var values: [String: Value] = [:]
            for column in batch.columns {
                values[column.name] = column.value(at: row, store: store)
            }
            return DefaultSnapshot(
                PersistentIdentifier(store: store, entityName: name, key: identity.keys[row]),
                values)
        }
    }
}
