import Foundation
import LarderData
import Testing

@Suite("Subqueries")
struct SubqueryTests {
    /// Shelves with no, one, two and three books, of 0, 10, 20 … pages.
    private func context() throws -> ModelContext {
        let container = try ModelContainer(
            for: Shelf.self, Book.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        let context = ModelContext(container)
        for (count, name) in ["none", "one", "two", "three"].enumerated() {
            let shelf = Shelf(name: name)
            context.insert(shelf)
            for index in 0..<count {
                context.insert(Book(title: "\(name) \(index)", pages: index * 10, shelf: shelf))
            }
        }
        try context.save()
        return context
    }

    private func names(_ predicate: Predicate<Shelf>) throws -> [String] {
        let descriptor = FetchDescriptor(
            predicate: predicate, sortBy: [SortDescriptor(\Shelf.name)])
        let context = try context()
        let found = try context.fetch(descriptor).map(\.name)
        #expect(try context.fetchCount(descriptor) == found.count)
        // The evaluator for objects with changes finds the same.
        context.insert(Shelf(name: "a"))
        let shelves = try context.fetch(FetchDescriptor<Shelf>())
        let own = shelves.first { $0.name == "a" }
        own?.books = [Book(title: "new", pages: 0)]
        let pending = try context.fetch(descriptor).map(\.name)
        #expect(pending.filter { $0 != "a" } == found)
        return found
    }

    @Test("a #Predicate can count the elements of a list that match")
    func filteredCount() throws {
        let pages = 10
        #expect(
            try names(#Predicate { $0.books.filter { $0.pages >= pages }.count > 1 }) == ["three"])
        #expect(
            try names(#Predicate { $0.books.filter { $0.pages >= pages }.count == 0 })
                == ["none", "one"])
        #expect(
            try names(#Predicate { !$0.books.filter { $0.pages >= pages }.isEmpty })
                == ["three", "two"])
    }

    @Test("a subquery in a #Predicate can compare an element with a value of the outer model")
    func outerVariable() throws {
        #expect(
            try names(
                #Predicate { shelf in
                    shelf.books.filter { $0.title.contains(shelf.name) && $0.pages > 0 }.count > 0
                }) == ["three", "two"])
    }

    @Test("a #Predicate can require a match of one element, or of all elements")
    func quantifiers() throws {
        #expect(try names(#Predicate { $0.books.contains { $0.pages == 20 } }) == ["three"])
        #expect(
            try names(#Predicate { $0.books.allSatisfy { $0.pages < 20 } })
                == ["none", "one", "two"])
    }

    @Test("subqueries in a #Predicate can be nested")
    func nested() throws {
        #expect(
            try names(
                #Predicate { shelf in
                    shelf.books.filter { book in
                        (book.shelf?.books.filter { $0.pages > book.pages }.count ?? 0) > 1
                    }.count > 0
                }) == ["three"])
    }

    @Test("a subquery in a #Predicate can take an object, and identifiers are fetched in order")
    func identifiers() throws {
        let context = try context()
        let book = try #require(
            try context.fetch(
                FetchDescriptor<Book>(predicate: #Predicate { $0.title == "two 1" })
            ).first
        ).persistentModelID
        let found = try context.fetchIdentifiers(
            FetchDescriptor<Shelf>(
                predicate: #Predicate {
                    $0.books.filter { $0.persistentModelID == book }.count > 0
                }, sortBy: [SortDescriptor(\.name)]))
        #expect(found.count == 1)
        let shelf: Shelf? = try context.existingModel(for: found[0])
        #expect(shelf?.name == "two")
    }
}
