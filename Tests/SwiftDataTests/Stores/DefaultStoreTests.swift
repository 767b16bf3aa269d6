import Foundation
import SwiftData
import Testing

@Suite("DefaultStore and DefaultSnapshot")
struct DefaultStoreTests {
    /// The requests that a context would make, since they have no public initializer: a store that
    /// passes on to a default store what it is asked for.
    private func container(_ store: DefaultStore) throws -> ModelContainer {
        try ModelContainer(for: librarySchema, configurations: [PassingConfiguration(store)])
    }

    @Test("a default store has its name, schema, configuration and an identifier of its own")
    func members() throws {
        let (store, other) = (try makeDefaultStore(), try makeDefaultStore())
        #expect(store.name == "notes")
        #expect(store.schema == librarySchema)
        let configuration: DefaultStore.Configuration = store.configuration
        #expect(configuration.name == "notes")
        #expect(UUID(uuidString: store.identifier) != nil)
        #expect(store.identifier != other.identifier)
        let (batching, history): (any DataStoreBatching, any HistoryProviding) = (store, store)
        #expect(batching === history as AnyObject)
        let snapshot: DefaultStore.Snapshot.Type = DefaultSnapshot.self
        let transaction: DefaultStore.HistoryType.Type = DefaultStore.historyType
        let token: DefaultStore.TokenType.Type = DefaultHistoryToken.self
        #expect(snapshot == DefaultSnapshot.self && token == DefaultHistoryToken.self)
        #expect(transaction == DefaultHistoryTransaction.self)
        #expect(throws: SwiftDataError.unknownSchema) {
            try DefaultStore(ModelConfiguration(isStoredInMemoryOnly: true))
        }
    }

    @Test("a default store saves, fetches, counts and deletes for a store that wraps it")
    func passing() throws {
        let store = try makeDefaultStore()
        let context = ModelContext(try container(store))
        let news = Category(name: "News")
        for (title, words) in [("a", 10), ("b", 2), ("c", 30)] {
            let article = Article(title: title, words: words)
            article.category = words > 5 ? news : nil
            article.source = Source(site: "a.org", rank: words)
            article.published = Date(timeIntervalSinceReferenceDate: 5)
            context.insert(article)
        }
        try context.save()
        let identifier = news.persistentModelID
        #expect(identifier.storeIdentifier == store.identifier)
        let again = ModelContext(try container(store))
        let long = FetchDescriptor<Article>(
            predicate: #Predicate { $0.words > 5 }, sortBy: [SortDescriptor(\.title)])
        let found = try again.fetch(long)
        #expect(found.map(\.title) == ["a", "c"])
        #expect(found.map(\.source?.rank) == [10, 30])
        #expect(found.map(\.published?.timeIntervalSinceReferenceDate) == [5, 5])
        #expect(found.map { $0.category?.name } == ["News", "News"])
        #expect(try again.fetchCount(long) == 2)
        #expect(try again.fetchIdentifiers(long) == found.map(\.persistentModelID))
        found[0].category = nil
        again.delete(found[1])
        try again.save()
        let last = ModelContext(try container(store))
        let left = try last.fetch(FetchDescriptor<Article>(sortBy: [SortDescriptor(\.title)]))
        #expect(left.map(\.title) == ["a", "b"])
        #expect(left.allSatisfy { $0.category == nil })
        #expect((last.model(for: identifier) as? Category)?.articles.isEmpty == true)
    }

    @Test("a default store deletes by predicate, with the author of the editing state")
    func batchDeletion() throws {
        let store = try makeDefaultStore()
        let context = ModelContext(try container(store))
        context.author = "ada"
        context.insert(Tag(name: "x"))
        context.insert(Tag(name: "y"))
        try context.save()
        try context.delete(model: Tag.self, where: #Predicate { $0.name == "x" })
        try context.save()
        let transactions = try store.fetchHistory(HistoryDescriptor())
        #expect(transactions.map(\.author) == ["ada", "ada"])
        guard case .delete? = transactions.last?.changes.first else {
            Issue.record("the last transaction deletes nothing")
            return
        }
        #expect(try context.fetch(FetchDescriptor<Tag>()).map(\.name) == ["y"])
    }

    @Test("a default store fetches and deletes its history, and erases its objects")
    func historyAndErasing() throws {
        let store = try makeDefaultStore()
        let container = try container(store)
        let context = ModelContext(container)
        for name in ["x", "y"] {
            context.insert(Tag(name: name))
            try context.save()
        }
        let transactions = try store.fetchHistory(HistoryDescriptor())
        #expect(transactions.count == 2)
        #expect(transactions.allSatisfy { $0.storeIdentifier == store.identifier })
        try store.deleteHistory(HistoryDescriptor())
        #expect(try store.fetchHistory(HistoryDescriptor()).isEmpty)
        try container.erase()
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Tag>()) == 0)
        #expect(throws: Never.self) { try store.erase() }
    }

    @Test("a snapshot of a model has its identifier and its entity, and can be copied")
    func snapshots() throws {
        let context = ModelContext(try makeContainer())
        let article = Article(title: "a", words: 3, category: Category(name: "News"))
        article.tags = [Tag(name: "x")]
        let unmanaged = DefaultSnapshot(of: article)
        #expect(unmanaged.persistentIdentifier == article.persistentModelID)
        #expect(unmanaged.entityName == "Article")
        let text = String(decoding: try JSONEncoder().encode(unmanaged), as: UTF8.self)
        #expect(text.contains("News") == false)
        #expect(text.contains("Category"))
        #expect(text.contains("Tag"))
        context.insert(article)
        try context.save()
        let saved = DefaultSnapshot(of: article)
        #expect(saved.persistentIdentifier == article.persistentModelID)
        #expect(saved != unmanaged)
        let copy = saved.copy(persistentIdentifier: unmanaged.persistentIdentifier)
        #expect(copy.persistentIdentifier == unmanaged.persistentIdentifier)
        #expect(copy.copy(persistentIdentifier: saved.persistentIdentifier) == saved)
        let category = try #require(article.category?.persistentModelID)
        let another = Category(name: "Other").persistentModelID
        let remapped = saved.copy(
            persistentIdentifier: saved.persistentIdentifier,
            remappedIdentifiers: [category: another])
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        let json = String(decoding: try encoder.encode(remapped), as: UTF8.self)
        #expect(!json.contains(category.uriRepresentation))
        #expect(json.contains(another.uriRepresentation))
    }

    @Test("a snapshot of every kind of value decodes from JSON to an equal one")
    func coding() throws {
        let context = ModelContext(try makeContainer())
        let article = Article(title: "é \"x\"", words: -3, category: Category(name: "News"))
        article.published = Date(timeIntervalSinceReferenceDate: 0.25)
        article.source = Source(site: "a.org", rank: 1)
        article.keywords = ["k", "l"]
        article.tags = [Tag(name: "x"), Tag(name: "y")]
        context.insert(article)
        try context.save()
        let snapshot = DefaultSnapshot(of: article)
        let data = try JSONEncoder().encode(snapshot)
        #expect(try JSONDecoder().decode(DefaultSnapshot.self, from: data) == snapshot)
        let members = try #require(
            try JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect(members["title"] as? String == "é \"x\"")
        #expect(members["words"] as? Int == -3)
        #expect(members["persistentIdentifier"] != nil)
        #expect((members["published"] as? [String: Any])?["date"] as? Double == 0.25)
        let keys = members.keys.compactMap { DataStoreSnapshotCodingKey(stringValue: $0) }
        #expect(keys.contains(.persistentIdentifier))
        #expect(keys.contains(.modeledProperty("keywords")))
        #expect(Set(keys.map(\.stringValue)) == Set(members.keys))
        #expect(DataStoreSnapshotCodingKey(intValue: 1) == nil)
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(DefaultSnapshot.self, from: Data(#"{"title":"a"}"#.utf8))
        }
    }
}
