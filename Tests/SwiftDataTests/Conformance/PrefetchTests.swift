import Foundation
import SwiftData
import Testing

@Suite("What a fetch reads at once, and what it reads later")
struct PrefetchTests {
    /// A container with 40 articles of 4 categories and 3 tags, each with a note.
    private static func filled() throws -> (ModelContainer, CountingStore) {
        let schema = Schema([Category.self, Article.self, Tag.self, Note.self])
        let store = try CountingStore(schema)
        let container = try ModelContainer(schema, store)
        let context = ModelContext(container)
        let categories = (0..<4).map { Category(name: "c\($0)") }
        let tags = (0..<3).map { Tag(name: "t\($0)") }
        for index in 0..<40 {
            let article = Article(title: "a\(index)", words: index, category: categories[index % 4])
            article.tags = [tags[index % 3]]
            article.notes = [Note(text: "n\(index)")]
            context.insert(article)
        }
        try context.save()
        store.reset()
        return (container, store)
    }

    private func read(_ articles: [Article]) -> String {
        articles.map { "\($0.category?.name ?? "") \($0.tags.map(\.name)) \($0.notes.map(\.text))" }
            .joined(separator: "\n")
    }

    @Test("after a fetch with prefetching, reading the relationships sends no request")
    func prefetching() throws {
        let (container, store) = try Self.filled()
        let context = ModelContext(container)
        var descriptor = FetchDescriptor<Article>()
        descriptor.relationshipKeyPathsForPrefetching = [\.category, \.tags, \.notes]
        let articles = try context.fetch(descriptor)
        #expect(store.requestCount == 1)
        #expect(read(articles).contains("c3 [\"t1\"] [\"n7\"]"))
        #expect(store.requestCount == 1)
        #expect(articles.count == 40)
    }

    @Test("without prefetching, a loop over the relationships of many models sends few requests")
    func batches() throws {
        let (container, store) = try Self.filled()
        let context = ModelContext(container)
        let articles = try context.fetch(FetchDescriptor<Article>())
        #expect(store.requestCount == 1)
        #expect(articles.compactMap { $0.category?.name }.count == 40)
        #expect(store.requestCount == 2)
        #expect(read(articles).contains("c3 [\"t1\"] [\"n7\"]"))
        #expect(store.requestCount <= 6)
    }

    @Test("a fetch with propertiesToFetch reads only those columns, and the others when used")
    func propertiesToFetch() throws {
        let (container, store) = try Self.filled()
        let context = ModelContext(container)
        var descriptor = FetchDescriptor<Article>(sortBy: [SortDescriptor(\.words)])
        descriptor.propertiesToFetch = [\.title]
        let articles = try context.fetch(descriptor)
        #expect(store.columns == ["title"])
        #expect(articles.map(\.title) == (0..<40).map { "a\($0)" })
        #expect(store.requestCount == 1)
        #expect(articles.map(\.words) == Array(0..<40))
        #expect(articles.map { $0.category?.name ?? "" }.last == "c3")
        #expect(store.requestCount <= 3, "the other properties of all models are read together")
        articles[0].words = 100
        articles[1].title = "b"
        try context.save()
        let read = try ModelContext(container).fetch(
            FetchDescriptor<Article>(predicate: #Predicate { $0.words == 100 || $0.title == "b" }))
        #expect(read.map(\.title) == ["a0", "b"])
        #expect(read.map(\.words) == [100, 1])
    }

    @Test("a change of a property that was not read leaves the other properties unchanged")
    func changeOfUnread() throws {
        let (container, _) = try Self.filled()
        let context = ModelContext(container)
        var descriptor = FetchDescriptor<Article>(predicate: #Predicate { $0.words == 5 })
        descriptor.propertiesToFetch = [\.words]
        let article = try #require(try context.fetch(descriptor).first)
        article.title = "changed"
        #expect(try context.fetch(descriptor).first === article)
        context.rollback()
        #expect(article.title == "a5")
        article.title = "again"
        try context.save()
        let read = try ModelContext(container).fetch(descriptor).first
        #expect(read?.title == "again")
        #expect(read?.category?.name == "c1")
    }

    @Test("every kind of property can be in propertiesToFetch")
    func everyKind() throws {
        let schema = Schema([Everything.self, Target.self, Part.self])
        let store = try CountingStore(schema)
        let container = try ModelContainer(schema, store)
        let context = ModelContext(container)
        let model = Everything(text: "a", required: Target(name: "t"))
        model.writeAll(Target(name: "u"))
        context.insert(model)
        try context.save()
        store.reset()
        let other = ModelContext(container)
        var descriptor = FetchDescriptor<Everything>()
        descriptor.propertiesToFetch = [
            \.flag, \.count, \.small, \.ratio, \.single, \.text, \.note, \.day, \.bytes, \.uuid,
            \.link, \.price, \.genre, \.mood, \.place, \.places, \.table, \.required, \.optional,
            \.many, \.maybe, \.persistentModelID,
        ]
        let read = try #require(try other.fetch(descriptor).first)
        #expect(store.columns.count == 21)
        _ = (read.place, read.table, read.price, read.mood, read.link)
        #expect(store.requestCount == 1)
        #expect(read.place == model.place)
        #expect(read.table == model.table)
        #expect(read.readAll() == model.readAll())
    }

    @Test("propertiesToFetch can be the identifier, and properties with pending changes")
    func identifierAlone() throws {
        let (container, store) = try Self.filled()
        let context = ModelContext(container)
        var descriptor = FetchDescriptor<Article>(sortBy: [SortDescriptor(\.words)])
        descriptor.fetchLimit = 3
        descriptor.propertiesToFetch = [\.persistentModelID]
        let articles = try context.fetch(descriptor)
        #expect(store.columns == [])
        #expect(articles.map(\.title) == ["a0", "a1", "a2"])
        context.insert(Article(title: "new", words: -1))
        articles[0].words = 500
        #expect(try context.fetch(descriptor).map(\.title) == ["new", "a1", "a2"])
    }
}
