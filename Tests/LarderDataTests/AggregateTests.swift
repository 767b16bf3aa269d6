import Foundation
import LarderData
import Testing

@Model final class Shelf {
    var name: String
    var books: [Book] = []

    init(name: String) { self.name = name }
}

@Model final class Book {
    var title: String
    var pages: Int
    var price: Decimal?
    @Relationship(inverse: \Shelf.books) var shelf: Shelf?

    init(title: String, pages: Int, price: Decimal? = nil, shelf: Shelf? = nil) {
        self.title = title
        self.pages = pages
        self.price = price
        self.shelf = shelf
    }
}

extension Book {
    /// Nothing that a store has.
    var label: String { title.uppercased() }
}

@Suite("Beyond SwiftData")
struct AggregateTests {
    private func context() throws -> ModelContext {
        let container = try ModelContainer(
            for: Shelf.self, Book.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        let context = ModelContext(container)
        let shelves = ["a", "b"].map(Shelf.init)
        for index in 0..<6 {
            context.insert(
                Book(
                    title: "T\(index)", pages: index * 10, price: index == 0 ? nil : 1,
                    shelf: index == 5 ? nil : shelves[index % 2]))
        }
        try context.save()
        return context
    }

    @Test("an aggregate groups models along a relationship and computes typed columns")
    func groups() throws {
        let shelf = #Expression<Book, String?> { $0.shelf?.name }
        let rows = try context().aggregate(
            Book.self, .group(by: shelf), .count, .sum(\.pages), .average(\.pages),
            sort: [.descending(.count)])
        #expect(rows.map(\.0) == ["a", "b", nil])
        #expect(rows.map(\.1) == [3, 2, 1])
        #expect(rows.map(\.2) == [60, 40, 50])
        #expect(rows.map(\.3) == [20, 20, 50])
    }

    @Test("an aggregate counts the groups of an attribute or a relationship by its key path")
    func groupedCounts() throws {
        let context = try context()
        let byPrice = try context.aggregate(
            Book.self, .group(\.price), .count, sort: [.ascending(.group(\.price))])
        #expect(byPrice.map(\.0) == [nil, 1])
        #expect(byPrice.map(\.1) == [1, 5])
        let shelves = try context.fetch(FetchDescriptor<Shelf>(sortBy: [SortDescriptor(\.name)]))
        let byShelf = try context.aggregate(
            Book.self, .group(\.shelf), .count, sort: [.descending(.count)])
        #expect(byShelf.map(\.0) == [shelves[0].id, shelves[1].id, nil])
    }

    @Test("a having predicate removes groups, and filters select the models of a column")
    func having() throws {
        let minimum = 2
        let rows = try context().aggregate(
            Book.self, .group(\.shelf), .count,
            .count.filtered(#Predicate<Book> { $0.pages > 15 }),
            where: #Predicate<Book> { $0.pages < 50 },
            having: #Predicate { _, books, _ in books > minimum })
        #expect(rows.map(\.1) == [3])
        #expect(rows.map(\.2) == [2])
        let prices = try context().aggregate(
            Book.self, .sum(\.price), .minimum(\.title), .maximum(\.pages))
        #expect(prices.map(\.0) == [5])
        #expect(prices.first?.1 == "T0")
        #expect(prices.first?.2 == 50)
    }

    @Test("a having predicate can use every column of an aggregate with its type")
    func havingOfEveryType() throws {
        let context = try context()
        let shelf = #Expression<Book, String?> { $0.shelf?.name }
        let named = try context.aggregate(
            Book.self, .group(by: shelf), .count, .average(\.pages), .maximum(\.title),
            having: #Predicate { shelf, books, _, title in
                books == 2 && title != shelf
            })
        #expect(named.map(\.0) == ["b"])
        let first = try #require(
            try context.fetch(FetchDescriptor<Shelf>(predicate: #Predicate { $0.name == "a" }))
                .first
        ).persistentModelID
        let long = try context.aggregate(
            Book.self, .group(by: shelf), .average(\.pages),
            having: #Predicate { _, pages in (pages ?? 0) > 20 })
        #expect(long.map(\.1) == [50])
        let ofShelf = try context.aggregate(
            Book.self, .group(\.shelf), .sum(\.pages),
            having: #Predicate { shelf, pages in shelf == first && pages > 0 })
        #expect(ofShelf.map(\.1) == [60])
        let one = try context.aggregate(Book.self, .count, having: #Predicate { $0 > 100 })
        #expect(one.isEmpty)
    }

    @Test("an aggregate sorts by values that are not columns, and distinguishes captured values")
    func sorting() throws {
        let context = try context()
        let (low, high) = (15, 35)
        let long = AggregateColumn<Book, Int>.count.filtered(
            #Predicate { $0.pages > high })
        let rows = try context.aggregate(
            Book.self, .count.filtered(#Predicate { $0.pages > low }), .group(\.shelf),
            having: #Predicate { books, _ in books > 0 },
            sort: [.ascending(long), .descending(.sum(\.pages))])
        #expect(rows.map(\.0) == [1, 2, 1])
        let names = try context.aggregate(
            Book.self, .group(\.title), sort: [.descending(.group(\.title))], limit: 2)
        #expect(names == ["T5", "T4"])
    }

    @Test("an aggregate reports what its groups do not have or cannot be sorted by as an error")
    func aggregateErrors() throws {
        let context = try context()
        do {
            _ = try context.aggregate(
                Book.self, .group(\.shelf), .count, sort: [.ascending(.group(\.title))])
            Issue.record("a value that the groups do not have")
        } catch {
            #expect("\(error)".contains("sorted by a value that they do not have"))
        }
        #expect(throws: SwiftDataError.unsupportedKeyPath) {
            try context.aggregate(Book.self, .group(\.title.count))
        }
        #expect(throws: SwiftDataError.unsupportedPredicate) {
            try context.aggregate(
                Book.self, .group(\.title), having: #Predicate { $0.utf8.count > 1 })
        }
    }

    @Test("an update by predicate changes all models that match, and refreshes held ones")
    func update() throws {
        let context = try context()
        let book = try #require(
            try context.fetch(
                FetchDescriptor<Book>(predicate: #Predicate { $0.title == "T4" })
            ).first)
        let count = try context.update(
            where: #Predicate<Book> { $0.pages >= 30 },
            .set(\.pages, to: #Expression { $0.pages + 1 }))
        #expect(count == 3)
        #expect(book.pages == 41)
    }

    @Test("a text search finds models by words, whether saved or pending")
    func search() throws {
        let context = try context()
        context.insert(Book(title: "Émile's larder", pages: 7))
        let search = try TextSearch("emile lard*", in: \Book.title)
        let byWords = FetchDescriptor<Book>(
            predicate: #Predicate { search.contains($0) && $0.pages < 10 })
        #expect(try context.fetch(byWords).map(\.title) == ["Émile's larder"])
        try context.save()
        #expect(try context.fetch(byWords).map(\.pages) == [7])
        #expect(try context.fetchCount(byWords) == 1)
    }
}
