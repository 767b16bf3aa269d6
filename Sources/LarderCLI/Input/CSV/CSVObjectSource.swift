import LarderModel

/// Reads objects from a CSV file, one by one.
struct CSVObjectSource: ObjectSource {
    private var table: CSVTable

    init(_ table: CSVTable) { self.table = table }

    mutating func next() throws(LarderError) -> SourceObject? {
        guard try table.next() else { return nil }
        var content = ObjectContent()
        do throws(LarderError) {
            for column in table.attributes {
                content.values[column.decoder.attributeName] =
                    try column.decoder.value(table.reader.field(column.field))
            }
            for columns in table.relationships {
                try table.read(table.fields(of: columns), of: columns, into: &content)
            }
        } catch {
            throw table.located(error)
        }
        return SourceObject(
            content: content, line: table.reader.line, byteCount: table.reader.byteCount)
    }
}
