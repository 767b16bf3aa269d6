import LarderModel

/// Prints whole objects of any entities, including to-many relationships.
struct RecordPrinter {
    private var writer: any RowWriter
    private let format: OutputFormat
    private let schema: Schema
    private var entityName: String?
    private var names: [String] = []

    init(_ format: OutputFormat, schema: Schema) {
        self.format = format
        self.writer = format.makeWriter()
        self.schema = schema
    }

    mutating func print(_ record: Record) throws(LarderError) {
        if record.entityName != entityName { try begin(record.entityName) }
        let identity: [Value] = [
            .object(record.identifier), .string(record.entityName), .int(record.version),
        ]
        try writer.write(
            identity.prefix(format.isJSON ? 3 : 1) + names.map { record[$0] ?? .null })
    }

    mutating func end() throws(LarderError) {
        if entityName == nil { try writer.begin([]) }
        try writer.end()
    }

    /// Begins a block with the columns of an entity, in the order of the schema.
    private mutating func begin(_ name: String) throws(LarderError) {
        entityName = name
        let entity = schema.entity(named: name)
        names = (entity?.attributes.map(\.name) ?? []) + (entity?.relationships.map(\.name) ?? [])
        try writer.begin(
            (format.isJSON ? ["@id", "@entity", "@version"] : ["@id"]) + names,
            decimals: entity?.shownDecimals ?? [:])
    }
}
