import FoundationEssentials
import LarderModel

/// Prints the batches of a query as they come.
///
/// Whole objects are printed with `@id` in front, as JSON with `@id`, `@entity` and `@version`;
/// rows without identity as they are.
struct ResultPrinter {
    private var writer: any RowWriter
    private let format: OutputFormat
    private let store: UUID
    /// nil shows everything.
    private let asked: [ResultColumn]?
    private var hasBegun = false
    private(set) var rowCount = 0

    init(_ format: OutputFormat, store: UUID, columns: [ResultColumn]? = nil) {
        self.format = format
        self.writer = format.makeWriter()
        self.store = store
        self.asked = columns
    }

    mutating func print(_ batch: Batch) throws(LarderError) {
        let columns = shownColumns(batch)
        if !hasBegun {
            hasBegun = true
            try writer.begin(columns.map(\.name))
        }
        let places = try columns.map { (column) throws(LarderError) in
            try place(of: column, in: batch)
        }
        for row in 0..<batch.rowCount {
            try writer.write(places.map { value($0, row, batch) })
        }
        rowCount += batch.rowCount
    }

    mutating func end() throws(LarderError) {
        if !hasBegun { try writer.begin((asked ?? []).map(\.name)) }
        try writer.end()
    }

    private func shownColumns(_ batch: Batch) -> [ResultColumn] {
        if let asked { return asked }
        let properties = batch.columns.map { ResultColumn.expression(QueryColumn($0.name)) }
        guard batch.identity != nil else { return properties }
        return (format.isJSON ? [.identifier, .entity, .version] : [.identifier]) + properties
    }

    /// Where a column's values are found: in the identity, or in a column of the batch.
    private enum Place {
        case identifier, entity, version
        case column(Int)
    }

    private func place(of column: ResultColumn, in batch: Batch) throws(LarderError) -> Place {
        switch column {
        case .identifier where batch.identity != nil: return .identifier
        case .entity where batch.identity != nil: return .entity
        case .version where batch.identity != nil: return .version
        default: break
        }
        guard let index = batch.columns.firstIndex(where: { $0.name == column.name }) else {
            throw LarderError(
                .malformedMessage, "the server's answer lacks the column \(column.name)")
        }
        return .column(index)
    }

    private func value(_ place: Place, _ row: Int, _ batch: Batch) -> Value {
        guard let identity = batch.identity else {
            if case .column(let index) = place {
                return batch.value(row: row, column: index, store: store)
            }
            return .null
        }
        switch place {
        case .identifier:
            return .object(
                PersistentIdentifier(
                    store: store, entityName: identity.entityName(at: row),
                    key: identity.keys[row]))
        case .entity: return .string(identity.entityName(at: row))
        case .version: return .int(identity.versions[row])
        case .column(let index): return batch.value(row: row, column: index, store: store)
        }
    }
}
