public import FoundationEssentials

/// Gathers new objects of one entity, given by the values of the same properties, into batches.
public struct RowBuilder: Sendable {
    private let entity: Entity
    private let schema: Schema
    private let store: UUID
    private let properties: [Property]
    private var columns: [Column]
    public private(set) var rowCount = 0

    /// - Parameters:
    ///   - names: The properties, in the order in which rows have their values.
    ///   - store: The store that the objects to which rows refer belong to.
    /// - Throws: `unknownProperty`.
    public init(
        _ entity: Entity, _ names: [String], in schema: Schema, store: UUID
    ) throws(LarderError) {
        self.entity = entity
        self.schema = schema
        self.store = store
        let known = entity.attributes.map(\.name) + entity.relationships.map(\.name)
        properties = try names.map { (name) throws(LarderError) in
            guard let property = entity.property(named: name) else {
                throw LarderError(
                    .unknownProperty, "\(entity.name) has no property \(name)",
                    hint: NameSuggestion.hint(for: name, among: known))
            }
            return property
        }
        columns = zip(names, properties).map { Column(name: $0, kind: $1.columnKind) }
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
                "a row of \(entity.name) has \(values.count) values for \(columns.count) properties"
            )
        }
        for (place, value) in values.enumerated() {
            try columns[place].append(stored(value, properties[place], columns[place].name))
        }
        rowCount += 1
    }

    /// The rows so far; the builder is empty then.
    public mutating func take() -> Batch {
        let batch = Batch(rowCount: rowCount, columns: columns)
        columns = columns.map { Column(name: $0.name, kind: $0.kind) }
        rowCount = 0
        return batch
    }

    private func stored(
        _ value: Value, _ property: Property, _ name: String
    ) throws(LarderError) -> Value {
        switch (property, value) {
        case (_, .null): return value
        case (.attribute(let attribute), _):
            if let converted = value.converted(to: attribute.type) { return converted }
        case (.relationship(let relationship), .object(let identifier))
        where !relationship.isToMany:
            try check(identifier, relationship)
            return value
        case (.relationship(let relationship), .objects(let identifiers))
        where relationship.isToMany:
            for identifier in identifiers { try check(identifier, relationship) }
            return value
        case (.relationship, _): break
        }
        throw LarderError(
            ChangeFault(
                .wrongType, "\(entity.name).\(name) does not take \(value.kindWithArticle)",
                entityName: entity.name, propertyNames: [name], valueKind: value.kindWithArticle,
                rule: .type))
    }

    private func check(
        _ identifier: PersistentIdentifier, _ relationship: Relationship
    ) throws(LarderError) {
        let uri = identifier.uriRepresentation
        guard schema.isKind(identifier.entityName, of: relationship.destination) else {
            throw LarderError(
                .wrongType,
                "\(entity.name).\(relationship.name) takes an object of "
                    + "\(relationship.destination), not of \(identifier.entityName)")
        }
        guard identifier.permanentKey != nil else {
            throw LarderError(
                .unsupported, "a row cannot refer to \(uri), which is temporary",
                hint: "put such objects into one change set")
        }
        guard identifier.store == store else {
            throw LarderError(.foreignIdentifier, "\(uri) belongs to another store", uri: uri)
        }
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
