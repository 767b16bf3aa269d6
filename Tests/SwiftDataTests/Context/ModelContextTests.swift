import Foundation
import SwiftData
import Testing

@Suite("A model context")
struct ModelContextTests {
    @Test("inserted models are fetched before and after the save, as the same instances")
    func insertAndFetch() throws {
        let context = ModelContext(try makeContainer())
        let article = Article(title: "Larder", words: 100)
        context.insert(article)
        #expect(article.modelContext === context)
        #expect(article.persistentModelID.isTemporary)
        #expect(try context.fetch(FetchDescriptor<Article>()).first === article)
        try context.save()
        #expect(!article.persistentModelID.isTemporary)
        #expect(!context.hasChanges)
        #expect(try context.fetch(FetchDescriptor<Article>()).first === article)
        #expect(try context.fetchCount(FetchDescriptor<Article>()) == 1)
    }

    @Test("every kind of attribute is read in another context")
    func attributes() throws {
        let container = try makeContainer()
        let context = ModelContext(container)
        let article = Article(title: "Ä", words: 7)
        article.published = Date(timeIntervalSinceReferenceDate: 5)
        article.genre = .essay
        article.source = Source(site: "a.org", rank: 3)
        article.keywords = ["x", "y"]
        context.insert(article)
        try context.save()
        let other = ModelContext(container)
        let read = try #require(try other.fetch(FetchDescriptor<Article>()).first)
        #expect(read !== article)
        #expect(read == article)
        #expect(read.title == "Ä")
        #expect(read.words == 7)
        #expect(read.published == Date(timeIntervalSinceReferenceDate: 5))
        #expect(read.genre == .essay)
        #expect(read.source == Source(site: "a.org", rank: 3))
        #expect(read.keywords == ["x", "y"])
        #expect(!read.isShown)
    }

    @Test("predicates and sorts are evaluated in the store and with pending changes")
    func predicates() throws {
        let context = ModelContext(try makeContainer())
        for index in 0..<10 { context.insert(Article(title: "T\(index)", words: index * 10)) }
        let descriptor = FetchDescriptor<Article>(
            predicate: #Predicate { $0.words > 50 && $0.title.contains("T") },
            sortBy: [SortDescriptor(\.words, order: .reverse)])
        #expect(try context.fetch(descriptor).map(\.words) == [90, 80, 70, 60])
        try context.save()
        #expect(try context.fetch(descriptor).map(\.words) == [90, 80, 70, 60])
        var limited = descriptor
        limited.fetchLimit = 1
        limited.fetchOffset = 1
        #expect(try context.fetch(limited).map(\.words) == [80])
        try context.fetch(descriptor).first?.words = 1
        #expect(try context.fetch(descriptor).map(\.words) == [80, 70, 60])
        #expect(try context.fetch(limited).map(\.words) == [70])
    }

    @Test("a context keeps both sides of relationships, and predicates can follow them")
    func relationships() throws {
        let container = try makeContainer()
        let context = ModelContext(container)
        let tech = Category(name: "tech")
        let article = Article(title: "A", category: tech)
        article.tags = [Tag(name: "x"), Tag(name: "y")]
        context.insert(article)
        #expect(tech.modelContext === context)
        #expect(tech.articles == [article])
        #expect(article.tags[0].articles == [article])
        let byCategory = FetchDescriptor<Article>(
            predicate: #Predicate { $0.category?.name == "tech" })
        #expect(try context.fetch(byCategory) == [article])
        try context.save()
        #expect(try context.fetch(byCategory) == [article])
        let byTag = FetchDescriptor<Article>(
            predicate: #Predicate { $0.tags.contains { $0.name == "y" } })
        let other = ModelContext(container)
        let read = try #require(try other.fetch(byTag).first)
        #expect(read.category?.name == "tech")
        #expect(read.category?.articles.map(\.title) == ["A"])
        #expect(Set(read.tags.map(\.name)) == ["x", "y"])
        read.category = nil
        try other.save()
        #expect(try ModelContext(container).fetchCount(byCategory) == 0)
    }

    @Test("a model that is assigned to a relationship of an inserted model is inserted")
    func assignment() throws {
        let context = ModelContext(try makeContainer())
        let tech = Category(name: "tech")
        context.insert(tech)
        tech.articles.append(Article(title: "A"))
        let second = Article(title: "B")
        second.category = tech
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<Article>()) == 2)
        #expect(tech.articles.count == 2)
    }

    @Test("a deletion applies the delete rules, and a deleted model keeps its last values")
    func deletion() throws {
        let context = ModelContext(try makeContainer())
        let article = Article(title: "A", category: Category(name: "tech"))
        let note = Note(text: "n")
        article.notes = [note]
        context.insert(article)
        try context.save()
        let category = try #require(article.category)
        context.delete(article)
        #expect(article.isDeleted)
        #expect(article.modelContext === context)
        #expect(category.articles.isEmpty)
        try context.save()
        #expect(article.modelContext == nil)
        #expect(article.title == "A")
        #expect(note.isDeleted)
        #expect(note.text == "n")
        article.title = "B"
        #expect(!context.hasChanges)
        #expect(try context.fetchCount(FetchDescriptor<Note>()) == 0)
    }

    @Test("a save posts what it has changed, under both kinds of keys")
    func notifications() throws {
        let context = ModelContext(try makeContainer())
        let seen = Seen()
        let observer = NotificationCenter.default.addObserver(
            forName: ModelContext.didSave, object: context, queue: nil
        ) { seen.info = $0.userInfo }
        defer { NotificationCenter.default.removeObserver(observer) }
        let article = Article(title: "A")
        context.insert(article)
        try context.save()
        let info = try #require(seen.info)
        #expect(
            info[ModelContext.NotificationKey.insertedIdentifiers] as? Set<PersistentIdentifier>
                == [article.persistentModelID])
        #expect(info["inserted"] as? [PersistentIdentifier] == [article.persistentModelID])
    }

    private final class Seen: @unchecked Sendable {
        // Written and read by one test.
        var info: [AnyHashable: Any]?
    }

    @Test("a rollback of a context restores the values of its models")
    func rollback() throws {
        let context = ModelContext(try makeContainer())
        let article = Article(title: "A")
        context.insert(article)
        try context.save()
        article.title = "B"
        context.insert(Article(title: "C"))
        context.rollback()
        #expect(article.title == "A")
        #expect(try context.fetch(FetchDescriptor<Article>()).map(\.title) == ["A"])
    }

    @Test("observers of a model see changes by setters, by inverses and by a refresh")
    func observation() throws {
        let container = try makeContainer()
        let context = ModelContext(container)
        let article = Article(title: "A")
        let tech = Category(name: "tech")
        context.insert(article)
        context.insert(tech)
        try context.save()
        func changes(_ read: () -> Void, by change: () throws -> Void) rethrows -> Bool {
            let flag = Flag()
            withObservationTracking(read) { flag.isSet = true }
            try change()
            return flag.isSet
        }
        #expect(
            changes {
                _ = article.title
            } by: {
                article.title = "B"
            })
        #expect(
            !changes {
                _ = article.words
            } by: {
                article.title = "C"
            })
        #expect(
            changes {
                _ = tech.articles
            } by: {
                article.category = tech
            })
        try context.save()
        let other = ModelContext(container)
        let same = try #require(try other.fetch(FetchDescriptor<Article>()).first)
        same.title = "D"
        try other.save()
        #expect(
            try changes {
                _ = article.title
            } by: {
                _ = try context.fetch(FetchDescriptor<Article>())
            })
        #expect(article.title == "D")
    }

    private final class Flag: @unchecked Sendable {
        // Written and read by one test.
        var isSet = false
    }

    @Test("a model of a deleted identifier is marked as deleted, and reading it does not trap")
    func gone() throws {
        let container = try makeContainer()
        let context = ModelContext(container)
        let article = Article(title: "A")
        context.insert(article)
        try context.save()
        let identifier = article.persistentModelID
        context.delete(article)
        try context.save()
        let other = ModelContext(container)
        let model = try #require(other.model(for: identifier) as? Article)
        #expect(model.title == "")
        #expect(model.genre == .news)
        #expect(model.tags.isEmpty)
        #expect(model.isDeleted)
        let existing: Article? = try other.existingModel(for: identifier)
        #expect(existing == nil)
    }

    @Test("an identifier of another store, temporary or not, has no model")
    func foreign() throws {
        let context = ModelContext(try makeContainer())
        let other = ModelContext(try makeContainer())
        let article = Article(title: "A")
        other.insert(article)
        for _ in 0..<2 {
            let existing: Article? = try context.existingModel(for: article.persistentModelID)
            #expect(existing == nil)
            #expect((context.model(for: article.persistentModelID) as? Article)?.title == "")
            try other.save()
        }
    }

    @Test("enumerate and fetch read models in batches")
    func batches() throws {
        let context = ModelContext(try makeContainer())
        for index in 0..<25 { context.insert(Article(title: "T", words: index)) }
        try context.save()
        var sum = 0
        try context.enumerate(FetchDescriptor<Article>(), batchSize: 10) { sum += $0.words }
        #expect(sum == 300)
        var descriptor = FetchDescriptor<Article>(sortBy: [SortDescriptor(\.words)])
        descriptor.includePendingChanges = false
        let results: FetchResultsCollection<Article> = try context.fetch(
            descriptor, batchSize: 10)
        #expect(results.count == 25)
        #expect(results[24].words == 24)
    }

    @Test("a model actor has a context of its own")
    func actor() async throws {
        let container = try makeContainer()
        let handler = Handler(modelContainer: container)
        let identifier = try await handler.add("A")
        try await handler.rename(identifier, "B")
        let context = ModelContext(container)
        #expect(try context.fetch(FetchDescriptor<Article>()).map(\.title) == ["B"])
    }
}

@ModelActor actor Handler {
    func add(_ title: String) throws -> PersistentIdentifier {
        let article = Article(title: title)
        modelContext.insert(article)
        try modelContext.save()
        return article.persistentModelID
    }

    func rename(_ identifier: PersistentIdentifier, _ title: String) throws {
        self[identifier, as: Article.self]?.title = title
        try modelContext.save()
    }
}
