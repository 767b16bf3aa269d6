public import FoundationEssentials

/// Gathers new objects of one entity, given by the values of the same properties, into batches.
public struct RowBuilder: Sendable {
    private let entityName: String
    private let schema: Schema
    private let store: UUID
    /// One for each property, whose kind says what the property takes.
    private var columns: [Column]
    public private(set) var rowCount = 0

    /// - Parameters:
    ///   - names: The properties, in the order in which rows have their values.
    ///   - store: The store that the objects to which rows refer belong to.
    /// - Throws: `unknownProperty`.
    public init(
        _ entity: Entity, _ names: [String], in schema: Schema, store: UUID
    ) throws(LarderError) {
        entityName = entity.name
        self.schema = schema
        self.store = store
        let known = entity.attributes.map(\.name) + entity.relationships.map(\.name)
        columns = try names.map { (name) throws(LarderError) in
            guard let property = entity.property(named: name) else {
                throw LarderError(
                    .unknownProperty, "\(entity.name) has no property \(name)",
                    hint: NameSuggestion.hint(for: name, among: known))
            }
            return Column(name: name, kind: property.columnKind)
        }
    }

    /// About the bytes that the rows take on the wire.
    public var byteCount: Int { columns.reduce(0) { $0 + $1.byteCount } }

    /// Adds a row with a value for each property.
    ///
    /// - Throws: `wrongType` for a value that the property does not take, `foreignIdentifier` for
    ///   an object of another store; then the builder is not to be used any more.
    public mutating func append(_ values: [Value]) throws(LarderError) {
        guard values.count == columns.count else {
            throw LarderError(
                .wrongType,
                "a row of \(entityName) has \(values.count) values for \(columns.count) properties"
            )
        }
        for place in values.indices { try append(values[place], at: place) }
        rowCount += 1
    }

    /// The rows so far; the builder is empty then.
    public mutating func take() -> Batch {
        let batch = Batch(rowCount: rowCount, columns: columns)
        columns = columns.map { Column(name: $0.name, kind: $0.kind) }
        rowCount = 0
        return batch
    }

    private mutating func append(_ value: Value, at place: Int) throws(LarderError) {
        switch (value, columns[place].kind) {
        case (.null, _): columns[place].appendNull()
        // Most values are of their column's type; no others are converted.
        case (.string(let text), .attribute(.string)): columns[place].append(bytes: text.utf8)
        case (.int(let integer), .attribute(.int64)): columns[place].append(integer: integer)
        case (.double(let double), .attribute(.double)) where !double.isNaN:
            columns[place].append(double: double)
        case (_, .attribute(let type)):
            guard let converted = value.converted(to: type) else { throw wrongType(value, place) }
            try columns[place].append(converted)
        case (.object(let identifier), .object(let destination)):
            let key = try key(of: identifier, columns[place].name, destination)
            columns[place].append(object: key, of: identifier.entityName)
        case (.objects(let identifiers), .objects(let destination)):
            let name = columns[place].name
            let keys = try identifiers.map { (identifier) throws(LarderError) in
                try key(of: identifier, name, destination)
            }
            columns[place].append(keys: keys, of: identifiers.map(\.entityName))
        default: throw wrongType(value, place)
        }
    }

    private func wrongType(_ value: Value, _ place: Int) -> LarderError {
        let name = columns[place].name
        return LarderError(
            ChangeFault(
                .wrongType, "\(entityName).\(name) does not take \(value.kindWithArticle)",
                entityName: entityName, propertyNames: [name], valueKind: value.kindWithArticle,
                rule: .type))
    }

    /// The key of an object to which a row may refer.
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
                hint: "put such objects into one change set")
        }
        guard identifier.store == store else {
            let uri = identifier.uriRepresentation
            throw LarderError(.foreignIdentifier, "\(uri) belongs to another store", uri: uri)
        }
        return key
    }
}

extension Property {
    /// The columns that hold its values.
    public var columnKind: Column.Kind {
        switch self {
        case .attribute(let attribute): .attribute(attribute.type)
        case .relationship(let relationship) where relationship.isToMany:
            .objects(entityName: relationship.destination)
        case .relationship(let relationship): .object(entityName: relationship.destination)
        }
    }
}
