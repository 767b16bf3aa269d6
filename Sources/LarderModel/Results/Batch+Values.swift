public import FoundationEssentials

// Reading values out of columns. Rows are from 0 to `rowCount`; a batch that came from outside is
// read after `Batch.check()` has passed it.

extension Batch {
    /// The value of a row in a column, both from 0; `store` completes the identifiers.
    public func value(row: Int, column: Int, store: UUID) -> Value {
        columns[column].value(at: row, store: store)
    }

    /// Every row, its values named as the columns are.
    public func rows(store: UUID) -> [Row] {
        let names = columns.map(\.name)
        // A span lends its elements; a loop over the array would copy each.
        let columns = self.columns.span
        return (0..<rowCount).map { row in
            var values: [Value] = []
            values.reserveCapacity(columns.count)
            for index in columns.indices {
                values.append(columns[index].value(at: row, store: store))
            }
            return Row(names: names, values: values)
        }
    }

    /// Every row as the object that it is; none where the batch has no identity.
    public func records(store: UUID) -> [Record] {
        guard let identity, rowCount > 0 else { return [] }
        // A span lends its elements; a loop over the array would copy each.
        let columns = self.columns.span
        var values = [String: Value](minimumCapacity: columns.count)
        for index in columns.indices { values[columns[index].name] = .null }
        // A copy of a dictionary has its keys in the same places, so that names are hashed once.
        let places = self.columns.map { values.index(forKey: $0.name) }
        var records: [Record] = []
        records.reserveCapacity(rowCount)
        for row in 0..<rowCount {
            for index in columns.indices {
                guard let place = places[index] else { continue }
                values.values[place] = columns[index].value(at: row, store: store)
            }
            let identifier = PersistentIdentifier(
                store: store, entityName: identity.entityName(at: row), key: identity.keys[row])
            records.append(
                Record(identifier: identifier, version: identity.versions[row], values: values))
        }
        return records
    }
}

extension Column {
    /// The value of a row, from 0; `store` completes the identifiers.
    public func value(at row: Int, store: UUID) -> Value {
        if isNull(at: row) { return .null }
        return switch (storage, kind) {
        case (.integers(let values), .attribute(.bool)): .bool(values[row] != 0)
        case (.integers(let values), .object(let entityName)):
            .object(
                PersistentIdentifier(
                    store: store,
                    entityName: subentities.entityName(at: row, among: entityName),
                    key: values[row]))
        case (.integers(let values), _): .int(values[row])
        case (.doubles(let values), .attribute(.float)): .float(Float(values[row]))
        case (.doubles(let values), .attribute(.date)):
            .date(Date(timeIntervalSinceReferenceDate: values[row]))
        case (.doubles(let values), _): .double(values[row])
        case (.bytes(let heap, let ends), _):
            Self.value(of: heap[Self.range(of: row, in: ends)], kind)
        case (.lists(let keys, let ends), .objects(let entityName)):
            .objects(
                Self.range(of: row, in: ends).map { place in
                    PersistentIdentifier(
                        store: store,
                        entityName: subentities.entityName(at: place, among: entityName),
                        key: keys[place])
                })
        case (.lists, _): .null
        }
    }

    /// What a part of the heap means; nil for a text that is no value of its type.
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

    /// The places of a row in a heap of which `ends` says where each row ends.
    static func range(of row: Int, in ends: [UInt32]) -> Range<Int> {
        (row == 0 ? 0 : Int(ends[row - 1]))..<Int(ends[row])
    }
}
