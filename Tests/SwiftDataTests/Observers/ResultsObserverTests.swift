import Foundation
import SwiftData
import TestSupport
import Testing

@MainActor @Suite("A results observer")
struct ResultsObserverTests {
    private let container: ModelContainer
    private var context: ModelContext { container.mainContext }

    init() async throws {
        container = try makeContainer()
        container.mainContext.autosaveEnabled = false
    }

    private func add(_ titles: String..., words: Int = 0) throws {
        for title in titles { context.insert(Article(title: title, words: words)) }
        try context.save()
    }

    /// Waits until a property that a closure reads has changed.
    private func change(
        of read: () -> Void, after body: () throws -> Void = {}
    ) async rethrows {
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        withObservationTracking(read) { continuation.yield() }
        try body()
        for await _ in stream { break }
        // The change is reported before the value is replaced, in one turn of the main actor.
        await Task { @MainActor in }.value
    }

    @Test("a results observer has the models of its descriptor in order")
    func results() async throws {
        try add("c", "a", "b")
        let observer = try ResultsObserver<Article, Never>(
            fetchDescriptor: FetchDescriptor(sortBy: [SortDescriptor(\.title)]),
            modelContext: context)
        #expect(observer.results.map(\.title) == ["a", "b", "c"])
        #expect(observer.sections == nil)
        #expect(observer.sectionBy == nil)
        #expect(observer.modelContext === context)
        #expect(observer.fetchDescriptor.sortBy.count == 1)
        #expect(observer.element(at: IndexPath(indexes: [0, 1]))?.title == "b")
        #expect(observer.element(at: IndexPath(index: 2))?.title == "c")
        #expect(observer.element(at: IndexPath(indexes: [1, 1])) == nil)
        #expect(observer.element(at: IndexPath(indexes: [0, 3])) == nil)
        #expect(observer.element(at: IndexPath(indexes: [])) == nil)
        #expect(observer.indexPath(for: observer.results[2]) == IndexPath(indexes: [0, 2]))
        #expect(observer.indexPath(for: Article(title: "x")) == nil)
        #expect(observer.debugDescription.contains("3 results"))
    }

    @Test("a results observer fetches again after pending changes of its context")
    func pendingChanges() async throws {
        let observer = try ResultsObserver<Article, Never>(modelContext: context)
        #expect(observer.results.isEmpty)
        let article = Article(title: "A")
        await change(of: { _ = observer.results }, after: { context.insert(article) })
        #expect(observer.results.map(\.title) == ["A"])
        await change(of: { _ = observer.results }, after: { context.delete(article) })
        #expect(observer.results.isEmpty)
        await change(of: { _ = observer.results }, after: { context.insert(Article(title: "B")) })
        await change(of: { _ = observer.results }, after: { context.rollback() })
        #expect(observer.results.isEmpty)
    }

    @Test("a results observer fetches again after a commit of another context")
    func commitsOfOthers() async throws {
        try add("A")
        let observer = try ResultsObserver<Article, Never>(modelContext: context)
        let article = try #require(observer.results.first)
        let handler = Handler(modelContainer: container)
        let identifier = article.persistentModelID
        // A view that shows the model sees what an actor saves.
        await change(
            of: { _ = article.title },
            after: { Task { try await handler.rename(identifier, "B") } })
        #expect(article.title == "B")
        await change(of: { _ = observer.results }, after: { Task { try await handler.add("C") } })
        #expect(observer.results.map(\.title) == ["B", "C"])
        #expect(observer.results.first === article)
        try await change(
            of: { _ = observer.results },
            after: {
                let other = ModelContext(container)
                try other.delete(model: Article.self, where: #Predicate { $0.title == "B" })
                try other.save()
            })
        #expect(observer.results.map(\.title) == ["C"])
        #expect(article.isDeleted)
    }

    @Test("a results observer fetches again when related models in its predicate change")
    func relatedModels() async throws {
        let article = Article(title: "A", category: Category(name: "x"))
        context.insert(article)
        try context.save()
        let observer = try ResultsObserver<Article, Never>(
            filterBy: #Predicate { $0.category?.name == "y" }, modelContext: context)
        #expect(observer.results.isEmpty)
        try await change(
            of: { _ = observer.results },
            after: {
                let other = ModelContext(container)
                try other.fetch(FetchDescriptor<Category>()).first?.name = "y"
                try other.save()
            })
        #expect(observer.results.map(\.title) == ["A"])
    }

    @Test("a results observer with another predicate or order has other results at once")
    func otherPredicate() async throws {
        try add("a", "b")
        let observer = try ResultsObserver<Article, Never>(
            sortBy: [SortDescriptor(\.title)], modelContainer: container)
        #expect(observer.modelContext === context)
        #expect(observer.filterBy == nil)
        observer.filterBy = #Predicate { $0.title == "b" }
        #expect(observer.results.map(\.title) == ["b"])
        observer.filterBy = nil
        observer.sortBy = [SortDescriptor(\.title, order: .reverse)]
        #expect(observer.results.map(\.title) == ["b", "a"])
        #expect(observer.fetchDescriptor.sortBy == observer.sortBy)
    }

    @Test("a results observer has sections in the order of their first models")
    func sections() async throws {
        try add("b1", "b2", words: 2)
        try add("a1", words: 1)
        let observer = try ResultsObserver<Article, String>(
            sortBy: [SortDescriptor(\.title)], sectionBy: \.initial, modelContext: context)
        let sections = try #require(observer.sections)
        #expect(sections.sectionNames == ["a", "b"])
        #expect(sections.map { $0.map(\.title) } == [["a1"], ["b1", "b2"]])
        #expect(sections[1].name == "b")
        #expect(sections[1].id == "b")
        #expect(sections[sectionName: "b"]?.count == 2)
        #expect(sections[sectionName: "x"] == nil)
        #expect(sections.contains(sectionName: "a"))
        #expect(!sections.contains(sectionName: "x"))
        #expect(sections.index(ofSectionNamed: "b") == 1)
        #expect(observer.sectionBy == \Article.initial)
        #expect(observer.element(at: IndexPath(indexes: [1, 1]))?.title == "b2")
        #expect(observer.element(at: IndexPath(indexes: [0, 1])) == nil)
        #expect(observer.element(at: IndexPath(index: 0)) == nil)
        #expect(observer.indexPath(for: sections[1][0]) == IndexPath(indexes: [1, 0]))
        await change(
            of: { _ = observer.sections }, after: { context.insert(Article(title: "c1")) })
        #expect(observer.sections?.sectionNames == ["a", "b", "c"])
        await change(of: { _ = observer.sections }, after: { sections[0][0].title = "d1" })
        #expect(observer.sections?.sectionNames == ["b", "c", "d"])
    }

    @Test("a results observer puts models whose section is nil into one without a name")
    func optionalSections() async throws {
        try add("A")
        let article = Article(title: "B", category: Category(name: "tech"))
        context.insert(article)
        let descriptor = FetchDescriptor<Article>(sortBy: [SortDescriptor(\.title)])
        let observer = try ResultsObserver<Article, String>(
            fetchDescriptor: descriptor, sectionBy: \.category?.name, modelContainer: container)
        #expect(observer.sections?.sectionNames == ["", "tech"])
        await change(of: { _ = observer.sections }, after: { article.category?.name = "art" })
        #expect(observer.sections?.sectionNames == ["", "art"])
    }

    @Test("a results observer ends with its last reference, and its context does not retain it")
    func lifetime() async throws {
        try add("A")
        weak var ended: ResultsObserver<Article, Never>?
        do {
            let observer = try ResultsObserver<Article, Never>(modelContext: context)
            ended = observer
            context.insert(Article(title: "B"))
        }
        #expect(eventually { ended == nil })
        try context.save()
        weak var endedActor: Watcher?
        do {
            let watcher = Watcher(modelContainer: container)
            endedActor = watcher
            #expect(try await watcher.start() == 2)
        }
        #expect(eventually { endedActor == nil })
    }

    @Test("a results observer belongs to the actor that makes it")
    func otherActor() async throws {
        let watcher = Watcher(modelContainer: container)
        #expect(try await watcher.start() == 0)
        let changes = await watcher.changes()
        try add("A")
        for await _ in changes { break }
        #expect(await watcher.count == 1)
    }

    @Test("a results observer without an actor fetches when it is read")
    nonisolated func withoutActor() throws {
        let container = try makeContainer()
        let context = ModelContext(container)
        let observer = try ResultsObserver<Article, Never>(modelContainer: container)
        #expect(observer.results.isEmpty)
        let flag = Flag()
        withObservationTracking {
            _ = observer.results
        } onChange: {
            flag.isSet = true
        }
        context.insert(Article(title: "A"))
        #expect(!flag.isSet)
        try context.save()
        #expect(flag.isSet)
        #expect(observer.results.map(\.title) == ["A"])
    }

    @Test("a results observer of a predicate that the store cannot evaluate is an error")
    func unsupportedPredicate() async throws {
        #expect(throws: SwiftDataError.self) {
            try ResultsObserver<Article, Never>(
                filterBy: #Predicate { $0.isShown }, modelContext: context)
        }
    }
}

extension Article {
    fileprivate var initial: String { String(title.prefix(1)) }
}

@ModelActor private actor Watcher {
    private var observer: ResultsObserver<Article, Never>?

    func start() throws -> Int {
        let observer = try ResultsObserver<Article, Never>(modelContext: modelContext)
        self.observer = observer
        return observer.results.count
    }

    func changes() -> AsyncStream<Void> {
        AsyncStream { continuation in
            withObservationTracking {
                _ = observer?.results.count
            } onChange: {
                continuation.yield()
            }
        }
    }

    var count: Int { observer?.results.count ?? 0 }
}
