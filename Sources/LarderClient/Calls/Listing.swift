import FoundationEssentials
import LarderModel
import LarderWire

/// A query whose whole answer becomes one list: what `fetch`, `count` and `aggregate` are made of.
struct Listing<Element: Sendable>: Sendable {
    var query: Query
    var parameters: QueryParameters
    /// The elements of one batch, given the store that it came from.
    var elements: @Sendable (Batch, UUID) -> [Element]

    /// The query on the wire, without a bound on how far the server may be ahead.
    func request() throws(LarderError) -> QueryRequest {
        try QueryRequest(query, parameters)
    }

    /// - Returns: whether this was the last reply.
    func append(
        _ reply: Reply, _ welcome: Welcome, to list: inout [Element]
    ) throws(LarderError) -> Bool {
        guard case .encodedBatches(let rows, let more) = reply else { throw .answerMismatch }
        for batch in try rows.batches() { list += elements(batch, welcome.storeIdentifier) }
        return !more
    }
}

extension Listing where Element == Record {
    static func fetch(
        _ entityName: String, where format: String?, arguments: [QueryArgument],
        variables: [String: QueryArgument], sort: [SortKey], limit: Int64?, offset: Int64?,
        includesSubentities: Bool
    ) -> Self {
        let fetch = Fetch(
            entityName, where: format.map { .format($0) }, sort: sort,
            includesSubentities: includesSubentities)
        return Listing(
            query: .fetch(fetch),
            parameters: QueryParameters(
                arguments: arguments, variables: variables, limit: limit, offset: offset),
            elements: { $0.records(store: $1) })
    }
}

extension Listing where Element == FoundRecord {
    static func objects(_ fetch: Fetch, _ parameters: QueryParameters) -> Self {
        Listing(query: .fetch(fetch), parameters: parameters) { batch, store in
            batch.records(store: store).map {
                FoundRecord(record: $0, isRelated: batch.relatedBy != nil)
            }
        }
    }
}

extension Listing where Element == Row {
    static func count(
        _ entityName: String, where format: String?, arguments: [QueryArgument],
        variables: [String: QueryArgument], includesSubentities: Bool
    ) -> Self {
        Listing(
            query: .count(
                entityName: entityName, predicate: format.map { .format($0) },
                includesSubentities: includesSubentities),
            parameters: QueryParameters(arguments: arguments, variables: variables),
            elements: { $0.rows(store: $1) })
    }

    static func aggregate(
        _ entityName: String, where format: String?, arguments: [QueryArgument],
        variables: [String: QueryArgument], groupBy: [QueryColumn], _ columns: [Aggregate.Column],
        having: String?, sort: [SortKey], limit: Int64?, includesSubentities: Bool
    ) -> Self {
        let aggregate = Aggregate(
            entityName, where: format.map { .format($0) }, groupBy: groupBy, columns,
            having: having.map { .format($0) }, sort: sort,
            includesSubentities: includesSubentities)
        return Listing(
            query: .aggregate(aggregate),
            parameters: QueryParameters(arguments: arguments, variables: variables, limit: limit),
            elements: { $0.rows(store: $1) })
    }

    /// The number in the one row that answers a count.
    static func total(_ rows: [Row]) throws(LarderError) -> Int64 {
        guard rows.count == 1, case .int(let total)? = rows[0]["count"] else {
            throw LarderError(.malformedMessage, "the server answered a count without a number")
        }
        return total
    }
}
