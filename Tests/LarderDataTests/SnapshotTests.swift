import Foundation
import LarderData
import Testing

@Suite("A snapshot of a context")
struct SnapshotTests {
    private let byTitle = FetchDescriptor<Book>(sortBy: [SortDescriptor(\.title)])

    @Test(
        "every read in a snapshot of a context sees one state, whatever is saved meanwhile",
        arguments: StoreKind.allCases)
    func reads(_ kind: StoreKind) throws {
        let (own, other, folder) = try kind.containers(for: Shelf.self, Book.self)
        defer { withExtendedLifetime(folder) {} }
        let shelf = Shelf(name: "s")
        try change(other) { context in
            context.insert(Book(title: "A", pages: 1, shelf: shelf))
            context.insert(Book(title: "B", pages: 2, shelf: shelf))
        }
        let context = ModelContext(own)
        let books = try context.snapshot {
            #expect(try context.fetchCount(byTitle) == 2)
            try change(other) { context in
                let books = try context.fetch(byTitle)
                books[0].pages = 100
                context.delete(books[1])
                context.insert(Book(title: "C", pages: 3, shelf: books[0].shelf))
            }
            let books = try context.fetch(byTitle)
            #expect(books.map(\.title) == ["A", "B"])
            #expect(books.map(\.pages) == [1, 2])
            #expect(books[0].shelf?.books.count == 2)
            #expect(try context.aggregate(Book.self, .sum(\.pages)) == [3])
            #expect(try context.snapshot { try context.fetchIdentifiers(byTitle).count } == 2)
            return books
        }
        #expect(try context.fetch(byTitle).map(\.title) == ["A", "C"])
        #expect(books[0].pages == 100)
        #expect(try context.aggregate(Book.self, .sum(\.pages)) == [103])
    }

    @Test(
        "a snapshot of a context shows pending changes but cannot save them",
        arguments: StoreKind.allCases)
    func pending(_ kind: StoreKind) throws {
        let (own, other, folder) = try kind.containers(for: Shelf.self, Book.self)
        defer { withExtendedLifetime(folder) {} }
        let context = ModelContext(own)
        context.insert(Book(title: "B", pages: 1))
        try context.snapshot {
            try change(other) { $0.insert(Book(title: "A", pages: 2)) }
            #expect(try context.fetch(byTitle).map(\.title) == ["B"])
            do {
                try context.save()
                Issue.record("a snapshot accepts no save")
            } catch {
                #expect("\(error)".contains("changes cannot be saved in a snapshot"))
            }
            #expect(throws: (any Error).self) {
                try context.update(
                    Book.self, where: nil, .set(\.pages, to: #Expression { $0.pages + 1 }))
            }
        }
        try context.save()
        #expect(try context.fetch(byTitle).map(\.title) == ["A", "B"])
        #expect(try context.fetch(byTitle).map(\.pages) == [2, 1])
    }

    @Test("a snapshot of a context ends with the error of its closure")
    func errors() throws {
        struct Failure: Error {}
        let (own, other, _) = try StoreKind.memory.containers(for: Shelf.self, Book.self)
        let context = ModelContext(own)
        #expect(throws: Failure.self) { try context.snapshot { throw Failure() } }
        try change(other) { $0.insert(Book(title: "A", pages: 2)) }
        #expect(try context.fetchCount(byTitle) == 1)
    }

    @Test("a snapshot of a context covers each store of its container")
    func stores() throws {
        let (one, two) = (Schema([TaskModel.self]), Schema([Shelf.self, Book.self]))
        let container = try ModelContainer(
            for: Schema([TaskModel.self, Shelf.self, Book.self]),
            configurations: [
                ModelConfiguration("one", schema: one, isStoredInMemoryOnly: true),
                ModelConfiguration("two", schema: two, isStoredInMemoryOnly: true),
            ])
        let context = ModelContext(container)
        try context.snapshot {
            try change(container) { context in
                context.insert(TaskModel(title: "A"))
                context.insert(Shelf(name: "B"))
            }
            #expect(try context.fetchCount(FetchDescriptor<TaskModel>()) == 0)
            #expect(try context.fetchCount(FetchDescriptor<Shelf>()) == 0)
        }
        #expect(try context.fetchCount(FetchDescriptor<TaskModel>()) == 1)
        #expect(try context.fetchCount(FetchDescriptor<Shelf>()) == 1)
    }

    @MainActor
    @Test(
        "the commits during a snapshot of a context reach its observers after the snapshot")
    func observers() throws {
        let (own, other, _) = try StoreKind.memory.containers(for: Shelf.self, Book.self)
        let context = ModelContext(own)
        let observer = try ResultsObserver<Book, Never>(
            fetchDescriptor: byTitle, modelContext: context, isolation: nil)
        try context.snapshot {
            try change(other) { $0.insert(Book(title: "A", pages: 2)) }
            #expect(observer.results.isEmpty)
        }
        #expect(observer.results.map(\.title) == ["A"])
    }
}
