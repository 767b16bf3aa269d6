public import FoundationEssentials

// Reading records, blocking. `StoreClient+AsyncRecordQueries.swift` has the asynchronous forms.

extension StoreClient {
    /// The object as a record; nil if it is deleted.
    ///
    /// - Throws: `foreignIdentifier`, `wrongType`, `missingValue`.
    public func object<Record: EntityRecord>(
        for reference: Ref<Record>
    ) throws(LarderError) -> Record? {
        try objects(for: [reference]).first
    }

    /// The objects that exist as records, in the order of the references.
    ///
    /// - Throws: as `object(for:)` does.
    public func objects<Record: EntityRecord>(
        for references: [Ref<Record>]
    ) throws(LarderError) -> [Record] {
        try Record.records(
            objects(for: references.map(\.id), properties: Record.propertyNames))
    }

    /// The records that satisfy a predicate.
    ///
    ///     let books = try store.fetch(
    ///         Book.self, where: #Predicate { $0.author.name == name }, sort: [.init(\.title)],
    ///         limit: 50)
    ///
    /// - Parameters:
    ///   - predicate: nil is all objects of the entity.
    ///   - limit: The maximum number of records; nil is no limit.
    ///   - offset: The number of records to skip.
    ///   - cursor: ``RecordPage/next`` of the page before, of a fetch with the same sort.
    /// - Throws: `unsupportedPredicate`, `unknownEntity`, `unknownProperty`, `wrongType`,
    ///   `missingValue`.
    public func fetch<Record: EntityRecord>(
        _ type: Record.Type, where predicate: Predicate<Record.Fields>? = nil,
        sort: [RecordSort<Record>] = [], limit: Int? = nil, offset: Int? = nil,
        after cursor: RecordCursor<Record>? = nil, includesSubentities: Bool = true
    ) throws(LarderError) -> RecordPage<Record> {
        try RecordFetch(
            where: predicate, sort: sort, limit: limit, offset: offset, after: cursor,
            includesSubentities: includesSubentities
        ).page(self)
    }

    /// The number of objects that satisfy a predicate.
    ///
    /// - Throws: as `fetch` does.
    public func count<Record: EntityRecord>(
        _ type: Record.Type, where predicate: Predicate<Record.Fields>? = nil,
        includesSubentities: Bool = true
    ) throws(LarderError) -> Int {
        guard let predicate else {
            return Int(try count(Record.entityName, includesSubentities: includesSubentities))
        }
        return Int(try count(where: predicate, includesSubentities: includesSubentities))
    }

    /// Values that the store computes over groups of objects, as tuples.
    ///
    ///     let rows = try store.aggregate(
    ///         Book.self, .group(\.author.name), .count.named("books"), .average(\.pages),
    ///         sort: [SortKey("books", descending: true)])
    ///     for (author, books, pages) in rows { … }
    ///
    /// - Parameters:
    ///   - columns: What each row has, in this order. Objects are grouped by the columns that are
    ///     made with `group`; without one there is a single row.
    ///   - having: A predicate over named columns, in Core Data's format.
    ///   - sort: Named columns, or expressions over them.
    /// - Throws: as `fetch` does.
    public func aggregate<Record: EntityRecord, each Output: Sendable>(
        _ type: Record.Type, where predicate: Predicate<Record.Fields>? = nil,
        _ columns: repeat RecordColumn<Record, each Output>, having: String? = nil,
        sort: [SortKey] = [], limit: Int? = nil
    ) throws(LarderError) -> [(repeat each Output)] {
        var aggregate = try RecordAggregate<Record>(
            where: predicate, having: having, sort: sort, limit: limit)
        for column in repeat each columns { try aggregate.append(column.column) }
        var rows: [(repeat each Output)] = []
        for var row in try aggregate.rows(self) {
            rows.append((repeat try row.next(each columns)))
        }
        return rows
    }

    /// The records that satisfy a predicate, read in batches, in bounded memory.
    ///
    /// - Throws: `unsupportedPredicate`, and errors of the connection; the stream throws the
    ///   errors of the query.
    public func stream<Record: EntityRecord>(
        _ type: Record.Type, where predicate: Predicate<Record.Fields>? = nil,
        sort: [RecordSort<Record>] = [], includesSubentities: Bool = true
    ) throws(LarderError) -> RecordStream<Record> {
        try RecordFetch(
            where: predicate, sort: sort, limit: nil, offset: nil, after: nil,
            includesSubentities: includesSubentities
        ).stream(self)
    }

    /// The records that satisfy a predicate, and each change of them by a commit, also of other
    /// processes.
    ///
    ///     for try await books in try store.observe(Book.self, sort: [.init(\.title)]) {
    ///         show(books.records)
    ///     }
    ///
    /// - Parameter interval: The shortest time between two results; zero is one for each commit.
    /// - Throws: `unsupportedPredicate`; the results throw the errors of the query.
    public func observe<Record: EntityRecord>(
        _ type: Record.Type, where predicate: Predicate<Record.Fields>? = nil,
        sort: [RecordSort<Record>] = [], limit: Int? = nil, every interval: Duration = .zero,
        includesSubentities: Bool = true
    ) throws(LarderError) -> LiveRecords<Record> {
        try RecordFetch(
            where: predicate, sort: sort, limit: limit, offset: nil, after: nil,
            includesSubentities: includesSubentities
        ).observe(self, every: interval)
    }
}

extension EntityRecord {
    /// Objects that were read with all properties of the type.
    static func records(_ objects: [LarderModel.Record]) throws(LarderError) -> [Self] {
        var records: [Self] = []
        records.reserveCapacity(objects.count)
        for object in objects { records.append(try object.value()) }
        return records
    }
}
