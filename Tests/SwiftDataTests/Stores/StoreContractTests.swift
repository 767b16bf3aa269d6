import Foundation
import SwiftData
import Testing

@Suite("What a context asks a store for that a program writes itself")
struct StoreContractTests {
    private let configuration = DictionaryConfiguration()
    private var shelf: Cupboard { configuration.shelf }
    private let files = FileManager.default.temporaryDirectory.appending(
        path: "larder-\(UUID().uuidString)")

    private func container() throws -> ModelContainer {
        try ModelContainer(for: Studio.self, Film.self, configurations: configuration)
    }

    @Test("a custom store with only fetch and save supports predicates, orders, limits and counts")
    func minimalStore() throws {
        defer { try? FileManager.default.removeItem(at: files) }
        func container() throws -> ModelContainer {
            try ModelContainer(
                for: Trip.self, configurations: MinimalStore.Configuration(fileURL: files))
        }
        let context = ModelContext(try container())
        let start = Date(timeIntervalSince1970: 1_000_000)
        for (index, name) in ["d", "a", "c", "b"].enumerated() {
            let trip = Trip(name: name, start: start, nights: index)
            trip.price = 12.5
            context.insert(trip)
        }
        try context.save()
        let again = ModelContext(try container())
        var long = FetchDescriptor<Trip>(
            predicate: #Predicate { $0.nights > 0 && $0.start == start && $0.price > 12 },
            sortBy: [SortDescriptor(\.name)])
        #expect(try again.fetch(long).map(\.name) == ["a", "b", "c"])
        #expect(try again.fetchCount(long) == 3)
        long.fetchLimit = 1
        long.fetchOffset = 1
        #expect(try again.fetch(long).map(\.name) == ["b"])
        #expect(try again.fetchIdentifiers(long).count == 1)
        var first = FetchDescriptor<Trip>(sortBy: [SortDescriptor(\.name)])
        first.fetchLimit = 2
        #expect(try again.fetch(first).map(\.name) == ["a", "b"])
        try again.fetch(long).first?.name = "e"
        try again.delete(model: Trip.self, where: #Predicate { $0.name == "a" })
        try again.save()
        let last = try ModelContext(try container()).fetch(FetchDescriptor<Trip>())
        #expect(Set(last.map(\.name)) == ["c", "d", "e"])
        #expect(last.allSatisfy { $0.start == start })
        #expect(throws: DataStoreError.unsupportedFeature) { try again.container.erase() }
    }

    @Test("a custom store that wraps a default store opens its file")
    func passingStore() throws {
        let folder = files
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let passing = PassingConfiguration("notes", url: folder.appending(path: "notes.store"))
        let context = ModelContext(
            try ModelContainer(
                for: Category.self, Article.self, Tag.self, Note.self, configurations: passing))
        let article = Article(title: "a", words: 1, category: Category(name: "News"))
        article.notes = [Note(text: "m"), Note(text: "n")]
        context.insert(article)
        try context.save()
        let long = FetchDescriptor<Article>(predicate: #Predicate { $0.words > 0 })
        #expect(try context.fetchCount(long) == 1)
        article.words = 2
        #expect(try context.fetchCount(long) == 1)
        try context.save()
        #expect(
            passing.log.lines.filter { !$0.hasPrefix("fetch ") } == [
                "insert Article Category Note Note", "fetchCount Article",
                "fetchIdentifiers Article", "update Article",
            ])
    }

    @Test("a new model with the unique values of one in a custom store becomes that one")
    func uniqueValues() throws {
        let passing = PassingConfiguration(try makeDefaultStore())
        let context = ModelContext(
            try ModelContainer(for: librarySchema, configurations: [passing]))
        let first = Category(name: "News")
        context.insert(first)
        context.insert(Article(title: "a", words: 1, category: first))
        try context.save()
        let second = Category(name: "News")
        context.insert(second)
        try context.save()
        #expect(second.persistentModelID == first.persistentModelID)
        #expect(second.articles.map(\.title) == ["a"])
        let third = Category(name: "News")
        let other = ModelContext(context.container)
        other.insert(third)
        try other.save()
        #expect(third.articles.map(\.title) == ["a"])
        let stored = try ModelContext(context.container).fetch(FetchDescriptor<Category>())
        #expect(stored.map { $0.articles.map(\.title) } == [["a"]])
    }

    @Test("a context applies delete rules, and a custom store gets all deleted objects")
    func deleteRules() throws {
        let passing = PassingConfiguration(
            try makeDefaultStore(Schema([Author.self, Novel.self, Chapter.self])))
        let books = ModelContext(
            try ModelContainer(
                for: Author.self, Novel.self, Chapter.self, configurations: passing))
        let author = Author(name: "Ada")
        let novel = Novel(title: "N", author: author)
        novel.chapters = [Chapter(number: 1), Chapter(number: 2)]
        books.insert(novel)
        try books.save()
        passing.log.lines = []
        books.delete(author)
        #expect(throws: SwiftDataError.modelValidationFailure) { try books.save() }
        #expect(!passing.log.lines.contains { $0.hasPrefix("delete") })
        books.rollback()
        books.delete(novel)
        try books.save()
        #expect(passing.log.lines.contains("delete Chapter Chapter Novel"))
        books.delete(author)
        try books.save()
        #expect(passing.log.lines.last == "delete Author")
    }

    /// As the generic functions of a store write it, which is not equal to that of a class.
    private func keyPath<T: PersistentModel>(of type: T.Type) -> KeyPath<T, PersistentIdentifier> {
        \T.persistentModelID
    }

    @Test("model(for:) and relationships fetch by a predicate over a set of identifiers")
    func identifierPredicates() throws {
        typealias Wanted<Model> = PredicateExpressions.SequenceContains<
            PredicateExpressions.Value<Set<PersistentIdentifier>>,
            PredicateExpressions.KeyPath<
                PredicateExpressions.Variable<Model>, PersistentIdentifier
            >
        >
        let container = try container()
        let context = ModelContext(container)
        let film = Film(title: "a", studio: Studio(name: "S"))
        context.insert(film)
        try context.save()
        let (filmID, studioID) = (film.persistentModelID, film.studio?.persistentModelID)
        shelf.isCaching = false
        shelf.leavesPredicates = true
        shelf.predicates = []
        let other = ModelContext(container)
        #expect((other.model(for: filmID) as? Film)?.studio?.name == "S")
        let films = shelf.predicates.compactMap { $0 as? Predicate<Film> }
        let wanted = try #require(films.first?.expression as? Wanted<Film>)
        #expect(wanted.sequence.value == [filmID])
        #expect(wanted.element.keyPath == keyPath(of: Film.self))
        let studios = shelf.predicates.compactMap { $0 as? Predicate<Studio> }
        let studio = try #require(studios.first?.expression as? Wanted<Studio>)
        #expect(studio.sequence.value == [studioID])
    }

    @Test("a snapshot is made with the backing data of the other objects of the save")
    func relatedBackingDatas() throws {
        let context = ModelContext(try container())
        context.insert(Film(title: "a", studio: Studio(name: "S")))
        try context.save()
        #expect(shelf.rows.values.compactMap(\.studioName) == ["S"])
    }

    @Test("updated objects in a save refer to new objects by temporary identifiers")
    func remapping() throws {
        let context = ModelContext(try container())
        let film = Film(title: "a")
        context.insert(film)
        try context.save()
        film.studio = Studio(name: "S")
        try context.save()
        let request = try #require(shelf.requests.last)
        let new = try #require(request.inserted.first?.persistentIdentifier)
        #expect(new.isTemporary)
        #expect(request.updated.map(\.studio) == [new])
        #expect(film.studio?.persistentModelID.isTemporary == false)
        #expect(shelf.rows.values.compactMap(\.studio) == [film.studio?.persistentModelID])
    }

    @Test("the error of validating a store's configuration is that of the container")
    func validation() {
        let malformed = DictionaryConfiguration(name: "")
        #expect(throws: DictionaryConfiguration.Malformed(name: "")) {
            try ModelContainer(for: Studio.self, Film.self, configurations: malformed)
        }
    }
}

@Model final class Author {
    var name: String
    @Relationship(deleteRule: .deny, inverse: \Novel.author) var novels: [Novel] = []

    init(name: String) { self.name = name }
}

@Model final class Novel {
    var title: String
    var author: Author?
    @Relationship(deleteRule: .cascade, inverse: \Chapter.novel) var chapters: [Chapter] = []

    init(title: String, author: Author) {
        self.title = title
        self.author = author
    }
}

@Model final class Chapter {
    var number: Int
    var novel: Novel?

    init(number: Int) { self.number = number }
}
