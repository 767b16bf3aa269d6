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

    @Test("groups models by a value along a relationship, and computes typed values")
    func groups() throws {
        let shelf = #Expression<Book, String?> { $0.shelf?.name }
        let rows = try context().aggregate(
            Book.self, .group(by: shelf),
            .count.named("books"),
            .sum(\.pages), .average(\.pages), sort: ["books:desc"])
        #expect(rows.map(\.0) == ["a", "b", nil])
        #expect(rows.map(\.1) == [3, 2, 1])
        #expect(rows.map(\.2) == [60, 40, 50])
        #expect(rows.map(\.3) == [20, 20, 50])
    }

    @Test("removes groups by having, and filters columns and models")
    func having() throws {
        let rows = try context().aggregate(
            Book.self, .group(\.shelf), .count.named("books"),
            .count.filtered(#Predicate<Book> { $0.pages > 15 }),
            where: #Predicate<Book> { $0.pages < 50 }, having: "books > 2")
        #expect(rows.map(\.1) == [3])
        #expect(rows.map(\.2) == [2])
        let prices = try context().aggregate(
            Book.self, .sum(\.price), .minimum(\.title), .maximum(\.pages))
        #expect(prices.map(\.0) == [5])
        #expect(prices.first?.1 == "T0")
        #expect(prices.first?.2 == 50)
    }

    @Test("updates all models that match in one transaction, and refreshes those of the context")
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

    @Test("finds models by words, saved or not")
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

    @Test("finds the models whose lists have one that matches, as identifiers in order")
    func subquery() throws {
        let context = try context()
        let name = "T1"
        let found = try context.fetchIdentifiers(
            FetchDescriptor<Shelf>(
                predicate: #Predicate { $0.books.filter { $0.title == name }.count > 0 },
                sortBy: [SortDescriptor(\.name)]))
        #expect(found.count == 1)
        let shelf: Shelf? = try context.existingModel(for: found[0])
        #expect(shelf?.name == "b")
    }

    @Test("passes identifiers as URIs")
    func uri() throws {
        let context = try context()
        let shelf = try #require(try context.fetch(FetchDescriptor<Shelf>()).first)
        let uri = shelf.persistentModelID.uriRepresentation
        let same = try PersistentIdentifier(uriRepresentation: uri)
        #expect(same == shelf.persistentModelID)
        #expect((context.model(for: same) as? Shelf) === shelf)
    }
}
