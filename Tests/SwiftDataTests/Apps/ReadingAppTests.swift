import Foundation
import SwiftData
import Testing

// A reading list. The second version splits the names of authors, and replaces a Boolean by the
// state of reading: it remembers the old values between the two halves of the stage.

enum ReadingState: Int, Codable, CaseIterable, Comparable {
    case wanted
    case reading
    case finished

    static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

enum ReadingSource: Codable, Equatable {
    case shop(name: String)
    case friend(String)
    case link(URL)
    case unknown
}

enum ReadingV1: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Book.self, Author.self, Shelf.self] }

    @Model final class Book {
        @Attribute(.unique) var isbn: String
        var title: String
        var isRead: Bool
        var pages: Int
        var source: ReadingSource
        var authors: [Author]
        var shelf: Shelf?

        init(isbn: String, title: String, isRead: Bool, pages: Int, source: ReadingSource) {
            self.isbn = isbn
            self.title = title
            self.isRead = isRead
            self.pages = pages
            self.source = source
            authors = []
        }
    }

    @Model final class Author {
        var name: String
        var links: [URL] = []
        @Relationship(inverse: \Book.authors) var books: [Book] = []

        init(name: String) { self.name = name }
    }

    @Model final class Shelf {
        var name: String
        var index: Int
        @Relationship(deleteRule: .nullify, inverse: \Book.shelf) var books: [Book]? = []

        init(name: String, index: Int) {
            self.name = name
            self.index = index
        }
    }
}

enum ReadingV2: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] {
        [Book.self, Author.self, Shelf.self, Quote.self]
    }

    @Model final class Book {
        @Attribute(.unique) var isbn: String
        var title: String
        var state: ReadingState = ReadingState.wanted
        var pages: Int
        var source: ReadingSource
        var dateAdded: Date = Date.now
        var moods: Set<String> = []
        var authors: [Author]
        var shelf: Shelf?
        @Relationship(deleteRule: .cascade, inverse: \Quote.book) var quotes: [Quote]?

        init(isbn: String, title: String, pages: Int, source: ReadingSource = .unknown) {
            self.isbn = isbn
            self.title = title
            self.pages = pages
            self.source = source
            authors = []
        }
    }

    @Model final class Author {
        #Index<Author>([\.familyName, \.givenName])

        @Attribute(originalName: "name") var familyName: String
        var givenName: String = ""
        var links: [URL] = []
        @Relationship(inverse: \Book.authors) var books: [Book] = []

        init(givenName: String, familyName: String) {
            self.givenName = givenName
            self.familyName = familyName
        }

        var fullName: String { givenName.isEmpty ? familyName : "\(givenName) \(familyName)" }
    }

    @Model final class Shelf {
        var name: String
        var index: Int
        @Relationship(deleteRule: .nullify, inverse: \Book.shelf) var books: [Book]? = []

        init(name: String, index: Int) {
            self.name = name
            self.index = index
        }
    }

    @Model final class Quote {
        var text: String
        var page: Int?
        var book: Book?
        let createdAt: Date

        init(_ text: String, page: Int? = nil) {
            self.text = text
            self.page = page
            createdAt = .now
        }
    }
}

enum ReadingPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [ReadingV1.self, ReadingV2.self] }
    static var stages: [MigrationStage] { [v1ToV2] }

    nonisolated(unsafe) private static var readBooks: Set<String> = []

    private static let v1ToV2 = MigrationStage.custom(
        fromVersion: ReadingV1.self, toVersion: ReadingV2.self,
        willMigrate: { context in
            let read = FetchDescriptor<ReadingV1.Book>(predicate: #Predicate { $0.isRead })
            readBooks = Set(try context.fetch(read).map(\.isbn))
        },
        didMigrate: { context in
            let read = readBooks
            let books = FetchDescriptor<ReadingV2.Book>(
                predicate: #Predicate { read.contains($0.isbn) })
            for book in try context.fetch(books) { book.state = .finished }
            for author in try context.fetch(FetchDescriptor<ReadingV2.Author>()) {
                let words = author.familyName.split(separator: " ")
                guard words.count > 1, let last = words.last else { continue }
                author.givenName = words.dropLast().joined(separator: " ")
                author.familyName = String(last)
            }
            try context.save()
        })
}

/// The screen of the app that shows a filtered list.
@MainActor final class ReadingListModel {
    private let context: ModelContext
    private(set) var books: [ReadingV2.Book] = []
    var searchText = "" { didSet { reload() } }
    var states: Set<ReadingState> = [] { didSet { reload() } }

    init(container: ModelContainer) {
        context = container.mainContext
        reload()
    }

    private func reload() {
        let (text, states) = (searchText, Array(states))
        let descriptor = FetchDescriptor<ReadingV2.Book>(
            predicate: #Predicate { book in
                (text.isEmpty || book.title.localizedStandardContains(text)
                    || book.authors.contains { $0.familyName.localizedStandardContains(text) })
                    && (states.isEmpty || states.contains(book.state))
            },
            sortBy: [SortDescriptor(\.shelf?.index), SortDescriptor(\.title)])
        books = (try? context.fetch(descriptor)) ?? []
    }

    func finish(_ book: ReadingV2.Book) throws {
        book.state = .finished
        book.moods.insert("satisfied")
        try context.save()
        reload()
    }
}

/// The suite is serialized, because the plan remembers values in a variable.
@Suite("An app for reading lists", .serialized)
struct ReadingAppTests {
    private let store: AppStore
    private let names = [
        "Ursula K. Le Guin", "Stanisław Lem", "Homer", "Jane Austen", "Émile Zola",
    ]

    /// The store of the first version: 100 books of 5 authors on 4 shelves.
    init() throws {
        store = try AppStore()
        try store.launch(ReadingV1.self) { context in
            let authors = names.map { ReadingV1.Author(name: $0) }
            authors[0].links = [URL(string: "https://example.org/ursula?a=1#b")!]
            let shelves = (0..<4).map { ReadingV1.Shelf(name: "Shelf \($0)", index: 3 - $0) }
            shelves.forEach(context.insert)
            for number in 0..<100 {
                let book = ReadingV1.Book(
                    isbn: "978-\(number)", title: "Title \(number)", isRead: number % 3 == 0,
                    pages: 100 + number, source: source(number))
                context.insert(book)
                book.authors = number % 10 == 0 ? Array(authors[0...1]) : [authors[number % 5]]
                book.shelf = number < 80 ? shelves[number / 20] : nil
            }
            try context.save()
            #expect(shelves[0].books?.count == 20)
        }
    }

    private func source(_ number: Int) -> ReadingSource {
        switch number % 4 {
        case 0: .shop(name: "Corner \(number)")
        case 1: .friend("Ann")
        case 2: .link(URL(string: "https://example.org/\(number)")!)
        default: .unknown
        }
    }

    @Test("the authors of a reading list get given and family names by a migration")
    func splitting() throws {
        try store.launch(ReadingV2.self, ReadingPlan.self) { context in
            let authors = try context.fetch(
                FetchDescriptor<ReadingV2.Author>(sortBy: [SortDescriptor(\.familyName)]))
            #expect(authors.map(\.familyName) == ["Austen", "Guin", "Homer", "Lem", "Zola"])
            #expect(
                authors.map(\.givenName) == ["Jane", "Ursula K. Le", "", "Stanisław", "Émile"])
            #expect(authors.map(\.books.count) == [20, 20, 20, 30, 20])
            #expect(Set(authors.map(\.fullName)) == Set(names))
            #expect(authors[1].links == [URL(string: "https://example.org/ursula?a=1#b")!])
            authors[2].familyName = "Homer of Chios"
            try context.save()
        }
        try store.expectCurrent(ReadingV2.self, ReadingPlan.self)
        try store.launch(ReadingV2.self, ReadingPlan.self) { context in
            let greek = #Predicate<ReadingV2.Author> { $0.familyName.starts(with: "Homer") }
            let author = try context.fetch(FetchDescriptor(predicate: greek)).first
            #expect(author?.fullName == "Homer of Chios")
        }
    }

    @Test("the books of a reading list keep what was read, as a state, after a migration")
    func states() throws {
        let start = Date()
        try store.launch(ReadingV2.self, ReadingPlan.self) { context in
            let books = try context.fetch(
                FetchDescriptor<ReadingV2.Book>(sortBy: [SortDescriptor(\.pages)]))
            #expect(books.count == 100)
            for (number, book) in books.enumerated() {
                #expect(book.isbn == "978-\(number)" && book.title == "Title \(number)")
                #expect(book.state == (number % 3 == 0 ? .finished : .wanted))
                #expect(book.source == source(number))
                #expect(book.shelf?.name == (number < 80 ? "Shelf \(number / 20)" : nil))
                #expect(book.moods.isEmpty && (book.quotes ?? []).isEmpty)
                #expect((start...Date()).contains(book.dateAdded))
            }
            books[7].quotes = [ReadingV2.Quote("So it goes", page: 3), ReadingV2.Quote("Hm")]
            try context.save()
            let quoted = #Predicate<ReadingV2.Book> { book in
                book.quotes?.contains { ($0.page ?? 0) > 2 } ?? false
            }
            #expect(try context.fetch(FetchDescriptor(predicate: quoted)) == [books[7]])
            let shelf = try #require(books[7].shelf)
            context.delete(shelf)
            try context.save()
            #expect(books[7].shelf == nil)
            context.delete(books[7])
            try context.save()
            #expect(try context.fetchCount(FetchDescriptor<ReadingV2.Quote>()) == 0)
            #expect(try context.fetchCount(FetchDescriptor<ReadingV2.Book>()) == 99)
            #expect(try context.fetchCount(FetchDescriptor<ReadingV2.Author>()) == 5)
        }
        try store.expectCurrent(ReadingV2.self, ReadingPlan.self)
    }

    @Test("the reading list filters books by text and state on the main actor")
    @MainActor func filtering() throws {
        let list = ReadingListModel(container: try store.open(ReadingV2.self, ReadingPlan.self))
        #expect(list.books.count == 100)
        #expect(list.books.first?.shelf == nil)
        #expect(list.books.last?.title == "Title 9")
        list.searchText = "stanislaw"
        #expect(list.books.isEmpty)
        list.searchText = "LEM"
        #expect(list.books.count == 30)
        list.states = [.reading, .finished]
        let titles = list.books.map(\.title)
        #expect(titles.count == 11)
        list.states = [.wanted]
        #expect(list.books.count == 19)
        try list.finish(try #require(list.books.first))
        #expect(list.books.count == 18)
        list.searchText = "title 42"
        list.states = Set(ReadingState.allCases)
        #expect(list.books.map(\.isbn) == ["978-42"])
    }
}
