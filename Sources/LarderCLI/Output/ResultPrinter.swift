import FoundationEssentials
import LarderModel

/// Prints the batches of a query as they arrive.
///
/// Whole objects are printed with `@id` as the first column, as JSON with `@id`, `@entity` and
/// `@version`. Rows without identity are printed without these.
struct ResultPrinter {
    private var writer: any RowWriter
    private let format: OutputFormat
    private let store: UUID
    /// The selected columns; nil for all.
    private let selected: [ResultColumn]?
    private let decimals: [String: ShownDecimal]
    private var hasBegun = false
    private(set) var rowCount = 0

    init(
        _ format: OutputFormat, store: UUID, columns: [ResultColumn]? = nil,
        decimals: [String: ShownDecimal] = [:]
    ) {
        self.format = format
        self.writer = format.makeWriter()
        self.store = store
        self.selected = columns
        self.decimals = decimals
    }

    mutating func print(_ batch: Batch) throws(LarderError) {
        let columns = shownColumns(batch)
        if !hasBegun {
            hasBegun = true
            try writer.begin(columns.map(\.name), decimals: decimals)
        }
        let sources = try columns.map { (column) throws(LarderError) in
            try source(of: column, in: batch)
        }
        for row in 0..<batch.rowCount {
            try writer.write(sources.map { value($0, row, batch) })
        }
        rowCount += batch.rowCount
    }

    mutating func end() throws(LarderError) {
        if !hasBegun { try writer.begin((selected ?? []).map(\.name)) }
        try writer.end()
    }

    private func shownColumns(_ batch: Batch) -> [ResultColumn] {
        if let selected { return selected }
        let properties = batch.columns.map { ResultColumn.expression(QueryColumn($0.name)) }
        guard batch.identity != nil else { return properties }
        return (format.isJSON ? [.identifier, .entity, .version] : [.identifier]) + properties
    }

    /// The source of the values of a column: the identity, or a column of the batch.
    private enum Source {
        case identifier, entity, version
        case column(Int)
    }

    private func source(of column: ResultColumn, in batch: Batch) throws(LarderError) -> Source {
        switch column {
        case .identifier where batch.identity != nil: return .identifier
        case .entity where batch.identity != nil: return .entity
        case .version where batch.identity != nil: return .version
        default: break
        }
        guard let index = batch.columns.firstIndex(where: { $0.name == column.name }) else {
            throw LarderError(
                .malformedMessage, "the reply of the server lacks the column \(column.name)")
        }
        return .column(index)
    }

    private func value(_ source: Source, _ row: Int, _ batch: Batch) -> Value {
        guard let identity = batch.identity else {
            if case .column(let index) = source {
                return batch.value(row: row, column: index, store: store)
            }
            return .null
        }
        switch source {
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
