public import FoundationEssentials

// The asynchronous forms of `StoreClient+RecordQueries.swift`. Each means the same as the blocking
// form.

extension StoreClient {
    /// The object as a record; nil if it is deleted.
    ///
    /// - Throws: what the blocking form throws, and `cancelled` if the task is cancelled.
    public func object<Record: EntityRecord>(
        for reference: Ref<Record>
    ) async throws(LarderError) -> Record? {
        try await objects(for: [reference]).first
    }

    /// The objects that exist as records, in the order of the references.
    ///
    /// - Throws: what the blocking form throws, and `cancelled` if the task is cancelled.
    public func objects<Record: EntityRecord>(
        for references: [Ref<Record>]
    ) async throws(LarderError) -> [Record] {
        try await Record.records(
            objects(for: references.map(\.id), properties: Record.propertyNames))
    }

    /// The records that satisfy a predicate.
    ///
    /// - Throws: what the blocking form throws, and `cancelled` if the task is cancelled.
    public func fetch<Record: EntityRecord>(
        _ type: Record.Type, where predicate: Predicate<Record.Fields>? = nil,
        sort: [RecordSort<Record>] = [], limit: Int? = nil, offset: Int? = nil,
        after cursor: RecordCursor<Record>? = nil, includesSubentities: Bool = true
    ) async throws(LarderError) -> RecordPage<Record> {
        try await RecordFetch(
            where: predicate, sort: sort, limit: limit, offset: offset, after: cursor,
            includesSubentities: includesSubentities
        ).page(self)
    }

    /// The number of objects that satisfy a predicate.
    ///
    /// - Throws: what the blocking form throws, and `cancelled` if the task is cancelled.
    public func count<Record: EntityRecord>(
        _ type: Record.Type, where predicate: Predicate<Record.Fields>? = nil,
        includesSubentities: Bool = true
    ) async throws(LarderError) -> Int {
        guard let predicate else {
            return Int(try await count(Record.entityName, includesSubentities: includesSubentities))
        }
        return Int(try await count(where: predicate, includesSubentities: includesSubentities))
    }

    /// Values that the store computes over groups of objects, as tuples.
    ///
    /// - Throws: what the blocking form throws, and `cancelled` if the task is cancelled.
    public func aggregate<Record: EntityRecord, each Output: Sendable>(
        _ type: Record.Type, where predicate: Predicate<Record.Fields>? = nil,
        _ columns: repeat RecordColumn<Record, each Output>, having: String? = nil,
        sort: [SortKey] = [], limit: Int? = nil
    ) async throws(LarderError) -> [(repeat each Output)] {
        var aggregate = try RecordAggregate<Record>(
            where: predicate, having: having, sort: sort, limit: limit)
        for column in repeat each columns { try aggregate.append(column.column) }
        var rows: [(repeat each Output)] = []
        for var row in try await aggregate.rows(self) {
            rows.append((repeat try row.next(each columns)))
        }
        return rows
    }

    /// The records that satisfy a predicate, read in batches, in bounded memory.
    ///
    /// - Throws: what the blocking form throws, and `cancelled` if the task is cancelled.
    public func stream<Record: EntityRecord>(
        _ type: Record.Type, where predicate: Predicate<Record.Fields>? = nil,
        sort: [RecordSort<Record>] = [], includesSubentities: Bool = true
    ) async throws(LarderError) -> RecordStream<Record> {
        try await RecordFetch(
            where: predicate, sort: sort, limit: nil, offset: nil, after: nil,
            includesSubentities: includesSubentities
        ).stream(self)
    }
}
