import LarderModel

/// Makes batches of the rows that a scan hands over: see ``HandedRows``.
struct ScanDecoder {
    private let query: ResolvedQuery
    /// The rows of the batch that was read last.
    private var rows: HandedRows
    /// That with which the next one begins.
    private var nextRows: HandedRows

    init(_ query: ResolvedQuery) {
        self.query = query
        var forms: [Column.Form] = query.hasIdentity ? [.integers, .integers] : []
        forms += query.columns.filter { !$0.isList }.map(\.kind.form)
        rows = HandedRows(forms)
        nextRows = HandedRows(forms)
    }

    /// Reads the next batch.
    ///
    /// - Returns: whether the statement has more rows.
    mutating func read(
        _ statement: Statement, _ session: ReadSession, bytesMax: Int
    ) throws(ReadFailure) -> Bool {
        (rows, nextRows) = (nextRows, rows)
        nextRows.removeAll()
        rows.receive(untilBytes: bytesMax, then: nextRows)
        return try session.step(statement, handingOver: rows)
    }

    /// The batch that was read, without its lists.
    var batch: Batch {
        let identity =
            query.hasIdentity
            ? Batch.Identity(
                entityName: query.entityName, keys: rows.integers(0), versions: rows.integers(1))
            : nil
        var place = query.hasIdentity ? 2 : 0
        let columns = query.columns.map { column in
            if column.isList { return Column(name: column.name, kind: column.kind) }
            defer { place += 1 }
            return Column(
                name: column.name, kind: column.kind, storage: storage(column.kind, at: place),
                nulls: rows.nulls(place))
        }
        return Batch(rowCount: rows.rowCount, identity: identity, columns: columns)
    }

    private func storage(_ kind: Column.Kind, at place: Int) -> Column.Storage {
        switch kind.form {
        case .integers: .integers(rows.integers(place))
        case .doubles: .doubles(rows.doubles(place))
        case .bytes: .bytes(heap: rows.heap(place), ends: rows.ends(place))
        case .lists: preconditionFailure("lists have statements of their own")
        }
    }
}
