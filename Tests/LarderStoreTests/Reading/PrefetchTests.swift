import FoundationEssentials
import LarderModel
import LarderQuery
import QueryScripts
import TestSupport
import Testing

@testable import LarderStore

@Suite("Prefetching") struct PrefetchTests {
    private func fixture(articles: Int, categories: Int, tags: Int) throws -> QueryFixture {
        let fixture = try QueryFixture(SchemaFile.schema(parsing: ArticleSchema.text))
        var objects: [QueryFixture.Object] = []
        for number in 0..<categories {
            var values: [String: JSONValue] = ["name": .string("category \(number)")]
            if number > 0 { values["parent"] = .string("@c\(number / 2)") }
            objects.append(.init(entityName: "Category", name: "c\(number)", values: values))
        }
        for number in 0..<tags {
            objects.append(
                .init(
                    entityName: "Tag", name: "t\(number)",
                    values: ["name": .string("tag \(number)")]))
        }
        for number in 0..<articles {
            var values: [String: JSONValue] = ["title": .string("article \(number)")]
            if number % 5 > 0 { values["category"] = .string("@c\(number % categories)") }
            values["tags"] = .array(
                (0..<min(number % 4, tags)).map { .string("@t\((number + $0) % tags)") })
            objects.append(.init(entityName: "Article", name: "a\(number)", values: values))
        }
        try fixture.insert(objects)
        return fixture
    }

    private let all = Query.fetch(
        Fetch("Article", prefetch: ["category.parent.parent", "tags", "tags.articles.category"]))

    /// The objects to which a batch refers come after the last row of the query before.
    private func check(_ batches: [Batch], _ fixture: QueryFixture) {
        var related: [String: Set<PersistentIdentifier>] = [:]
        let paths = [
            "category", "category.parent", "category.parent.parent", "tags", "tags.articles",
            "tags.articles.category",
        ]
        for batch in batches {
            let prefix = batch.prefetchPath.map { "\($0)." } ?? ""
            for record in batch.records(store: fixture.storeIdentifier) {
                for (name, value) in record.values where paths.contains(prefix + name) {
                    let known = related[prefix + name] ?? []
                    switch value {
                    case .object(let object): #expect(known.contains(object))
                    case .objects(let objects): #expect(known.isSuperset(of: objects))
                    default: break
                    }
                }
                if let path = batch.prefetchPath {
                    related[path, default: []].insert(record.identifier)
                }
            }
            if batch.prefetchPath == nil { related = [:] }
        }
    }

    @Test("prefetched objects come before the rows that refer to them, in batches of one size")
    func order() throws {
        let fixture = try fixture(articles: 200, categories: 20, tags: 7)
        let plain = fixture.rows(try fixture.batches(.fetch(Fetch("Article"))))
        for bytesMax in [0, 300, 4_096, 1 << 20] {
            let batches = try fixture.batches(all, bytesMax: bytesMax)
            check(batches, fixture)
            #expect(batches.last?.prefetchPath == nil)
            if bytesMax == 300 { #expect(batches.allSatisfy { $0.rowCount <= 20 }) }
            let rows = batches.filter { $0.prefetchPath == nil }.flatMap { batch in
                // Without the lists that prefetching adds.
                fixture.rows([
                    Batch(
                        rowCount: batch.rowCount, identity: batch.identity,
                        columns: Array(batch.columns.dropLast()))
                ])
            }
            #expect(rows == plain)
        }
    }

    @Test("the number of statements of a prefetch does not grow with the number of rows")
    func statements() throws {
        var counts: [Int] = []
        for articles in [10, 100, 1_000] {
            let fixture = try fixture(articles: articles, categories: 20, tags: 7)
            let session = try #require(fixture.reader as? Reader).session
            let before = session.runCount
            let batches = try fixture.batches(
                .fetch(Fetch("Article", prefetch: ["category.parent", "tags"])), bytesMax: 1 << 24)
            #expect(batches.count { $0.prefetchPath == nil } == 1)
            counts.append(session.runCount - before)
        }
        // The articles, their tags' keys, categories, their parents, and tags.
        #expect(counts == [5, 5, 5])
    }

    @Test("long prefetched lists are divided into batches by their bytes without loss")
    func longLists() throws {
        let fixture = try fixture(articles: 3_000, categories: 3, tags: 2)
        let query = Query.fetch(Fetch("Tag", prefetch: ["articles"]))
        let batches = try fixture.batches(query, bytesMax: 4_096)
        let rows = batches.filter { $0.prefetchPath == nil }
        #expect(rows.map(\.rowCount) == [1, 1])
        for row in rows.flatMap({ $0.records(store: fixture.storeIdentifier) }) {
            guard case .objects(let articles)? = row.values["articles"] else {
                Issue.record("a tag has a list")
                continue
            }
            #expect(articles.count > 1_000)
        }
        check(batches, fixture)
    }

    @Test("a fetch with prefetching that finds nothing returns only the columns")
    func nothing() throws {
        let fixture = try fixture(articles: 0, categories: 1, tags: 1)
        let batches = try fixture.batches(all)
        #expect(batches.map(\.rowCount) == [0])
        #expect(
            batches[0].columns.map(\.name) == ["title", "words", "details", "category", "tags"])
    }
}
