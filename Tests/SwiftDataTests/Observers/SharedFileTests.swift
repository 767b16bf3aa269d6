import Foundation
import SwiftData
import Testing

@MainActor @Suite("Changes of others in a store file")
struct SharedFileTests {
    private let folder: StoreFileTests.Folder
    /// The owner of the file.
    private let writer: ModelContainer
    /// A container that joins through the owner's socket, as another process does.
    private let reader: ModelContainer

    init() async throws {
        folder = try StoreFileTests.Folder()
        let configuration = ModelConfiguration(url: folder.url.appending(path: "test.store"))
        writer = try ModelContainer(
            for: Category.self, Article.self, Tag.self, Note.self, configurations: configuration)
        reader = try ModelContainer(
            for: Category.self, Article.self, Tag.self, Note.self, configurations: configuration)
        reader.mainContext.autosaveEnabled = false
    }

    private func change(of read: () -> Void, after body: () throws -> Void) async rethrows {
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        withObservationTracking(read) { continuation.yield() }
        try body()
        for await _ in stream { break }
    }

    private func write(_ change: (ModelContext) throws -> Void) throws {
        let context = ModelContext(writer)
        try change(context)
        try context.save()
    }

    @Test("commits to a shared file reach a results observer and its models")
    func results() async throws {
        try write { $0.insert(Article(title: "A")) }
        let observer = try ResultsObserver<Article, Never>(modelContainer: reader)
        let article = try #require(observer.results.first)
        try await change(
            of: { _ = article.title },
            after: {
                try write { try $0.fetch(FetchDescriptor<Article>()).first?.title = "B" }
            })
        #expect(article.title == "B")
        try await change(
            of: { _ = observer.results }, after: { try write { $0.insert(Article(title: "C")) } })
        #expect(observer.results.map(\.title) == ["B", "C"])
        try await change(
            of: { _ = observer.results },
            after: {
                try write { context in
                    try context.delete(model: Article.self, where: #Predicate { $0.title == "B" })
                }
            })
        #expect(observer.results.map(\.title) == ["C"])
        #expect(article.isDeleted)
        #expect(article.title == "B")
    }

    @Test("commits to a shared file refresh a following context, on its actor")
    func following() async throws {
        try write { $0.insert(Article(title: "A", category: Category(name: "tech"))) }
        let context = reader.mainContext
        context.followsChanges = true
        let article = try #require(try context.fetch(FetchDescriptor<Article>()).first)
        let category = try #require(article.category)
        #expect(category.articles.count == 1)
        try await change(
            of: { _ = article.title },
            after: {
                try write { try $0.fetch(FetchDescriptor<Article>()).first?.title = "B" }
            })
        #expect(article.title == "B")
        try await change(
            of: { _ = category.articles },
            after: {
                try write { context in
                    let category = try context.fetch(FetchDescriptor<Category>()).first
                    context.insert(Article(title: "C", category: category))
                }
            })
        #expect(category.articles.map(\.title) == ["B", "C"])
        try await change(
            of: { _ = article.title }, after: { try write { try $0.delete(model: Article.self) } })
        #expect(article.isDeleted)
        #expect(article.modelContext == nil)
        #expect(article.title == "B")
        #expect(category.articles.isEmpty)
    }

    @Test("a history observer counts the commits of every container to a shared file")
    func history() async throws {
        let observer = try HistoryObserver(authors: ["x"], modelContainer: reader)
        try await change(
            of: { _ = observer.eventCounter },
            after: {
                try write { $0.insert(Article(title: "A")) }
                try write { context in
                    context.author = "x"
                    context.insert(Article(title: "B"))
                }
            })
        #expect(observer.eventCounter == 1)
        let own = try ModelContext(writer).fetchHistory(Transactions())
        let read = try ModelContext(reader).fetchHistory(Transactions())
        #expect(own == read)
        #expect(own.map(\.token) == read.map(\.token))
        #expect(read.map(\.author) == [nil, "x"])
        try #require(own.count == 2)
        let token = own[0].token
        let after = Transactions(predicate: #Predicate { $0.token > token && $0.author == "x" })
        #expect(try ModelContext(reader).fetchHistory(after).map(\.id) == [own[1].id])
    }
}
