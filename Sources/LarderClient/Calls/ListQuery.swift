import FoundationEssentials
import LarderModel
internal import LarderWire

/// A query whose whole result becomes one list. `fetch`, `count` and `aggregate` use it.
struct ListQuery<Element: Sendable>: Sendable {
    var query: Query
    var parameters: QueryParameters
    /// Makes the elements of one batch, which comes from the store with this identifier.
    var elements: @Sendable (Batch, UUID) throws(LarderError) -> [Element]

    func exchange() throws(LarderError) -> ListExchange<Element> {
        ListExchange(try QueryRequest(query, parameters), elements)
    }
}

extension ListQuery where Element == Record {
    static func fetch(
        _ entityName: String, where format: String?, arguments: [QueryArgument],
        variables: [String: QueryArgument], sort: [SortKey], limit: Int64?, offset: Int64?,
        includesSubentities: Bool
    ) -> Self {
        let fetch = Fetch(
            entityName, where: format.map { .format($0) }, sort: sort,
            includesSubentities: includesSubentities)
        return ListQuery(
            query: .fetch(fetch),
            parameters: QueryParameters(
                arguments: arguments, variables: variables, limit: limit, offset: offset),
            elements: { $0.records(store: $1) })
    }
}

extension ListQuery where Element == FoundRecord {
    static func objects(_ fetch: Fetch, _ parameters: QueryParameters) -> Self {
        ListQuery(query: .fetch(fetch), parameters: parameters) { batch, store in
            batch.records(store: store).map {
                FoundRecord(record: $0, isRelated: batch.prefetchPath != nil)
            }
        }
    }
}

extension ListQuery where Element == Row {
    static func count(
        _ entityName: String, where format: String?, arguments: [QueryArgument],
        variables: [String: QueryArgument], includesSubentities: Bool
    ) -> Self {
        ListQuery(
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
        return ListQuery(
            query: .aggregate(aggregate),
            parameters: QueryParameters(arguments: arguments, variables: variables, limit: limit),
            elements: { $0.rows(store: $1) })
    }

    /// The number in the one row that is the result of a count.
    ///
    /// - Throws: `malformedMessage` if there is no such row.
    static func total(_ rows: [Row]) throws(LarderError) -> Int64 {
        guard rows.count == 1, case .int(let total)? = rows[0]["count"] else {
            throw LarderError(.malformedMessage, "the server replied to a count without a number")
        }
        return total
    }
}
