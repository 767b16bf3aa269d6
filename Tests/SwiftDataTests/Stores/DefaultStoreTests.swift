import Foundation
import SwiftData
import Testing

@Suite("DefaultStore and DefaultSnapshot")
struct DefaultStoreTests {
    private let schema = Schema([Category.self, Article.self, Tag.self, Note.self])

    private func makeStore() throws -> DefaultStore {
        try DefaultStore(
            ModelConfiguration("notes", schema: schema, isStoredInMemoryOnly: true))
    }

    /// The requests that a context would make, since they have no public initializer: a store that
    /// passes on to a default store what it is asked for.
    private func container(_ store: DefaultStore) throws -> ModelContainer {
        try ModelContainer(for: schema, configurations: [PassingConfiguration(store)])
    }

    @Test("has the name, the schema and the configuration, and an identifier of its own")
    func members() throws {
        let (store, other) = (try makeStore(), try makeStore())
        #expect(store.name == "notes")
        #expect(store.schema == schema)
        #expect(store.configuration.name == "notes")
        #expect(UUID(uuidString: store.identifier) != nil)
        #expect(store.identifier != other.identifier)
        #expect(DefaultStore.historyType == DefaultHistoryTransaction.self)
        #expect(throws: SwiftDataError.unknownSchema) {
            try DefaultStore(ModelConfiguration(isStoredInMemoryOnly: true))
        }
    }

    @Test("saves, fetches, counts and deletes what a store passes on to it")
    func passing() throws {
        let store = try makeStore()
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

    @Test("deletes by predicate, with the author of the editing state")
    func batchDeletion() throws {
        let store = try makeStore()
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

    @Test("fetches and deletes its history, and erases its objects")
    func historyAndErasing() throws {
        let store = try makeStore()
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
        func snapshot(_ article: Article) -> DefaultSnapshot {
            var related: [PersistentIdentifier: any BackingData] = [:]
            return DefaultSnapshot(
                from: article.persistentBackingData, relatedBackingDatas: &related)
        }
        let unmanaged = snapshot(article)
        #expect(unmanaged.persistentIdentifier == article.persistentModelID)
        #expect(unmanaged.entityName == "Article")
        let text = String(decoding: try JSONEncoder().encode(unmanaged), as: UTF8.self)
        #expect(text.contains("News") == false)
        #expect(text.contains("Category"))
        #expect(text.contains("Tag"))
        context.insert(article)
        try context.save()
        let saved = snapshot(article)
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
        var related: [PersistentIdentifier: any BackingData] = [:]
        let snapshot = DefaultSnapshot(
            from: article.persistentBackingData, relatedBackingDatas: &related)
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

/// A store that passes on to a default store what it is asked for.
private final class PassingStore: DataStore, DataStoreBatching {
    typealias Configuration = PassingConfiguration
    typealias Snapshot = DefaultSnapshot

    let configuration: PassingConfiguration
    let schema: Schema
    private let store: DefaultStore
    var identifier: String { store.identifier }

    init(
        _ configuration: PassingConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?
    ) throws {
        self.configuration = configuration
        store = configuration.store
        schema = store.schema
    }

    func fetch<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> DataStoreFetchResult<T, DefaultSnapshot> { try store.fetch(request) }

    func fetchCount<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> Int {
        try store.fetchCount(request)
    }

    func fetchIdentifiers<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> [PersistentIdentifier] { try store.fetchIdentifiers(request) }

    func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> { try store.save(request) }

    func delete<T: PersistentModel>(_ request: DataStoreBatchDeleteRequest<T>) throws {
        try store.delete(request)
    }

    func erase() throws { try store.erase() }
    func initializeState(for editingState: EditingState) {
        store.initializeState(for: editingState)
    }
    func invalidateState(for editingState: EditingState) {
        store.invalidateState(for: editingState)
    }
    func cachedSnapshots(
        for identifiers: [PersistentIdentifier], editingState: EditingState
    ) throws -> [PersistentIdentifier: DefaultSnapshot] {
        try store.cachedSnapshots(for: identifiers, editingState: editingState)
    }
}

private struct PassingConfiguration: DataStoreConfiguration {
    typealias Store = PassingStore

    let name = "passing"
    var schema: Schema?
    let store: DefaultStore

    init(_ store: DefaultStore) { self.store = store }

    static func == (left: Self, right: Self) -> Bool { left.store === right.store }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(store)) }
}
