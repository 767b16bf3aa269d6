import LarderModel

/// Makes rows of the records of a CSV file, column by column.
struct CSVRowSource: RowSource {
    private var table: CSVTable
    private var related: RelatedObjects

    init(_ table: CSVTable, _ related: RelatedObjects) {
        self.table = table
        self.related = related
    }

    /// The objects of one relationship of a batch. Many rows have the same object, so the texts of
    /// its fields are stored and read once.
    private struct RelatedColumn {
        var indexes: [[String?]: Int] = [:]
        /// The first line of each different object.
        var lines: [Int] = []
        /// The index of each row's object.
        var rows: [Int] = []

        mutating func append(_ fields: [String?], line: Int) {
            if let index = indexes[fields] { return rows.append(index) }
            rows.append(lines.count)
            indexes[fields] = lines.count
            lines.append(line)
        }
    }

    mutating func next() throws(LarderError) -> SourceRows? {
        var columns = table.attributes.map { column in
            let attribute = column.decoder.attribute
            return Column(name: attribute.name, kind: .attribute(attribute.type))
        }
        var relatedColumns = table.relationships.map { _ in RelatedColumn() }
        var lines: [Int] = []
        var bytes = 0
        while lines.count < SourceRows.rowsMax, bytes < SourceRows.bytesMax, try table.next() {
            do throws(LarderError) {
                try append(to: &columns, &relatedColumns)
            } catch {
                throw table.located(error)
            }
            lines.append(table.reader.line)
            bytes += table.reader.byteCount
        }
        guard !lines.isEmpty else { return nil }
        for (index, column) in relatedColumns.enumerated() {
            columns.append(try rows(of: column, table.relationships[index]))
        }
        if columns.isEmpty { columns = try defaultColumns(rowCount: lines.count) }
        return SourceRows(batch: Batch(rowCount: lines.count, columns: columns), lines: lines)
    }

    /// Appends the values of the current record.
    private func append(
        to columns: inout [Column], _ relatedColumns: inout [RelatedColumn]
    ) throws(LarderError) {
        for (index, column) in table.attributes.enumerated() {
            try column.decoder.append(table.reader.field(column.field), to: &columns[index])
        }
        for (index, relationship) in table.relationships.enumerated() {
            relatedColumns[index].append(
                try table.fields(of: relationship), line: table.reader.line)
        }
    }

    private mutating func rows(
        of column: RelatedColumn, _ relationship: CSVTable.RelationshipColumns
    ) throws(LarderError) -> Column {
        var contents = [ObjectContent](repeating: ObjectContent(), count: column.lines.count)
        // The error of the first line is the one to report.
        for (fields, index) in column.indexes.sorted(by: { $0.value < $1.value }) {
            do throws(LarderError) {
                try table.read(fields, of: relationship, into: &contents[index])
            } catch {
                throw error.at(line: column.lines[index], of: table.fileName)
            }
        }
        try related.beginSet(contents)
        let name = relationship.relationship.name
        var values: [Value] = []
        for (index, content) in contents.enumerated() {
            do throws(LarderError) {
                values.append(try related.resolved(content).values[name] ?? .null)
            } catch {
                throw error.at(line: column.lines[index], of: table.fileName)
            }
        }
        var builder = try RowBuilder(
            table.decoder.entity, [name], in: table.decoder.schema, store: table.decoder.store)
        for index in column.rows {
            do throws(LarderError) {
                try builder.append([values[index]])
            } catch {
                throw error.at(line: column.lines[index], of: table.fileName)
            }
        }
        return builder.take().columns[0]
    }

    /// The column of rows that name no property.
    private func defaultColumns(rowCount: Int) throws(LarderError) -> [Column] {
        let entity = table.decoder.entity
        let names = entity.propertyOfEmptyRows
        var builder = try RowBuilder(
            entity, names, in: table.decoder.schema, store: table.decoder.store)
        for _ in 0..<rowCount { try builder.append(names.map { entity.defaultValue(of: $0) }) }
        return builder.take().columns
    }
}
