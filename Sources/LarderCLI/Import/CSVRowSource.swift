import LarderModel
import LarderQuery

/// Makes rows of the records of a CSV file, column by column.
struct CSVRowSource: RowSource {
    private var table: CSVTable
    private var related: RelatedObjects
    private var relatedColumns: [RelatedColumn]

    init(_ table: CSVTable, _ related: RelatedObjects) {
        self.table = table
        self.related = related
        relatedColumns = table.relationships.map { RelatedColumn($0.relationship) }
    }

    /// The objects of one relationship. Many rows have the same object, so the texts of its fields
    /// are read once.
    fileprivate struct RelatedColumn {
        /// The size of the texts above which all objects are forgotten before the next batch.
        static let bytesMax = 8 << 20

        private var indexes: [String?: Int] = [:]
        var byteCount = 0
        /// The objects by index, except the new ones.
        var known: Column
        /// The fields and the first line of each object that the current batch names first.
        var new: [(fields: [String?], line: Int)] = []
        /// The index of the object of each row of the current batch.
        var rows: [Int] = []

        init(_ relationship: Relationship) {
            known = Column(
                name: relationship.name, kind: Property.relationship(relationship).columnKind)
        }

        mutating func append(_ fields: [String?], line: Int) {
            let key = fields.count == 1 ? fields[0] : Self.key(of: fields)
            if let index = indexes[key] { return rows.append(index) }
            let index = indexes.count
            indexes[key] = index
            rows.append(index)
            new.append((fields, line))
            byteCount += 32 + (key?.utf8.count ?? 0)
        }

        mutating func forget() {
            indexes = [:]
            byteCount = 0
            known.removeAll(keepingCapacity: false)
        }

        /// Each text follows its length, so that other fields have another key.
        private static func key(of fields: [String?]) -> String {
            fields.map { $0.map { "\($0.utf8.count) \($0)" } ?? "-" }.joined()
        }
    }

    mutating func next() throws(LarderError) -> SourceRows? {
        var columns = table.attributes.map { column in
            Column(name: column.decoder.attributeName, kind: .attribute(column.decoder.type))
        }
        var lines: [Int] = []
        var bytes = 0
        while lines.count < SourceRows.rowsMax, bytes < SourceRows.bytesMax, try table.next() {
            do throws(LarderError) {
                try append(to: &columns)
            } catch {
                throw table.located(error)
            }
            lines.append(table.reader.line)
            bytes += table.reader.byteCount
        }
        guard !lines.isEmpty else { return nil }
        for index in relatedColumns.indices {
            try findNewObjects(of: index)
            columns.append(relatedColumns[index].takeRows())
        }
        if columns.isEmpty { columns = try defaultColumns(rowCount: lines.count) }
        return SourceRows(batch: Batch(rowCount: lines.count, columns: columns), lines: lines)
    }

    /// Appends the values of the current record.
    private mutating func append(to columns: inout [Column]) throws(LarderError) {
        for (index, column) in table.attributes.enumerated() {
            try column.decoder.append(table.reader.field(column.field), to: &columns[index])
        }
        for (index, relationship) in table.relationships.enumerated() {
            relatedColumns[index].append(
                try table.fields(of: relationship), line: table.reader.line)
        }
    }

    /// Finds the objects of a relationship that the batch names first.
    private mutating func findNewObjects(of index: Int) throws(LarderError) {
        let relationship = table.relationships[index]
        let new = relatedColumns[index].new
        var contents: [ObjectContent] = []
        for (fields, line) in new {
            var content = ObjectContent()
            do throws(LarderError) {
                try table.read(fields, of: relationship, into: &content)
            } catch {
                throw error.at(line: line, of: table.fileName)
            }
            contents.append(content)
        }
        try related.beginSet(contents)
        let name = relationship.relationship.name
        var builder = try RowBuilder(
            table.decoder.entity, [name], in: table.decoder.schema, store: table.decoder.store)
        for (row, content) in contents.enumerated() {
            do throws(LarderError) {
                try builder.append([related.resolved(content).values[name] ?? .null])
            } catch {
                throw error.at(line: new[row].line, of: table.fileName)
            }
        }
        let found = builder.take().columns[0]
        for row in contents.indices { relatedColumns[index].known.append(row, of: found) }
        relatedColumns[index].new = []
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

extension CSVRowSource.RelatedColumn {
    /// The objects of the rows of the batch, whose new objects are known now.
    fileprivate mutating func takeRows() -> Column {
        var result = Column(name: known.name, kind: known.kind)
        for index in rows { result.append(index, of: known) }
        rows = []
        if byteCount > Self.bytesMax { forget() }
        return result
    }
}

extension Column {
    /// Appends a row of another column of related objects.
    fileprivate mutating func append(_ row: Int, of other: Column) {
        switch kind {
        case _ where other.isNull(at: row): appendNull()
        case .object(let destination):
            append(
                object: other.integers[row],
                of: other.subentities.entityName(at: row, among: destination))
        case .objects(let destination):
            let elements = (row == 0 ? 0 : Int(other.ends[row - 1]))..<Int(other.ends[row])
            append(
                keys: Array(other.integers[elements]),
                of: elements.map { other.subentities.entityName(at: $0, among: destination) })
        case .attribute: preconditionFailure("not a column of related objects")
        }
    }
}
