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

    /// Rows without values.
    static func batches(_ identifiers: [PersistentIdentifier]) -> [Batch] {
        var batches: [Batch] = []
        for identifier in identifiers {
            guard let key = identifier.permanentKey else { continue }
            if batches.last?.objects.entityName != identifier.entityName {
                batches.append(
                    Batch(
                        rowCount: 0, objects: .init(entityName: identifier.entityName),
                        columns: []))
            }
            let last = batches.count - 1
            batches[last].rowCount += 1
            batches[last].objects.keys.append(key)
            batches[last].objects.versions.append(1)
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

    /// The values with the types of the schema, since a number has no type in JSON. A property that
    /// is missing has its default value.
    ///
    /// - Throws: `malformedValue` for a value of another type and a required one that is missing;
    ///   `foreignIdentifier` for an object of another store in a relationship.
    static func typed(
        _ row: DefaultSnapshot, _ entity: LarderModel.Entity, _ description: ModelDescription,
        in store: UUID, _ schema: LarderModel.Schema
    ) throws -> DefaultSnapshot {
        var values: [String: Value] = [:]
        let defaults = Dictionary(
            description.properties.map { ($0.storeName, $0.defaultValue) },
            uniquingKeysWith: { first, _ in first })
        for attribute in entity.attributes {
            let name = attribute.name
            let value =
                row.values[name] ?? attribute.defaultValue ?? defaults[name].flatMap { $0 } ?? .null
            guard !value.isNull || attribute.isOptional else {
                throw malformed(row, "has no value for \(name)")
            }
            guard let typed = typed(value, attribute.type) else {
                throw malformed(
                    row, "has a value of another type for \(name): \(value.kindWithArticle)")
            }
            values[name] = typed
        }
        for relationship in entity.relationships {
            let name = relationship.name
            let value = row.values[name] ?? .null
            for target in value.links {
                guard target.store == store,
                    schema.isKind(target.entityName, of: relationship.destination)
                else {
                    throw LarderError(
                        .foreignIdentifier,
                        "the store returned an object with \(target) in \(name), which is no "
                            + "\(relationship.destination) of the store",
                        uri: row.persistentIdentifier.uriRepresentation)
                }
            }
            values[name] =
                switch (value, relationship.isToMany) {
                case (.null, true): .objects([])
                case (.null, false), (.object, false), (.objects, true): value
                default: throw malformed(row, "has a value of another type for \(name)")
                }
        }
        return DefaultSnapshot(row.persistentIdentifier, values)
    }

    private static func typed(_ value: Value, _ type: AttributeType) -> Value? {
        switch (value, type) {
        // Numbers that are none are numbers of these types.
        case (.double, .double), (.float, .float): value
        default: value.converted(to: type)
        }
    }

    private static func malformed(_ row: DefaultSnapshot, _ reason: String) -> LarderError {
        LarderError(
            .malformedValue, "the store returned a snapshot of \(row.entityName) that \(reason)",
            uri: row.persistentIdentifier.uriRepresentation)
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
