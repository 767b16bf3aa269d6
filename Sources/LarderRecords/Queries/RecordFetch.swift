import FoundationEssentials

/// A fetch of records, translated for the client.
struct RecordFetch<Record: EntityRecord>: Sendable {
    private var fetch: Fetch
    private var parameters: QueryParameters
    private let limit: Int?

    /// - Throws: `unsupportedPredicate`; `malformedValue` for a negative limit or offset.
    init(
        where predicate: Predicate<Record.Fields>?, sort: [RecordSort<Record>], limit: Int?,
        offset: Int?, after cursor: RecordCursor<Record>?, includesSubentities: Bool
    ) throws(LarderError) {
        var arguments: [QueryArgument] = []
        fetch = Fetch(Record.entityName, includesSubentities: includesSubentities)
        if let predicate {
            let bound = try BoundExpression(predicate)
            arguments = bound.arguments
            fetch.predicate = .tree(bound.expression)
        }
        for sort in sort { fetch.sort.append(try sort.key(&arguments)) }
        // The values of the sort keys are selected to make the cursor of the last row.
        let keys = limit == nil ? [] : fetch.sort
        fetch.selection = .columns(
            Record.columns
                + keys.enumerated().map { QueryColumn($1.term, name: "sort key \($0 + 1)") })
        self.limit = limit
        parameters = QueryParameters(
            arguments: arguments, limit: limit.map(Int64.init), offset: offset.map(Int64.init),
            after: cursor?.values ?? [])
    }

    var query: Query { .fetch(fetch) }

    func page(_ store: StoreClient) throws(LarderError) -> RecordPage<Record> {
        page(of: try store.elements(query, parameters, elements))
    }

    func page(_ store: StoreClient) async throws(LarderError) -> RecordPage<Record> {
        page(of: try await store.elements(query, parameters, elements))
    }

    func stream(_ store: StoreClient) throws(LarderError) -> RecordStream<Record> {
        RecordStream(try store.stream(query, parameters))
    }

    func stream(_ store: StoreClient) async throws(LarderError) -> RecordStream<Record> {
        RecordStream(try await store.stream(query, parameters))
    }

    func observe(
        _ store: StoreClient, every interval: Duration
    ) -> LiveRecords<Record> {
        LiveRecords(store.observe(fetch, parameters, every: interval))
    }

    /// The records of a batch, and the cursor of its last row.
    private struct Part: Sendable {
        var records: [Record]
        var cursor: RecordCursor<Record>?
    }

    private var elements: @Sendable (Batch, UUID) throws(LarderError) -> [Part] {
        let hasLimit = limit != nil
        return { batch, store throws(LarderError) in
            let records = try Record.records(in: batch, store: store)
            var cursor: RecordCursor<Record>?
            if hasLimit, let last = records.last?.id {
                let row = batch.rowCount - 1
                let keys = batch.columns.dropFirst(Record.recordProperties.count)
                cursor = RecordCursor(
                    values: keys.map { $0.value(at: row, store: store) } + [.object(last)])
            }
            return [Part(records: records, cursor: cursor)]
        }
    }

    private func page(of parts: [Part]) -> RecordPage<Record> {
        let records = parts.count == 1 ? parts[0].records : parts.flatMap(\.records)
        return RecordPage(
            records: records,
            next: records.count == limit ? parts.last { $0.cursor != nil }?.cursor : nil)
    }
}
