public import FoundationEssentials

// Reading values from columns. Rows are numbered from 0. A batch from outside must pass
// `Batch.check()` first.

extension Batch {
    /// Returns the value in a row and a column, both from 0. `store` completes identifiers.
    public func value(row: Int, column: Int, store: UUID) -> Value {
        columns[column].value(at: row, store: store)
    }

    /// All rows, with the names of the columns.
    public func rows(store: UUID) -> [Row] {
        let names = columns.map(\.name)
        var rows: [Row] = []
        rows.reserveCapacity(rowCount)
        for _ in 0..<rowCount {
            var values: [Value] = []
            values.reserveCapacity(names.count)
            rows.append(Row(names: names, values: values))
        }
        for column in columns {
            column.read(0..<rowCount, store: store) { rows[$0].values.append($1) }
        }
        return rows
    }

    /// All rows as objects; empty if the batch has no identity.
    public func records(store: UUID) -> [Record] {
        guard let identity, rowCount > 0 else { return [] }
        var values = [String: Value](minimumCapacity: columns.count)
        for column in columns { values[column.name] = column.value(at: 0, store: store) }
        var records: [Record] = []
        records.reserveCapacity(rowCount)
        for row in 0..<rowCount {
            let identifier = PersistentIdentifier(
                store: store, entityName: identity.entityName(at: row), key: identity.keys[row])
            records.append(
                Record(identifier: identifier, version: identity.versions[row], values: values))
        }
        guard rowCount > 1 else { return records }
        // A copied dictionary has the same indexes, so names are hashed once and not for each row.
        for column in columns {
            guard let index = values.index(forKey: column.name) else { continue }
            column.read(1..<rowCount, store: store) { records[$0].values.values[index] = $1 }
        }
        return records
    }
}

extension Column {
    /// Returns the value of a row, from 0. `store` completes identifiers.
    public func value(at row: Int, store: UUID) -> Value {
        var value = Value.null
        read(row..<row + 1, store: store) { value = $1 }
        return value
    }

    /// Stores the values of all rows, each at an index in the list of its row.
    ///
    /// - Parameter index: The index for a row; nil leaves the row's list as it is.
    package func store(
        in rows: inout [[Value?]], store: UUID, at index: (_ row: Int) -> Int?
    ) {
        read(0..<rowCount, store: store) { row, value in
            if let index = index(row) { rows[row][index] = value }
        }
    }

    /// The form with one index for all rows.
    package func store(in rows: inout [[Value?]], store: UUID, at index: Int) {
        read(0..<rowCount, store: store) { rows[$0][index] = $1 }
    }

    /// Passes the values of a range of rows, from 0, to `body`, each with its row. The column's
    /// form is examined once, not for each row.
    @inline(__always)
    func read(_ rows: Range<Int>, store: UUID, _ body: (Int, Value) -> Void) {
        switch (storage, kind) {
        case (.integers(let values), .attribute(.bool)):
            read(rows, body) { .bool(values[$0] != 0) }
        case (.integers(let values), .object(let entityName)):
            read(rows, body) { row in
                .object(identifier(values[row], at: row, among: entityName, store))
            }
        case (.integers(let values), _):
            read(rows, body) { .int(values[$0]) }
        case (.doubles(let values), .attribute(.float)):
            read(rows, body) { .float(Float(values[$0])) }
        case (.doubles(let values), .attribute(.date)):
            read(rows, body) { .date(Date(timeIntervalSinceReferenceDate: values[$0])) }
        case (.doubles(let values), _):
            read(rows, body) { .double(values[$0]) }
        case (.bytes(let heap, let ends), _):
            read(rows, body) { Self.value(of: heap[Self.range(of: $0, in: ends)], kind) }
        case (.lists(let keys, let ends), .objects(let entityName)):
            read(rows, body) { row in
                .objects(
                    Self.range(of: row, in: ends).map {
                        identifier(keys[$0], at: $0, among: entityName, store)
                    })
            }
        case (.lists, _):
            read(rows, body) { _ in .null }
        }
    }

    @inline(__always)
    private func read(_ rows: Range<Int>, _ body: (Int, Value) -> Void, _ value: (Int) -> Value) {
        for row in rows { body(row, isNull(at: row) ? .null : value(row)) }
    }

    private func identifier(
        _ key: Int64, at index: Int, among entityName: String, _ store: UUID
    ) -> PersistentIdentifier {
        PersistentIdentifier(
            store: store, entityName: subentities.entityName(at: index, among: entityName), key: key
        )
    }

    /// Decodes bytes of the heap; null for text that is not a valid value of its type.
    static func value(of bytes: ArraySlice<UInt8>, _ kind: Kind) -> Value {
        guard case .attribute(let type) = kind else { return .null }
        switch type {
        case .data: return .data(Data(bytes))
        case .uuid: return UUID(bytes: bytes).map { .uuid($0) } ?? .null
        case .string: return .string(String(decoding: bytes, as: UTF8.self))
        case .json: return .json(String(decoding: bytes, as: UTF8.self))
        case .url:
            let text = String(decoding: bytes, as: UTF8.self)
            return URL(string: text, encodingInvalidCharacters: false).map { .url($0) } ?? .null
        case .decimal:
            return Decimal(exactly: String(decoding: bytes, as: UTF8.self)).map { .decimal($0) }
                ?? .null
        case .bool, .int16, .int32, .int64, .float, .double, .date: return .null
        }
    }

    /// The range of a row's bytes or keys, given the end offsets of all rows.
    static func range(of row: Int, in ends: [UInt32]) -> Range<Int> {
        (row == 0 ? 0 : Int(ends[row - 1]))..<Int(ends[row])
    }
}
