import FoundationEssentials
import LarderModel
import LarderQuery
import TestSupport
import Testing

@Suite("What an observed query depends on")
struct QueryDependenciesTests {
    private let schema: Schema

    init() throws {
        schema = try SchemaFile.schema(parsing: ArticleSchema.text)
    }

    /// For example `category* name`: a to-many path, and the properties at its end.
    private func paths(_ query: Query, _ arguments: [QueryArgument] = []) throws -> [String] {
        let observable = try ObservableQuery(
            query, QueryParameters(arguments: arguments), in: schema, store: UUID())
        return observable.dependencies.paths.map { path in
            "\(path.relationships.joined(separator: "."))\(path.isToMany ? "*" : "") "
                + path.properties.sorted().joined(separator: ",")
        }
    }

    private func paths(
        _ format: String, sort: [SortKey] = [], _ arguments: [QueryArgument] = []
    ) throws -> [String] {
        try paths(.fetch(Fetch("Article", where: .format(format), sort: sort)), arguments)
    }

    @Test("an observed query depends on the properties of its own objects")
    func own() throws {
        #expect(try paths("words > 3 AND title BEGINSWITH \"a\"") == [" title,words"])
        #expect(try paths("TRUEPREDICATE", sort: [SortKey("title")]) == [" title"])
        #expect(try paths("details.a.b == 1") == [" details"])
        #expect(try paths("%K > %@", ["words", .value(.int(3))]) == [" words"])
    }

    @Test("an observed query depends on the objects along its key paths")
    func related() throws {
        #expect(
            try paths("category.parent.name == \"x\"")
                == [" category", "category parent", "category.parent name"])
        #expect(try paths("ANY tags.name == \"x\"") == [" tags", "tags* name"])
        #expect(try paths("tags.@count > 2") == [" tags", "tags* "])
        #expect(
            try paths("title == \"a\"", sort: [SortKey("category.name")])
                == [" category,title", "category name"])
    }

    @Test(
        "an observed query depends on the elements of its subqueries, also through outer variables")
    func subqueries() throws {
        #expect(
            try paths(
                "SUBQUERY(category.articles, $a, $a.words > 3 AND $a.category.name == title)"
                    + ".@count > 0")
                == [
                    " category,title", "category articles", "category.articles* category,words",
                    "category.articles.category* name",
                ])
        #expect(
            try paths(
                "SUBQUERY(tags, $t, SUBQUERY($t.articles, $a, $a.title == $t.name).@count > 0)"
                    + ".@count > 0")
                == [" tags", "tags* articles,name", "tags.articles* title"])
    }

    @Test("an observed query depends on the terms of its aggregates")
    func aggregates() throws {
        #expect(
            try paths(
                .aggregate(
                    Aggregate(
                        "Article", where: .format("words > 1"), groupBy: ["category.name"],
                        [.init(.sum, "words", where: "title != nil")])))
                == [" category,title,words", "category name"])
    }

    @Test("a sort key that names a result column is not parsed as a format string")
    func sortedByColumns() throws {
        let columns: [Aggregate.Column] = [.init(.sum, "words")]
        let query = Query.aggregate(
            Aggregate("Article", groupBy: ["title"], columns, sort: [SortKey("sum:words")]))
        let observable = try ObservableQuery(query, QueryParameters(), in: schema, store: UUID())
        guard case .aggregate(let aggregate) = observable.query else { return }
        #expect(aggregate.sort == [SortKey("sum:words")])
        #expect(aggregate.groupBy[0].term == .tree(.keyPath("title")))
    }

    @Test("a change concerns an observed query only if it may change what the query reads")
    func concerns() throws {
        let observable = try ObservableQuery(
            .fetch(Fetch("Article", where: .format("category.name == \"x\""))), QueryParameters(),
            in: schema, store: UUID())
        let path = observable.dependencies.paths[1]
        func concerns(_ run: HistoryRun) -> Bool { observable.dependencies.concerns(run, path) }
        #expect(concerns(HistoryRun(.updated, "Category", 1...1, properties: ["name"])))
        #expect(!concerns(HistoryRun(.updated, "Category", 1...1, properties: ["parent"])))
        #expect(!concerns(HistoryRun(.updated, "Tag", 1...1, properties: ["name"])))
        #expect(concerns(HistoryRun(.deleted, "Category", 1...1)))
    }

    @Test("an observed query depends on the section of each row, its first sort key")
    func sections() throws {
        func observable(_ query: Query) throws -> ObservableQuery {
            try ObservableQuery(
                query, QueryParameters(), isSectioned: true, in: schema, store: UUID())
        }
        let fetch = Fetch("Article", sort: ["category.name", "title"])
        #expect(
            try observable(.fetch(fetch)).dependencies.paths.map(\.relationships)
                == [[], ["category"]])
        func message(_ query: Query) -> String? {
            do {
                _ = try observable(query)
                return nil
            } catch {
                return (error as? LarderError).map { "\($0)" }
            }
        }
        let notObjects = """
            error[UNSUPPORTED]: only a fetch of objects has sections
            hint: fetch objects or columns of them, not distinct, or group by an aggregate
            """
        #expect(message(.count(entityName: "Article", predicate: nil)) == notObjects)
        #expect(message(.aggregate(Aggregate("Article", [.count]))) == notObjects)
        let titles = Fetch("Article", sort: ["title"], selection: .values(["title"]))
        #expect(message(.fetch(titles)) == notObjects)
        #expect(
            message(.fetch(Fetch("Article"))) == """
                error[UNSUPPORTED]: a fetch without a sort key has no sections
                hint: sort by the section first
                """)
    }

    @Test("a query with an offset, a cursor or prefetching cannot be observed")
    func unsupported() throws {
        func code(_ fetch: Fetch, _ parameters: QueryParameters) -> ErrorCode? {
            do throws(LarderError) {
                _ = try ObservableQuery(.fetch(fetch), parameters, in: schema, store: UUID())
                return nil
            } catch {
                return error.code
            }
        }
        #expect(code(Fetch("Article"), QueryParameters(offset: 1)) == .unsupported)
        #expect(code(Fetch("Article"), QueryParameters(after: [.int(1)])) == .unsupported)
        #expect(code(Fetch("Article", prefetch: ["tags"]), QueryParameters()) == .unsupported)
        #expect(code(Fetch("Nothing"), QueryParameters()) == .unknownEntity)
        let malformed = Fetch("Article", where: .format("title =="))
        #expect(code(malformed, QueryParameters()) == .malformedPredicate)
    }

    @Test("the first objects of an observed fetch are read without the arguments of its columns")
    func argumentsOfColumns() throws {
        func arguments(_ predicate: QueryTerm?, _ values: [QueryArgument]) throws -> Int {
            let fetch = Fetch(
                "Article", where: predicate,
                selection: .columns([QueryColumn("substring(title, %@)", name: "start")]))
            let observable = try ObservableQuery(
                .fetch(fetch), QueryParameters(arguments: values), in: schema, store: UUID())
            let trees = try #require(observable.fetch)
            return observable.sortValues(of: nil, trees, limit: 10).1.arguments.count
        }
        #expect(try arguments(nil, [1]) == 0)
        // The tree of a predicate refers to its arguments by index.
        #expect(try arguments(.format("words > %@"), [1, 2]) == 2)
    }
}
