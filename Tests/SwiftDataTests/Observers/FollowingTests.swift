import Foundation
import SwiftData
import Testing

@Suite("Changes of others in a context")
struct FollowingTests {
    private func changes(of read: () -> Void) -> Flag {
        let flag = Flag()
        withObservationTracking(read) { flag.isSet = true }
        return flag
    }

    @Test(
        "a held model has the changes of another context after a fetch, or if its context follows")
    func heldModels() throws {
        let container = try makeContainer()
        let context = ModelContext(container)
        let article = Article(title: "A")
        context.insert(article)
        try context.save()
        let other = ModelContext(container)
        try #require(try other.fetch(FetchDescriptor<Article>()).first).title = "B"
        try other.save()
        context.processPendingChanges()
        _ = context.model(for: article.persistentModelID)
        #expect(article.title == "A")
        _ = try context.fetch(FetchDescriptor<Article>())
        #expect(article.title == "B")
    }

    @Test("changes of another context refresh the models of a following context at its next call")
    func values() throws {
        let container = try makeContainer()
        let context = ModelContext(container)
        #expect(!context.followsChanges)
        context.followsChanges = true
        let article = Article(title: "A", words: 1)
        context.insert(article)
        try context.save()
        let other = ModelContext(container)
        let same = try #require(try other.fetch(FetchDescriptor<Article>()).first)
        same.title = "B"
        try other.save()
        let flag = changes { _ = article.title }
        let unchanged = changes { _ = article.words }
        context.processPendingChanges()
        #expect(flag.isSet)
        #expect(!unchanged.isSet)
        #expect(article.title == "B")
        #expect(!context.hasChanges)
        same.title = "C"
        try other.save()
        #expect(context.model(for: article.persistentModelID) === article)
        #expect(article.title == "C")
        context.followsChanges = false
        same.title = "D"
        try other.save()
        context.processPendingChanges()
        #expect(article.title == "C")
    }

    @Test("changes of another context refresh lists of which only the other side was changed")
    func lists() throws {
        let container = try makeContainer()
        let context = ModelContext(container)
        context.followsChanges = true
        let tech = Category(name: "tech")
        let tag = Tag(name: "t")
        context.insert(tech)
        context.insert(tag)
        try context.save()
        #expect(tech.articles.isEmpty)
        #expect(tag.articles.isEmpty)
        let flag = changes { _ = tech.articles }
        let other = ModelContext(container)
        let article = Article(title: "A")
        other.insert(article)
        article.category = try other.fetch(FetchDescriptor<Category>()).first
        article.tags = try other.fetch(FetchDescriptor<Tag>())
        try other.save()
        context.processPendingChanges()
        #expect(flag.isSet)
        #expect(tech.articles.map(\.title) == ["A"])
        #expect(tag.articles.map(\.title) == ["A"])
        other.delete(article)
        try other.save()
        context.processPendingChanges()
        #expect(tech.articles.isEmpty)
        #expect(tag.articles.isEmpty)
    }

    @Test("changes are reported to readers along relationships that hold only the first model")
    func alongRelationships() throws {
        let container = try makeContainer()
        let other = ModelContext(container)
        let tech = Category(name: "tech")
        let article = Article(title: "A", category: tech)
        let tag = Tag(name: "t", articles: [article])
        other.insert(tag)
        // So many that a context does not keep all that it has read.
        let art = Category(name: "art")
        other.insert(art)
        art.articles = (0..<10_000).map { Article(title: "\($0)") }
        try other.save()

        let context = ModelContext(container)
        context.followsChanges = true
        let named = FetchDescriptor<Tag>(predicate: #Predicate { $0.name == "t" })
        let held = try #require(try context.fetch(named).first)
        let titles = changes { _ = held.articles.map(\.title) }
        let names = changes { _ = held.articles.map(\.category?.name) }
        let words = changes { _ = held.articles.map(\.words) }
        let predicate = #Predicate<SwiftDataTests.Category> { $0.name == "art" }
        for _ in 0..<2 {
            let many = try context.fetch(FetchDescriptor(predicate: predicate))
            #expect(many.first?.articles.count { !$0.title.isEmpty } == 10_000)
        }
        article.title = "B"
        tech.name = "technology"
        try other.save()
        context.processPendingChanges()
        #expect(titles.isSet)
        #expect(names.isSet)
        #expect(!words.isSet)
        #expect(held.articles.map(\.title) == ["B"])
        #expect(held.articles.map(\.category?.name) == ["technology"])

        let deletion = changes { _ = held.articles.first?.title }
        other.delete(article)
        try other.save()
        context.processPendingChanges()
        #expect(deletion.isSet)
        #expect(held.articles.isEmpty)
    }

    @Test("changes of another context do not replace values that the following context has changed")
    func modifiedModels() throws {
        let container = try makeContainer()
        let context = ModelContext(container)
        context.followsChanges = true
        let article = Article(title: "A", words: 1)
        context.insert(article)
        try context.save()
        article.title = "mine"
        let other = ModelContext(container)
        let same = try #require(try other.fetch(FetchDescriptor<Article>()).first)
        same.title = "B"
        same.words = 2
        try other.save()
        context.processPendingChanges()
        #expect(article.title == "mine")
        #expect(article.words == 2)
        try context.save()
        _ = try other.fetch(FetchDescriptor<Article>())
        #expect(same.title == "mine")
    }

    @Test("models that another context deletes are marked as deleted and keep their last values")
    func deletion() throws {
        let container = try makeContainer()
        let context = ModelContext(container)
        let article = Article(title: "A", category: Category(name: "tech"))
        context.insert(article)
        try context.save()
        let other = ModelContext(container)
        let flag = changes { _ = article.title }
        other.delete(try #require(try other.fetch(FetchDescriptor<Article>()).first))
        try other.save()
        #expect(try context.fetchCount(FetchDescriptor<Article>()) == 0)
        #expect(flag.isSet)
        #expect(article.isDeleted)
        #expect(article.modelContext == nil)
        #expect(article.title == "A")
        #expect(article.words == 0)
        article.title = "B"
        try context.save()
        #expect(!context.hasChanges)
    }

    @Test("a following context sees all changes of another context, however many")
    func overflow() throws {
        let container = try makeContainer()
        let context = ModelContext(container)
        context.followsChanges = true
        let changed = Note(text: "A")
        let deleted = Note(text: "A")
        let kept = Note(text: "A")
        for note in [changed, deleted, kept] { context.insert(note) }
        try context.save()
        let other = ModelContext(container)
        let notes = try other.fetch(FetchDescriptor<Note>())
        for number in 0..<4_200 {
            notes.first { $0 == changed }?.text = "\(number)"
            if number == 5 { notes.first { $0 == deleted }.map { other.delete($0) } }
            try other.save()
        }
        context.processPendingChanges()
        #expect(changed.text == "4199")
        #expect(deleted.isDeleted)
        #expect(deleted.text == "A")
        #expect(!kept.isDeleted)
    }

    @Test("changes of other contexts refresh the main context on the main actor")
    @MainActor func mainContext() async throws {
        let container = try makeContainer()
        let context = container.mainContext
        context.followsChanges = true
        let article = Article(title: "A")
        context.insert(article)
        try context.save()
        let handler = Handler(modelContainer: container)
        await confirmation { seen in
            await withCheckedContinuation { continuation in
                withObservationTracking {
                    _ = article.title
                } onChange: {
                    seen()
                    continuation.resume()
                }
                let identifier = article.persistentModelID
                Task { try await handler.rename(identifier, "B") }
            }
        }
        // The change is reported before the value is replaced, in one turn of the main actor.
        await Task { @MainActor in }.value
        #expect(article.title == "B")
        #expect(!context.hasChanges)
    }

    @Test("changes of other contexts refresh the context of a model actor on its executor")
    func actorContext() async throws {
        let container = try makeContainer()
        let context = ModelContext(container)
        let article = Article(title: "A")
        context.insert(article)
        try context.save()
        let follower = Follower(modelContainer: container)
        let changes = try await follower.follow(article.persistentModelID)
        article.title = "B"
        try context.save()
        for await _ in changes { break }
        #expect(await follower.title == "B")
    }
}

@ModelActor private actor Follower {
    private var article: Article?

    /// Begins to follow, and yields when the title of an article changes.
    func follow(_ identifier: PersistentIdentifier) throws -> AsyncStream<Void> {
        modelContext.followsChanges = true
        article = self[identifier, as: Article.self]
        return AsyncStream { continuation in
            withObservationTracking {
                _ = article?.title
            } onChange: {
                continuation.yield()
            }
        }
    }

    var title: String? { article?.title }
}
