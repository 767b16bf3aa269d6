import LarderModel

/// Reads objects from a CSV file, one by one.
struct CSVObjectSource: ObjectSource {
    private var table: CSVTable
    /// Whether the objects have their texts.
    private let keepsTexts: Bool
    private(set) var badRow: SourceRow?

    init(_ table: CSVTable, keepsTexts: Bool = false) {
        self.table = table
        self.keepsTexts = keepsTexts
    }

    mutating func next() throws(LarderError) -> SourceObject? {
        badRow = nil
        guard try table.nextRecord() else { return nil }
        let text = keepsTexts ? Array(table.reader.record) : []
        var content = ObjectContent()
        do throws(LarderError) {
            try table.checkFieldCount()
            for column in table.attributes {
                content.values[column.decoder.attributeName] =
                    try column.decoder.value(table.reader.field(column.field))
            }
            for columns in table.relationships {
                try table.read(table.fields(of: columns), of: columns, into: &content)
            }
        } catch {
            badRow = SourceRow(line: table.reader.line, text: text)
            throw table.located(error)
        }
        return SourceObject(
            content: content, line: table.reader.line, byteCount: table.reader.byteCount,
            text: text)
    }
}
