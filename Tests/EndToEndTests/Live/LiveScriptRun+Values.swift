import LarderClient

/// Counts and aggregates that are observed while the commits of a script run.
extension LiveScriptRun {
    struct ObservedValues {
        let query: Query
        let parameters: QueryParameters
        let values: LiveValues
        var rows: [Row]
    }

    private static let statistics: [Aggregate.Column] = [
        .count, .init(.sum, "wordCount", name: "total"), .init(.average, "wordCount * 0.1"),
        .init(.minimum, "title"), .init(.maximum, "wordCount"), .init(.countDistinct, "title"),
        .init(.sum, "wordCount", where: "category.name CONTAINS \"1\"", name: "ones"),
    ]

    /// The last two cannot be computed from single objects.
    static let aggregates: [(Query, QueryParameters)] = [
        (.count(entityName: "Article", predicate: nil), QueryParameters()),
        (
            .count(entityName: "Article", predicate: .format("category.name BEGINSWITH %@")),
            QueryParameters(arguments: [.value("a")])
        ),
        (
            .count(entityName: "Category", predicate: .format("ANY articles.wordCount > 7")),
            QueryParameters()
        ),
        (.aggregate(Aggregate("Article", statistics)), QueryParameters()),
        (
            .aggregate(
                Aggregate(
                    "Article", where: .format("wordCount != 3"), groupBy: ["category.name"],
                    statistics, sort: [SortKey("total", descending: true)])),
            QueryParameters(limit: 5)
        ),
        (
            .aggregate(
                Aggregate(
                    "Article", groupBy: ["collection", "title"], statistics,
                    having: .format("total > %@ OR ones == 0"), sort: [SortKey("ones")])),
            QueryParameters(arguments: [.value(6)])
        ),
        (
            .aggregate(
                Aggregate(
                    "ArticleCollection", groupBy: [.init("articles.@count", name: "size")],
                    [.count, .init(.maximum, "articles.@sum.wordCount", name: "most")])),
            QueryParameters()
        ),
        (
            .aggregate(
                Aggregate("Article", groupBy: ["collection.name"], [.init(.median, "wordCount")])),
            QueryParameters()
        ),
        (
            .aggregate(
                Aggregate(
                    "Article", groupBy: ["title"], statistics, having: .format("total * 2 > 8"),
                    sort: [SortKey("0 - total"), SortKey("title")])),
            QueryParameters()
        ),
    ]

    func observe(_ query: Query, _ parameters: QueryParameters) throws {
        let values = client.observeValues(query, parameters)
        guard let rows = try values.next(timeout: Self.patience) else {
            throw LiveScript.Unreadable(description: "no first result of \(query)")
        }
        observedValues.append(
            ObservedValues(query: query, parameters: parameters, values: values, rows: rows))
    }

    /// The differences between the observed values and fresh ones.
    func checkValues() throws -> [String] {
        var differences: [String] = []
        for index in observedValues.indices {
            let expected = try fresh(observedValues[index])
            while observedValues[index].rows != expected,
                let rows = try observedValues[index].values.next(timeout: patience)
            {
                observedValues[index].rows = rows
            }
            let rows = observedValues[index].rows
            if rows != expected {
                differences.append(
                    "aggregate \(index + 1) has \(rows.map(\.values)) instead of "
                        + "\(expected.map(\.values))")
            }
        }
        return differences
    }

    private func fresh(_ observed: ObservedValues) throws -> [Row] {
        let aggregate: Aggregate
        let parameters = observed.parameters
        switch observed.query {
        case .aggregate(let given): aggregate = given
        case .count(let entityName, let predicate, _):
            aggregate = Aggregate(entityName, where: predicate, [.count])
        case .fetch: return []
        }
        return try writer.aggregate(
            aggregate.entityName, where: aggregate.predicate?.text,
            arguments: parameters.arguments, groupBy: aggregate.groupBy, aggregate.columns,
            having: aggregate.having?.text, sort: aggregate.sort, limit: parameters.limit)
    }
}

extension QueryTerm {
    fileprivate var text: String? { if case .format(let text) = self { text } else { nil } }
}
