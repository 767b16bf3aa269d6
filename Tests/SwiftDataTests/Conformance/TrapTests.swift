import Foundation
import SwiftData
import Testing

/// Traps of Apple's framework, and others that its users know. Those of deleted models are in
/// `SafetyTests`, those of bad input in `BadInputTests`.
@Suite("What ends the process elsewhere does not here")
struct TrapTests {
    @Test("a key path of a constant in a predicate is an error and does not trap")
    func constants() throws {
        let context = ModelContext(try makeContainer())
        context.insert(Fixed())
        let descriptor = FetchDescriptor<Fixed>(predicate: #Predicate { $0.number == 1 })
        #expect(throws: (any Error).self) { try context.fetch(descriptor) }
        let own = ModelContext(
            try ModelContainer(
                for: Fixed.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true)))
        own.insert(Fixed())
        for _ in 0..<2 {
            #expect(throws: SwiftDataError.unsupportedPredicate) { try own.fetch(descriptor) }
            try own.save()
        }
    }

    @Test("an identifier of an entity that the container does not have does not trap")
    func unknownEntity() throws {
        let context = ModelContext(try makeContainer())
        let node = Node()
        let model = context.model(for: node.persistentModelID)
        #expect(model.isDeleted)
        let registered: Node? = context.registeredModel(for: node.persistentModelID)
        #expect(registered == nil)
        #expect(!(model is Article) && !(model is Tag))
    }

    @Test("an identifier of a model of another type is not found, and does not trap")
    func otherType() async throws {
        let container = try makeContainer()
        let context = ModelContext(container)
        let tag = Tag(name: "t")
        context.insert(tag)
        try context.save()
        let registered: Article? = context.registeredModel(for: tag.persistentModelID)
        #expect(registered == nil)
        let existing: Article? = try context.existingModel(for: tag.persistentModelID)
        #expect(existing == nil)
        #expect(await Reader(modelContainer: container).title(of: tag.persistentModelID) == nil)
    }

    @Test("an observer of a save may use the main context on another thread")
    @MainActor func observersOnOtherThreads() async throws {
        let container = try makeContainer()
        let main = container.mainContext
        main.autosaveEnabled = false
        let held = Held(context: main)
        let observer = NotificationCenter.default.addObserver(
            forName: ModelContext.didSave, object: nil, queue: nil
        ) { note in
            guard (note.object as? ModelContext)?.container == container else { return }
            _ = try? held.context.fetch(FetchDescriptor<Note>())
            held.context.insert(Note(text: "seen"))
        }
        let count = 20
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for number in 0..<(count / 4) {
                        let context = ModelContext(container)
                        context.insert(Tag(name: "\(number)"))
                        #expect(throws: Never.self) { try context.save() }
                    }
                }
            }
            for _ in 0..<100 {
                main.insert(Note(text: "own"))
                _ = try? main.fetchCount(FetchDescriptor<Note>())
            }
        }
        NotificationCenter.default.removeObserver(observer)
        #expect(try main.fetchCount(FetchDescriptor<Note>()) == 100 + count)
    }

    /// Unchecked: the test is about threads that use the context at the same time.
    private struct Held: @unchecked Sendable { let context: ModelContext }

    @Test("a model whose container was released by its function can be used")
    func releasedContainer() throws {
        func make() throws -> (ModelContext, Article) {
            let context = ModelContext(try makeContainer())
            let article = Article(title: "a", category: Category(name: "c"))
            context.insert(article)
            return (context, article)
        }
        let (context, article) = try make()
        try context.save()
        #expect(article.modelContext === context)
        #expect(context.container.schema.entities.count == 4)
        #expect(article.category?.articles.first === article)
    }

    @Test("a stored value that the property's type does not accept does not trap")
    func unreadableValues() throws {
        let folder = try StoreFileTests.Folder()
        let configuration = ModelConfiguration(url: folder.url.appending(path: "a.store"))
        do {
            let context = ModelContext(
                try ModelContainer(
                    for: Wide.Paint.self, configurations: configuration))
            context.insert(Wide.Paint(color: .violet))
            try context.save()
        }
        let context = ModelContext(
            try ModelContainer(for: Narrow.Paint.self, configurations: configuration))
        let paint = try #require(try context.fetch(FetchDescriptor<Narrow.Paint>()).first)
        #expect(paint.color == .red)
        #expect(paint.shape == Narrow.Shape(corners: 0))
        #expect(!context.hasChanges)
        paint.color = .blue
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
        #expect(paint.color == .red)
        paint.color = .blue
        try context.save()
        #expect(paint.color == .blue)
    }

    @Test("results of a fetch whose models are deleted while they are read do not trap")
    func resultsOfDeletedModels() throws {
        let container = try makeContainer()
        let context = ModelContext(container)
        for number in 0..<30 { context.insert(Article(title: "\(number)", words: number)) }
        try context.save()
        let results = try context.fetch(
            FetchDescriptor<Article>(sortBy: [SortDescriptor(\.words)]), batchSize: 10)
        #expect(results[0].title == "0")
        let other = ModelContext(container)
        try other.delete(model: Article.self, where: #Predicate { $0.words > 4 })
        try other.save()
        #expect(results.count == 30)
        let titles = results.map(\.title)
        #expect(titles.count == 30)
        #expect(results[29].isDeleted)
        var seen = 0
        try context.enumerate(FetchDescriptor<Article>(), allowEscapingMutations: true) {
            seen += 1
            context.delete($0)
        }
        #expect(seen == 5)
    }

    @Test("a relationship set to a model of another container is an error of the save")
    func otherContainer() throws {
        let (one, two) = (
            ModelContext(try makeContainer()), ModelContext(try makeContainer())
        )
        let (article, category) = (Article(title: "a"), Category(name: "c"))
        one.insert(article)
        two.insert(category)
        try one.save()
        try two.save()
        article.category = category
        article.tags = [Tag(name: "t")]
        #expect(article.category == nil)
        #expect {
            try one.save()
        } throws: { error in
            error as? SwiftDataError == .modelValidationFailure
                && "\(error)".contains("Article.category")
        }
        article.category = nil
        try one.save()
        try two.save()
        #expect(category.articles.isEmpty)
        #expect(article.tags.map(\.name) == ["t"])
    }

    @Test("backing data that is asked for a property that it does not have does not trap")
    func backingData() throws {
        let article = Article(title: "a", words: 3)
        let data = article.persistentBackingData
        #expect(data.getValue(forKey: \.title) == "a")
        #expect(data.getTransformableValue(forKey: \.hashValue) == article.hashValue)
        data.setTransformableValue(forKey: \.hashValue, to: 1)
        data.setValue(forKey: \.words, to: 4)
        #expect(article.words == 4)
        let empty: some BackingData<Article> = Article.createBackingData()
        #expect(empty.getValue(forKey: \.title) == "")
        #expect(empty.getValue(forKey: \.category) == nil)
        #expect(empty.getValue(forKey: \.tags).isEmpty)
    }
}

/// A constant is not stored.
@Model final class Fixed {
    @Transient let number = 1
    var text = ""

    init() {}
}

@ModelActor private actor Reader {
    func title(of identifier: PersistentIdentifier) -> String? {
        self[identifier, as: Article.self]?.title
    }
}

/// Two forms of one model: the first has values that the second does not accept.
enum Wide {
    enum Color: String, Codable { case red, blue, violet }
    struct Shape: Codable { var sides = 3 }

    @Model final class Paint {
        var color: Color
        var shape = Shape()
        init(color: Color) { self.color = color }
    }
}

enum Narrow {
    enum Color: String, Codable { case red, blue }
    struct Shape: Codable, Equatable { var corners: Int }

    @Model final class Paint {
        var color: Color
        var shape: Shape
        init(color: Color) {
            self.color = color
            shape = Shape(corners: 3)
        }
    }
}
