import Foundation
import LarderModel
import SwiftData
import Testing

@ModelActor private actor Reading {
    func isDeleted(_ identifier: PersistentIdentifier) -> Bool? {
        self[identifier, as: Article.self]?.isDeleted
    }

    func save() throws {
        modelContext.insert(Tag(name: "new"))
        try modelContext.save()
    }
}

@Suite("Reads that fail, where no error can be thrown")
struct FailedReadTests {
    private let store: CountingStore
    private let container: ModelContainer
    private let context: ModelContext
    /// The article, which was not read.
    private let article: Article

    init() throws {
        store = try CountingStore(librarySchema)
        container = try ModelContainer(librarySchema, store)
        let writer = ModelContext(container)
        let first = Article(title: "a", words: 3, category: Category(name: "News"))
        first.tags = ["x", "y"].map { Tag(name: $0) }
        first.notes = [Note(text: "n")]
        writer.insert(first)
        try writer.save()
        context = ModelContext(container)
        article = try #require(context.model(for: first.persistentModelID) as? Article)
    }

    private func stored() throws -> Article {
        try #require(try ModelContext(container).fetch(FetchDescriptor<Article>()).first)
    }

    /// That both texts are in the error of a call.
    private func expectError(_ texts: String..., of body: () throws -> Void) {
        do {
            try body()
            Issue.record("no error names \(texts)")
        } catch {
            for text in texts { #expect("\(error)".contains(text), "\(error)") }
        }
    }

    /// Calls a closure while reads of objects fail.
    private func failing<Result>(
        after count: Int = 0, _ body: () throws -> Result
    ) rethrows -> Result {
        store.readsLeft = count
        defer { store.readsLeft = nil }
        return try body()
    }

    @Test("a failed read is an error of the next fetch and save, which names the property")
    func thrown() throws {
        failing { #expect(article.title.isEmpty && article.words == 0) }
        let tags = FetchDescriptor<Tag>()
        expectError("Article.title", "the disk cannot be read") { _ = try context.fetch(tags) }
        #expect(try context.fetch(tags).count == 2)
        context.insert(Tag(name: "z"))
        expectError("Article.title", "the disk cannot be read") { try context.save() }
        try context.save()
        #expect(article.title == "a")
        #expect(try context.fetchCount(tags) == 3)
    }

    @Test("a change of a value that was shown instead of one that could not be read is an error")
    func changes() throws {
        failing { article.words += 1 }
        #expect(article.words == 3)
        expectError("Article.words") { try context.save() }
        for _ in 0..<2 {
            #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
            _ = try context.fetch(FetchDescriptor<Article>())
            #expect(try stored().words == 3)
        }
        article.words += 1
        try context.save()
        #expect(try stored().words == 4)
    }

    @Test("a change after a failed read is an error also if the value can be read by then")
    func lateChanges() throws {
        let shown = failing { article.words }
        article.words = shown + 1
        expectError("Article.words") { try context.save() }
        expectError("Article.words") { try context.save() }
        context.rollback()
        #expect(article.words == 3 && !context.hasChanges)
        article.words += 1
        try context.save()
        #expect(try stored().words == 4)
    }

    @Test("a value that is set while it cannot be read is an error until it is set again")
    func blindChanges() throws {
        failing {
            article.title = "b"
            article.category = nil
            article.source = Source(site: "s", rank: 1)
        }
        expectError("Article.title") { try context.save() }
        expectError("Article.title", "Article.category", "Article.source") { try context.save() }
        article.title = "c"
        article.category = nil
        article.source = nil
        try context.save()
        let read = try stored()
        #expect(read.title == "c" && read.category == nil && read.source == nil)
    }

    @Test("an edit of a list that cannot be read takes no member away, and adds none")
    func lists() throws {
        failing {
            #expect(article.tags.isEmpty)
            article.tags.append(Tag(name: "z"))
            article.notes = []
        }
        expectError("Article.tags") { try context.save() }
        expectError("Article.tags", "Article.notes") { try context.save() }
        #expect(article.tags.count == 2 && article.notes.count == 1)
        context.rollback()
        let tags = article.tags
        #expect(tags.count == 2)
        article.tags.append(Tag(name: "z"))
        try context.save()
        #expect(try stored().tags.count == 3)
    }

    @Test("a list has its members if they cannot be read, and the error names one that changes")
    func members() throws {
        let category = try #require(try context.fetch(FetchDescriptor<Category>()).first)
        // The list can be read, but not the article.
        failing(after: 1) {
            #expect(category.articles.map(\.isDeleted) == [false])
            category.articles = []
        }
        expectError("the disk cannot be read") { try context.save() }
        expectError("Article.category") { try context.save() }
        #expect(try stored().category != nil)
        context.rollback()
        #expect(category.articles.map(\.title) == ["a"])
    }

    @Test("a relationship to one has its model if that cannot be read")
    func toOne() throws {
        let article = try #require(try context.fetch(FetchDescriptor<Article>()).first)
        failing { #expect(article.category?.isDeleted == false) }
        #expect(article.category?.name == "News")
    }

    @Test("a fetch in batches has its models if they cannot be read")
    func batches() throws {
        let context = ModelContext(container)
        var descriptor = FetchDescriptor<Article>()
        descriptor.includePendingChanges = false
        let found = try context.fetch(descriptor, batchSize: 10)
        failing { #expect(!found[0].isDeleted && found[0].title.isEmpty) }
        expectError("the disk cannot be read") { _ = try context.fetchCount(descriptor) }
        #expect(found[0].title == "a")
    }

    @Test("an actor's subscript returns a model that cannot be read, and the next save is an error")
    func actors() async throws {
        let actor = Reading(modelContainer: container)
        let identifier = article.persistentModelID
        store.readsLeft = 0
        #expect(await actor.isDeleted(identifier) == false)
        store.readsLeft = nil
        await #expect(throws: (any Error).self) { try await actor.save() }
        try await actor.save()
        #expect(await actor.isDeleted(identifier) == false)
    }

    @Test("a fetch is an error if it needs values of changed models that cannot be read")
    func pendingChanges() throws {
        let note = try #require(try context.fetch(FetchDescriptor<Note>()).first)
        note.text = "m"
        let predicate = #Predicate<Note> { $0.article?.title == "a" }
        let descriptor = FetchDescriptor<Note>(predicate: predicate)
        failing {
            expectError("the disk cannot be read") { _ = try context.fetch(descriptor) }
            expectError("the disk cannot be read") { _ = try context.fetchCount(descriptor) }
        }
        #expect(try context.fetch(descriptor).count == 1)
    }

    @Test("a save is an error if it needs values of a deleted model that cannot be read")
    func replacing() throws {
        let former = try #require(
            try ModelContext(container).fetch(FetchDescriptor<Category>()).first)
        let old = context.model(for: former.persistentModelID)
        context.delete(try #require(old as? Category))
        let new = Category(name: "News")
        context.insert(new)
        failing { expectError("Category.", "the disk cannot be read") { try context.save() } }
        try context.save()
        let read = try ModelContext(container).fetch(FetchDescriptor<Category>())
        #expect(read.map(\.persistentModelID) == [new.persistentModelID])
        #expect(new.persistentModelID != former.persistentModelID)
    }

    @Test("a context that only reads has no changes after failed reads")
    func reading() throws {
        failing {
            for _ in 0..<3 { #expect(article.title.isEmpty && article.tags.isEmpty) }
        }
        #expect(article.title == "a" && article.tags.count == 2)
        #expect(!context.hasChanges)
    }
}

@Model final class Gauge {
    var level: UInt8 = 1
    var kind: Genre = Genre.essay
    var place: Place?
    var places: [Place] = []

    init() {}
}

/// Values that another version of the program may have stored.
@Suite("Stored values that are not of their property's type")
struct UnreadableValueTests {
    private let store: CountingStore
    private let context: ModelContext
    private let gauge: Gauge

    init() throws {
        let schema = SwiftData.Schema([Gauge.self])
        store = try CountingStore(schema)
        let container = try ModelContainer(schema, store)
        let writer = ModelContext(container)
        let gauge = Gauge()
        writer.insert(gauge)
        try writer.save()
        let values: [String: Value] = [
            "level": .int(300), "kind": .string("poem"), "place": .json(#"{"town":"Rome"}"#),
            "places": .json(#"[{"city":"Oslo","rank":1},{"city":"Rome"}]"#),
        ]
        let changes: [Change] = [
            .update(gauge.persistentModelID, ifVersion: nil, values: values)
        ]
        _ = try store.save(ChangeSet(changes))
        context = ModelContext(container)
        self.gauge = try #require(try context.fetch(FetchDescriptor<Gauge>()).first)
    }

    private func level() throws -> Value? {
        let batches = try store.objects([gauge.persistentModelID], properties: nil)
        return batches[0].rows(store: store.identifier)[0]["level"]
    }

    @Test("a change of a default value that is shown for an unreadable one is an error")
    func changes() throws {
        #expect(gauge.level == 0 && gauge.kind == .essay && gauge.place == nil)
        #expect(gauge.places.isEmpty)
        #expect(try context.fetchCount(FetchDescriptor<Gauge>()) == 1)
        gauge.level += 1
        gauge.kind = .news
        gauge.place = Place(city: "a", rank: 1)
        gauge.places.append(Place(city: "b", rank: 2))
        do {
            try context.save()
            Issue.record("the stored values were replaced")
        } catch {
            for name in ["level", "kind", "place", "places"] {
                #expect("\(error)".contains("Gauge.\(name): the stored value is not"))
            }
        }
        #expect(try level() == .int(300))
        context.rollback()
        #expect(!context.hasChanges)
        try context.save()
    }

    @Test("an unreadable value is replaced if it was not shown, or is set after the error")
    func replacement() throws {
        gauge.kind = .news
        try context.save()
        #expect(gauge.level == 0)
        gauge.level = 7
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        #expect(gauge.level == 0)
        gauge.level = 8
        try context.save()
        #expect(try level() == .int(8))
        let read = try ModelContext(context.container).fetch(FetchDescriptor<Gauge>())
        #expect(read.map { "\($0.level) \($0.kind)" } == ["8 news"])
    }
}
