import Foundation
import SwiftData
import Testing

@Suite("A store that a program writes itself")
struct CustomStoreTests {
    private let file = FileManager.default.temporaryDirectory.appending(
        path: "larder-\(UUID().uuidString).json")

    private func container(
        _ change: (inout JSONStoreConfiguration) -> Void = { _ in }
    ) throws -> ModelContainer {
        var configuration = JSONStoreConfiguration(file)
        change(&configuration)
        return try ModelContainer(for: librarySchema, configurations: [configuration])
    }

    private func fill() throws {
        let context = ModelContext(try container())
        let news = Category(name: "News")
        for (title, words) in [("b", 2), ("c", 30), ("a", 10)] {
            let article = Article(title: title, words: words)
            article.published = Date(timeIntervalSinceReferenceDate: 5)
            article.source = Source(site: "a.org", rank: words)
            article.category = words > 5 ? news : nil
            context.insert(article)
        }
        try context.save()
        #expect(!news.persistentModelID.isTemporary)
    }

    @Test("a custom store returns every kind of value after it is opened again")
    func reopening() throws {
        defer { try? FileManager.default.removeItem(at: file) }
        try fill()
        let context = ModelContext(try container())
        let articles = try context.fetch(FetchDescriptor(sortBy: [SortDescriptor(\Article.title)]))
        #expect(articles.map(\.title) == ["a", "b", "c"])
        #expect(articles.map(\.words) == [10, 2, 30])
        #expect(articles[0].source == Source(site: "a.org", rank: 10))
        #expect(articles[0].published == Date(timeIntervalSinceReferenceDate: 5))
    }

    @Test("a custom store may leave predicates, orders and limits to the context")
    func inMemory() throws {
        defer { try? FileManager.default.removeItem(at: file) }
        try fill()
        let context = ModelContext(try container())
        var descriptor = FetchDescriptor<Article>(
            predicate: #Predicate { $0.words > 5 },
            sortBy: [SortDescriptor(\.words, order: .reverse)])
        #expect(try context.fetch(descriptor).map(\.title) == ["c", "a"])
        #expect(try context.fetchCount(descriptor) == 2)
        descriptor.fetchOffset = 1
        #expect(try context.fetch(descriptor).map(\.title) == ["a"])
        let related = FetchDescriptor<Article>(
            predicate: #Predicate { $0.category?.name == "News" })
        #expect(Set(try context.fetch(related).map(\.title)) == ["a", "c"])
        context.insert(Article(title: "d", words: 20))
        descriptor.fetchOffset = nil
        #expect(try context.fetch(descriptor).map(\.title) == ["c", "d", "a"])
    }

    @Test("a custom store gets both sides of relationships, also when a member moves")
    func relationships() throws {
        defer { try? FileManager.default.removeItem(at: file) }
        try fill()
        let context = ModelContext(try container())
        let news = try #require(try context.fetch(FetchDescriptor<Category>()).first)
        #expect(Set(news.articles.map(\.title)) == ["a", "c"])
        let other = Category(name: "Other")
        context.insert(other)
        let moved = try #require(news.articles.first { $0.title == "a" })
        moved.category = other
        moved.tags = [Tag(name: "x")]
        try context.save()
        let again = ModelContext(try container())
        let names = try again.fetch(FetchDescriptor<Category>(sortBy: [SortDescriptor(\.name)]))
        #expect(names.map { $0.articles.map(\.title) } == [["c"], ["a"]])
        #expect(try again.fetch(FetchDescriptor<Tag>()).first?.articles.map(\.title) == ["a"])
    }

    @Test("a deletion in a custom store clears the references to the deleted objects")
    func deletion() throws {
        defer { try? FileManager.default.removeItem(at: file) }
        try fill()
        let context = ModelContext(try container())
        try context.delete(model: Category.self)
        try context.delete(model: Article.self, where: #Predicate { $0.title == "c" })
        try context.save()
        let again = ModelContext(try container())
        #expect(try again.fetchCount(FetchDescriptor<Category>()) == 0)
        let left = try again.fetch(FetchDescriptor<Article>(sortBy: [SortDescriptor(\.title)]))
        #expect(left.map(\.title) == ["a", "b"])
        #expect(left.allSatisfy { $0.category == nil })
    }

    @Test("a save in a custom store is seen by the next fetch of another context")
    func contexts() throws {
        defer { try? FileManager.default.removeItem(at: file) }
        try fill()
        let container = try container()
        let (first, second) = (ModelContext(container), ModelContext(container))
        let one = FetchDescriptor<Article>(predicate: #Predicate { $0.title == "b" })
        let held = try #require(try second.fetch(one).first)
        try first.fetch(one).first?.words = 99
        try first.save()
        #expect(try second.fetch(one).first === held)
        #expect(held.words == 99)
    }

    @Test("an error of a custom store's save reaches the caller, and the context keeps its changes")
    func refusal() throws {
        let context = ModelContext(try container { $0.refusal = "closed" })
        context.insert(Article(title: "a", words: 1))
        #expect(throws: JSONStore.Refusal(reason: "closed")) { try context.save() }
        #expect(context.insertedModelsArray.count == 1)
        #expect(context.hasChanges)
    }

    @Test("a custom store that omits identifiers or returns wrong objects is an error")
    func mistakes() throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let forgetful = ModelContext(try container { $0.forgetsIdentifiers = true })
        forgetful.insert(Article(title: "a", words: 1))
        #expect(throws: (any Error).self) { try forgetful.save() }
        #expect(forgetful.hasChanges)
        try fill()
        let mixed = ModelContext(try container { $0.returnsAllEntities = true })
        #expect(throws: (any Error).self) { try mixed.fetch(FetchDescriptor<Category>()) }
        let foreign = ModelContext(try container { $0.returnsForeignObjects = true })
        #expect(throws: (any Error).self) { try foreign.fetch(FetchDescriptor<Article>()) }
    }

    @Test("a custom store has a history of its own type, and none of Larder's")
    func history() throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let context = ModelContext(try container())
        for author in ["ada", "bob"] {
            context.author = author
            context.insert(Article(title: author, words: 1))
            try context.save()
        }
        let found = try context.fetchHistory(
            HistoryDescriptor<JSONTransaction>(predicate: #Predicate { $0.author == "bob" }))
        #expect(found.map(\.token.id) == [2])
        #expect(try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).isEmpty)
        try context.deleteHistory(HistoryDescriptor<JSONTransaction>())
        #expect(try context.fetchHistory(HistoryDescriptor<JSONTransaction>()).isEmpty)
    }

    @Test("a custom store may be one of several stores of a container")
    func severalStores() throws {
        defer { try? FileManager.default.removeItem(at: file) }
        var json = JSONStoreConfiguration(file)
        json.schema = Schema([Gadget.self])
        let own = ModelConfiguration(schema: Schema([Widget.self]), isStoredInMemoryOnly: true)
        let all = Schema([Gadget.self, Widget.self])
        let configurations: [any DataStoreConfiguration] = [json, own]
        let container = try ModelContainer(for: all, configurations: configurations)
        let context = ModelContext(container)
        context.insert(Gadget(name: "g"))
        context.insert(Widget(name: "w"))
        try context.save()
        let other = ModelContext(container)
        #expect(try other.fetch(FetchDescriptor<Gadget>()).map(\.name) == ["g"])
        #expect(try other.fetch(FetchDescriptor<Widget>()).map(\.name) == ["w"])
        #expect(try String(contentsOf: file, encoding: .utf8).contains("Gadget"))
    }

    @Test("a custom store's key has the same identifier in every process")
    func identifiers() throws {
        func uri(_ key: some Comparable & CustomStringConvertible & Codable & Hashable) throws
            -> String
        {
            try PersistentIdentifier.identifier(
                for: "JSON", entityName: "Article", primaryKey: key
            ).uriRepresentation
        }
        #expect(try uri(7).hasSuffix("/Article/p7"))
        #expect(try uri("seven") == uri("seven"))
        #expect(try uri("seven") != uri("eight"))
        #expect(throws: (any Error).self) {
            try PersistentIdentifier.identifier(for: "JSON", entityName: "a/b", primaryKey: 1)
        }
    }
}

@Model final class Gadget {
    var name: String
    init(name: String) { self.name = name }
}

@Model final class Widget {
    var name: String
    init(name: String) { self.name = name }
}
