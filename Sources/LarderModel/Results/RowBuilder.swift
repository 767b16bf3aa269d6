package import FoundationEssentials

/// Collects new objects of one entity into batches for an insertion.
package struct RowBuilder: Sendable {
    private let entityName: String
    private let schema: Schema
    private let store: UUID
    /// One column per property, of the kind that the property takes.
    private var columns: [Column]
    package private(set) var rowCount = 0

    /// - Parameters:
    ///   - names: The properties, in the order of the values in rows.
    ///   - store: The store of the objects that rows refer to.
    /// - Throws: `unknownProperty`.
    package init(
        _ entity: Entity, _ names: [String], in schema: Schema, store: UUID
    ) throws(LarderError) {
        entityName = entity.name
        self.schema = schema
        self.store = store
        columns = try names.map { (name) throws(LarderError) in
            guard let property = entity.property(named: name) else {
                throw LarderError.unknownProperty(name, of: entity)
            }
            return Column(name: name, kind: property.columnKind)
        }
    }

    /// The approximate size of the rows on the wire, in bytes.
    package var byteCount: Int { columns.reduce(0) { $0 + $1.byteCount } }

    /// Appends a row with one value per property.
    ///
    /// - Throws: `wrongType` for a value that the property does not take, `foreignIdentifier` for
    ///   an object of another store. Discard the builder after an error.
    package mutating func append(_ values: [Value]) throws(LarderError) {
        guard values.count == columns.count else {
            throw LarderError(
                .wrongType,
                "a row of \(entityName) has \(values.count) values for \(columns.count) properties"
            )
        }
        for index in values.indices { try append(values[index], at: index) }
        rowCount += 1
    }

    /// Returns the rows and empties the builder.
    package mutating func take() -> Batch {
        let batch = Batch(rowCount: rowCount, columns: columns)
        columns = columns.map { Column(name: $0.name, kind: $0.kind) }
        rowCount = 0
        return batch
    }

    private mutating func append(_ value: Value, at index: Int) throws(LarderError) {
        switch (value, columns[index].kind) {
        case (.null, _): columns[index].appendNull()
        // The most common types are appended without a conversion.
        case (.string(let text), .attribute(.string)): columns[index].append(bytes: text.utf8)
        case (.int(let integer), .attribute(.int64)): columns[index].append(integer: integer)
        case (.double(let double), .attribute(.double)) where !double.isNaN:
            columns[index].append(double: double)
        case (_, .attribute(let type)):
            guard let converted = value.converted(to: type) else { throw wrongType(value, index) }
            try columns[index].append(converted)
        case (.object(let identifier), .object(let destination)):
            let key = try key(of: identifier, columns[index].name, destination)
            columns[index].append(object: key, of: identifier.entityName)
        case (.objects(let identifiers), .objects(let destination)):
            let name = columns[index].name
            let keys = try identifiers.map { (identifier) throws(LarderError) in
                try key(of: identifier, name, destination)
            }
            columns[index].append(keys: keys, of: identifiers.map(\.entityName))
        default: throw wrongType(value, index)
        }
    }

    private func wrongType(_ value: Value, _ index: Int) -> LarderError {
        let name = columns[index].name
        return LarderError(
            ChangeViolation(
                .wrongType, "\(entityName).\(name) does not take \(value.kindWithArticle)",
                entityName: entityName, propertyNames: [name], valueKind: value.kindWithArticle,
                rule: .type))
    }

    /// The key of an object that a row may refer to.
    private func key(
        of identifier: PersistentIdentifier, _ name: String, _ destination: String
    ) throws(LarderError) -> Int64 {
        guard schema.isKind(identifier.entityName, of: destination) else {
            throw LarderError(
                .wrongType,
                "\(entityName).\(name) takes an object of \(destination), "
                    + "not of \(identifier.entityName)")
        }
        guard let key = identifier.permanentKey else {
            throw LarderError(
                .unsupported,
                "a row cannot refer to \(identifier.uriRepresentation), which is temporary",
                hint: "insert objects that refer to new objects in one change set")
        }
        guard identifier.store == store else {
            let uri = identifier.uriRepresentation
            throw LarderError(.foreignIdentifier, "\(uri) belongs to another store", uri: uri)
        }
        return key
    }
}

extension Property {
    /// The kind of the columns that hold its values.
    package var columnKind: Column.Kind {
        switch self {
        case .attribute(let attribute): .attribute(attribute.type)
        case .relationship(let relationship) where relationship.isToMany:
            .objects(entityName: relationship.destination)
        case .relationship(let relationship): .object(entityName: relationship.destination)
        }
    }
}
