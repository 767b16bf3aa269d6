import Foundation
import SwiftData
import Testing

@Suite("What a fetch reads")
struct FetchingTests {
    private func filled() throws -> ModelContext {
        let context = ModelContext(try makeContainer())
        for number in 0..<4 {
            let article = Article(title: "\(number)", words: number)
            article.tags = [Tag(name: "t\(number)")]
            context.insert(article)
        }
        try context.save()
        return ModelContext(context.container)
    }

    @Test("a fetch reads named properties at once, and the others when they are used")
    func properties() throws {
        let context = try filled()
        var descriptor = FetchDescriptor<Article>(sortBy: [SortDescriptor(\.title)])
        descriptor.propertiesToFetch = [\.title]
        descriptor.relationshipKeyPathsForPrefetching = [\.tags]
        let articles = try context.fetch(descriptor)
        #expect(articles.map(\.title) == ["0", "1", "2", "3"])
        #expect(articles.map(\.words) == [0, 1, 2, 3])
        #expect(articles.flatMap(\.tags).map(\.name) == ["t0", "t1", "t2", "t3"])
    }

    @Test("identifiers can be fetched, also in batches, and counted")
    func identifiers() throws {
        let context = try filled()
        let descriptor = FetchDescriptor<Article>(predicate: #Predicate { $0.words > 0 })
        let identifiers = try context.fetchIdentifiers(descriptor)
        let batches: FetchResultsCollection<PersistentIdentifier> =
            try context.fetchIdentifiers(descriptor, batchSize: 2)
        #expect(Array(batches) == identifiers)
        #expect(try context.fetchCount(descriptor) == 3)
        #expect(identifiers.map { (context.model(for: $0) as? Article)?.words } == [1, 2, 3])
    }

    @Test(
        "the greatest limits and offsets select what they say, also with pending changes",
        arguments: [Int.max, .max - 1, 1 << 62])
    func extremeLimits(number: Int) throws {
        let context = try filled()
        context.insert(Article(title: "4", words: 4))
        try context.fetch(FetchDescriptor<Article>()).first { $0.words == 1 }?.words = 10
        var descriptor = FetchDescriptor<Article>(sortBy: [SortDescriptor(\.words)])
        descriptor.fetchLimit = number
        #expect(try context.fetch(descriptor).map(\.words) == [0, 2, 3, 4, 10])
        descriptor.fetchOffset = 2
        #expect(try context.fetch(descriptor).map(\.words) == [3, 4, 10])
        #expect(try context.fetchCount(descriptor) == 3)
        descriptor.fetchOffset = number
        #expect(try context.fetch(descriptor).isEmpty && context.fetchCount(descriptor) == 0)
        (descriptor.fetchLimit, descriptor.fetchOffset) = (-number, -number)
        #expect(try context.fetch(descriptor).count == 5 && context.fetchCount(descriptor) == 5)
        try context.save()
        (descriptor.fetchLimit, descriptor.fetchOffset) = (number, 4)
        #expect(try context.fetch(descriptor).map(\.words) == [10])
        #expect(try context.fetchCount(descriptor) == 1)
        descriptor.fetchOffset = 0
        for size in [number, 1, 0, -number] {
            #expect(try context.fetch(descriptor, batchSize: size).map(\.words).last == 10)
        }
    }

    @Test("fetch descriptors are equal if all their parts are")
    func equality() {
        var descriptor = FetchDescriptor<Article>(sortBy: [SortDescriptor(\.title)])
        #expect(descriptor == FetchDescriptor(sortBy: [SortDescriptor(\.title)]))
        #expect(descriptor != FetchDescriptor())
        #expect(descriptor.includePendingChanges)
        let same = descriptor
        descriptor.fetchLimit = 1
        #expect(descriptor != same)
        descriptor = same
        descriptor.predicate = #Predicate { $0.words > 1 }
        #expect(descriptor != same)
        descriptor = same
        descriptor.propertiesToFetch = [\.title]
        #expect(descriptor != same)
    }

    @Test("the notification of a save has all the documented keys")
    func notificationKeys() throws {
        let context = try filled()
        let articles = try context.fetch(
            FetchDescriptor<Article>(sortBy: [SortDescriptor(\.words)]))
        let seen = Seen()
        let observer = NotificationCenter.default.addObserver(
            forName: ModelContext.didSave, object: context, queue: nil
        ) { seen.info = $0.userInfo }
        defer { NotificationCenter.default.removeObserver(observer) }
        let new = Article(title: "new")
        context.insert(new)
        articles[0].title = "changed"
        context.delete(articles[1])
        let deleted = articles[1].persistentModelID
        try context.save()
        typealias Key = ModelContext.NotificationKey
        func identifiers(_ key: Key) -> Set<PersistentIdentifier>? {
            seen.info?[key] as? Set<PersistentIdentifier>
        }
        #expect(identifiers(.insertedIdentifiers) == [new.persistentModelID])
        #expect(identifiers(.updatedIdentifiers)?.contains(articles[0].persistentModelID) == true)
        #expect(identifiers(.deletedIdentifiers) == [deleted])
        #expect(seen.info?[Key.historyTokens] as? [String: any HistoryToken] != nil)
        let keys: [Key] = [
            .queryGeneration, .invalidatedAllIdentifiers, .insertedIdentifiers,
            .updatedIdentifiers, .deletedIdentifiers, .historyTokens,
        ]
        #expect(
            keys.map(\.rawValue) == [
                "queryGeneration", "invalidatedAllIdentifiers", "inserted", "updated", "deleted",
                "historyTokens",
            ])
    }

    private final class Seen: @unchecked Sendable {
        // Written and read by one test.
        var info: [AnyHashable: Any]?
    }

    @Test("a rollback is observed, of values and of both sides of relationships")
    func observedRollback() throws {
        let context = try filled()
        let article = try #require(try context.fetch(FetchDescriptor<Article>()).first)
        let tag = try #require(article.tags.first)
        article.title = "changed"
        article.tags = []
        let flags = [Flag(), Flag(), Flag()]
        let reads: [() -> Void] = [
            { _ = article.title }, { _ = article.tags }, { _ = tag.articles },
        ]
        for (flag, read) in zip(flags, reads) {
            withObservationTracking(read) { flag.isSet = true }
        }
        context.rollback()
        #expect(flags.map(\.isSet) == [true, true, true])
        #expect(article.title == "0")
        #expect(article.tags == [tag])
        #expect(tag.articles == [article])
    }

    @Test("a context has an author and an identifier in its editing state")
    func editingState() throws {
        let container = try makeContainer()
        let (one, two) = (ModelContext(container), ModelContext(container))
        let state: EditingState = one.editingState
        #expect(state.id != two.editingState.id)
        #expect(state.id == one.editingState.id)
        #expect(state.author == nil)
        one.editingState.author = "a"
        #expect(one.author == "a")
        #expect(one != two)
        #expect(one == one)
    }

    @Test("a persistent identifier has an ID and text forms")
    func identifierForms() throws {
        let context = try filled()
        let identifier = try #require(
            try context.fetchIdentifiers(FetchDescriptor<Article>()).first)
        #expect(identifier.id == identifier.id)
        let ids: Set<PersistentIdentifier.ID> = [identifier.id]
        #expect(ids.count == 1)
        #expect(
            try PersistentIdentifier(uriRepresentation: identifier.uriRepresentation)
                == identifier)
        let store = try #require(identifier.store)
        #expect(
            try PersistentIdentifier(text: identifier.shortText, in: store) == identifier)
        let key = try #require(identifier.permanentKey)
        #expect(identifier.key == .permanent(key))
        #expect(
            PersistentIdentifier(store: store, entityName: "Article", key: key) == identifier)
        let temporary = PersistentIdentifier(temporary: "x", entityName: "Article")
        #expect(temporary.isTemporary && temporary.storeIdentifier == nil)
        #expect(temporary.key == .temporary("x"))
        #expect(identifier.jsonRepresentation.contains("\"entityName\":\"Article\""))
        let kinds: [PersistentIdentifier.Key] = [identifier.key, temporary.key]
        #expect(kinds[0] != kinds[1])
    }
}
