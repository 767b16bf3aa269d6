import FoundationEssentials
import LarderClient
import TestSupport
import Testing

@Suite("Live queries after random commits")
struct LiveQueryPropertyTests {
    private let daemon: TestDaemon
    private let client: StoreClient
    private let writer: StoreClient

    init() throws {
        daemon = try TestDaemon()
        client = try daemon.connect()
        writer = try daemon.connect()
    }

    /// The queries of the property test.
    private static let fetches: [(Fetch, QueryParameters)] = [
        (Fetch("Article"), QueryParameters()),
        (
            Fetch("Article", where: .format("wordCount > 5"), sort: [SortKey("title")]),
            QueryParameters()
        ),
        (
            Fetch(
                "Article", sort: [SortKey("wordCount", descending: true), SortKey("title")]),
            QueryParameters(limit: 4)
        ),
        (
            Fetch(
                "Article", where: .format("category.name BEGINSWITH \"a\""),
                sort: [SortKey("category.name"), SortKey("wordCount")]), QueryParameters()
        ),
        (
            Fetch(
                "Article", where: .format("category.articles.@count > 2 OR collection != nil"),
                selection: .columns(["title", "category.name", "collection.name"])),
            QueryParameters(limit: 6)
        ),
        (
            Fetch(
                "Category", where: .format("ANY articles.wordCount > 7"),
                sort: [SortKey("name", descending: true)]), QueryParameters()
        ),
        (
            Fetch(
                "Category",
                where: .format(
                    "SUBQUERY(articles, $a, $a.collection.name == name AND $a.wordCount < 8)"
                        + ".@count > 0")), QueryParameters()
        ),
        (
            Fetch(
                "ArticleCollection", where: .format("articles.@max.wordCount >= %@"),
                sort: [SortKey("articles.@count", descending: true)]),
            QueryParameters(arguments: [.value(6)])
        ),
        (
            Fetch("Article", where: .format("NOT (category.name IN %@)"), selection: .identifiers),
            QueryParameters(arguments: [.list(["a1", "b2"])])
        ),
    ]

    @Test("a live query always equals a fresh fetch, after any commits")
    func property() throws {
        var choice = SeededGenerator.fromEnvironment("live queries")
        let observers = Self.fetches.map { client.observe($0.0, $0.1) }
        var results = try observers.map { try #require(try $0.next(timeout: .seconds(30))) }
        try commitRandomly(&choice, queryCount: Self.fetches.count) { index in
            let (fetch, parameters) = Self.fetches[index]
            let current = try writer.currentToken()
            let expected = try writer.fetch(fetch, parameters).objects
            // The last result may be of an earlier commit that is the last to concern it.
            while results[index].rows != expected,
                let result = try observers[index].next(timeout: .seconds(10))
            {
                #expect(result.position <= current || result.rows == expected)
                results[index] = result
            }
            return results[index].rows == expected
                ? nil : "\(results[index].rows)\ninstead of\n\(expected)"
        }
    }

    @Test("a live count or aggregate always equals a fresh one, after any commits")
    func valuesProperty() throws {
        var choice = SeededGenerator.fromEnvironment("live aggregates")
        let observers = Self.aggregates.map { client.observeValues($0.0, $0.1) }
        var results = try observers.map { try #require(try $0.next(timeout: .seconds(30))) }
        try commitRandomly(&choice, queryCount: Self.aggregates.count) { index in
            let (query, parameters) = Self.aggregates[index]
            let expected = try fresh(query, parameters)
            while results[index] != expected,
                let result = try observers[index].next(timeout: .seconds(10))
            {
                results[index] = result
            }
            return results[index] == expected
                ? nil : "\(results[index])\ninstead of\n\(expected)"
        }
    }

    private func fresh(_ query: Query, _ parameters: QueryParameters) throws -> [Row] {
        let aggregate: Aggregate
        switch query {
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

    private static let statistics: [Aggregate.Column] = [
        .count, .init(.sum, "wordCount", name: "total"), .init(.average, "wordCount * 0.1"),
        .init(.minimum, "title"), .init(.maximum, "wordCount"), .init(.countDistinct, "title"),
        .init(.sum, "wordCount", where: "category.name CONTAINS \"1\"", name: "ones"),
    ]

    /// The last two cannot be computed from single objects.
    private static let aggregates: [(Query, QueryParameters)] = [
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

    /// Saves random change sets, and checks each query after some of them.
    ///
    /// - Parameter check: Returns what is wrong with a query, by its index.
    private func commitRandomly(
        _ choice: inout SeededGenerator, queryCount: Int, check: (Int) throws -> String?
    ) throws {
        var log: [String] = []
        for round in 0..<60 {
            for _ in 0..<Int.random(in: 1...4, using: &choice) {
                log.append(try commit(&choice))
            }
            for index in 0..<queryCount {
                guard let problem = try check(index) else { continue }
                Issue.record(
                    """
                    round \(round), query \(index), seed \(choice.seed):
                    \(problem)
                    after
                    \(log.suffix(8).joined(separator: "\n"))
                    """)
                return
            }
        }
    }

    /// Saves a random change set, and returns it as text.
    private func commit(_ choice: inout SeededGenerator) throws -> String {
        func objects(_ entity: String) throws -> [PersistentIdentifier] {
            try writer.fetch(entity).map(\.identifier)
        }
        func related(_ entity: String) throws -> Value {
            let known = try objects(entity).randomElement(using: &choice)
            return known.map { .object($0) } ?? .null
        }
        var changes: [Change] = []
        for number in 0..<Int.random(in: 1...3, using: &choice) {
            let entity =
                ["Article", "Article", "Category", "ArticleCollection"]
                .randomElement(using: &choice) ?? "Article"
            var values: [String: Value] = [:]
            let name = ["a1", "a2", "b1", "b2", "c"].randomElement(using: &choice) ?? "a"
            if entity == "Article" {
                values["title"] = .string(name)
                if Bool.random(using: &choice) {
                    values["wordCount"] = .int(.random(in: 0...10, using: &choice))
                }
                if Bool.random(using: &choice) { values["category"] = try related("Category") }
                if Bool.random(using: &choice) {
                    values["collection"] = try related("ArticleCollection")
                }
            } else {
                values["name"] = .string(
                    entity == "Category"
                        ? "\(name)-\(UInt16.random(in: 0...999, using: &choice))"
                        : name)
            }
            let existing = try objects(entity).randomElement(using: &choice)
            switch (Int.random(in: 0...5, using: &choice), existing) {
            case (0, let object?):
                if !changes.contains(where: { $0.identifierForTest == object }) {
                    changes.append(.delete(object, ifVersion: nil))
                }
            case (1...3, let object?):
                if !changes.contains(where: { $0.identifierForTest == object }) {
                    changes.append(.update(object, ifVersion: nil, values: values))
                }
            default:
                changes.append(
                    .insert(
                        PersistentIdentifier(temporary: "n\(number)", entityName: entity),
                        values: values))
            }
        }
        if Int.random(in: 0...9, using: &choice) == 0 {
            _ = try writer.updateAll(
                "Article", expressions: ["wordCount": "wordCount + 1"], where: "wordCount < 9")
        }
        do throws(LarderError) {
            _ = try writer.save(ChangeSet(changes))
        } catch {
            // Another change of the set deletes an object that this one refers to.
            return "refused: \(error.code)"
        }
        return changes.map { "\($0)" }.joined(separator: "; ")
    }
}

extension Change {
    fileprivate var identifierForTest: PersistentIdentifier? {
        switch self {
        case .insert(let identifier, _, _), .update(let identifier, _, _, _, _),
            .delete(let identifier, _):
            identifier
        case .updateAll, .deleteAll: nil
        }
    }
}

extension QueryTerm {
    fileprivate var text: String? { if case .format(let text) = self { text } else { nil } }
}
