import Foundation
import LarderData
import Testing

@MainActor @Suite("An observed fetch")
struct LiveFetchTests {
    private let byTitle = FetchDescriptor<Book>(sortBy: [SortDescriptor(\.title)])

    private func book(_ title: String, in context: ModelContext) throws -> Book {
        try #require(
            try context.fetch(FetchDescriptor<Book>(predicate: #Predicate { $0.title == title }))
                .first)
    }

    @Test(
        "an observed fetch returns the values and their differences after each commit",
        arguments: StoreKind.allCases)
    func commits(_ kind: StoreKind) async throws {
        let (own, other, folder) = try kind.containers(for: Shelf.self, Book.self)
        defer { withExtendedLifetime(folder) {} }
        try change(other) { $0.insert(Book(title: "A", pages: 1)) }
        let context = ModelContext(own)
        var results = context.observe(byTitle, as: \.pages).makeAsyncIterator()

        let first = try #require(try await results.next(isolation: #isolation))
        #expect(first.values == [1])
        #expect(first.inserted == first.identifiers)
        #expect(first.identifiers == [try book("A", in: context).id])

        try change(other) { $0.insert(Book(title: "B", pages: 2)) }
        let second = try #require(try await results.next(isolation: #isolation))
        #expect(second.values == [1, 2])
        #expect(second.inserted == [second.identifiers[1]])
        #expect(second.updated.isEmpty && second.deleted.isEmpty)

        try change(other) { try book("A", in: $0).pages = 10 }
        let third = try #require(try await results.next(isolation: #isolation))
        #expect(third.values == [10, 2])
        #expect(third.updated == first.identifiers && third.inserted.isEmpty)

        try change(other) { context in context.delete(try book("A", in: context)) }
        let fourth = try #require(try await results.next(isolation: #isolation))
        #expect(fourth.values == [2])
        #expect(fourth.deleted == first.identifiers && fourth.updated.isEmpty)
    }

    @Test("an observed fetch omits a commit that does not change its values")
    func unchanged() async throws {
        let (own, other, _) = try StoreKind.memory.containers(for: Shelf.self, Book.self)
        try change(other) { $0.insert(Book(title: "A", pages: 1)) }
        var results = ModelContext(own).observe(byTitle, as: \.pages).makeAsyncIterator()
        _ = try await results.next(isolation: #isolation)
        try change(other) { $0.insert(Shelf(name: "s")) }
        try change(other) { try book("A", in: $0).title = "C" }
        try change(other) { $0.insert(Book(title: "B", pages: 2)) }
        #expect(try await results.next(isolation: #isolation)?.values == [2, 1])
    }

    @Test("an observed fetch includes the pending changes of its context")
    func pending() async throws {
        let (own, _, _) = try StoreKind.memory.containers(for: Shelf.self, Book.self)
        let context = ModelContext(own)
        var results = context.observe(byTitle, as: \.title).makeAsyncIterator()
        #expect(try await results.next(isolation: #isolation)?.values == [])
        let book = Book(title: "A", pages: 1)
        context.insert(book)
        #expect(try await results.next(isolation: #isolation)?.values == ["A"])
        book.title = "B"
        #expect(try await results.next(isolation: #isolation)?.values == ["B"])
        context.rollback()
        #expect(try await results.next(isolation: #isolation)?.values == [])
        var saved = byTitle
        saved.includePendingChanges = false
        context.insert(Book(title: "C", pages: 1))
        var committed = context.observe(saved, as: \.title).makeAsyncIterator()
        #expect(try await committed.next(isolation: #isolation)?.values == [])
        try context.save()
        #expect(try await committed.next(isolation: #isolation)?.values == ["C"])
    }

    @Test(
        "an observed fetch of a container follows values along relationships",
        arguments: StoreKind.allCases)
    func relationships(_ kind: StoreKind) async throws {
        let (own, other, folder) = try kind.containers(for: Shelf.self, Book.self)
        defer { withExtendedLifetime(folder) {} }
        try change(other) {
            $0.insert(Book(title: "A", pages: 1, shelf: Shelf(name: "old")))
        }
        var results = own.observe(byTitle) { $0.shelf?.name }.makeAsyncIterator()
        #expect(try await results.next(isolation: #isolation)?.values == ["old"])
        try change(other) { try $0.fetch(FetchDescriptor<Shelf>()).first?.name = "new" }
        #expect(try await results.next(isolation: #isolation)?.values == ["new"])
    }

    @Test("an observed fetch ends when its task is cancelled", arguments: StoreKind.allCases)
    func cancellation(_ kind: StoreKind) async throws {
        let (own, _, folder) = try kind.containers(for: Shelf.self, Book.self)
        defer { withExtendedLifetime(folder) {} }
        let (begun, continuation) = AsyncStream<Void>.makeStream()
        let task = Task {
            var count = 0
            for try await _ in own.observe(FetchDescriptor<Book>(), as: \.title) {
                count += 1
                continuation.yield()
            }
            return count
        }
        for await _ in begun { break }
        task.cancel()
        #expect(try await task.value == 1)
    }

    @Test("an observed fetch ends with the error of its predicate")
    func errors() async throws {
        let (own, _, _) = try StoreKind.memory.containers(for: Shelf.self, Book.self)
        let wrong = FetchDescriptor<Book>(predicate: #Predicate { $0.label == "A" })
        var results = ModelContext(own).observe(wrong, as: \.title).makeAsyncIterator()
        do {
            _ = try await results.next(isolation: #isolation)
            Issue.record("the predicate is not supported")
        } catch {
            #expect(error as? SwiftDataError == .unsupportedPredicate)
        }
        #expect(try await results.next(isolation: #isolation) == nil)
    }

    @Test("an observed fetch follows one object by its identifier until it is deleted")
    func object() async throws {
        let (own, other, _) = try StoreKind.memory.containers(for: TaskModel.self)
        let context = ModelContext(other)
        let task = TaskModel(title: "A")
        context.insert(task)
        try context.save()
        let id = task.persistentModelID
        var results = own.observe(
            FetchDescriptor<TaskModel>(predicate: #Predicate { $0.persistentModelID == id })
        ).makeAsyncIterator()
        #expect(try await results.next(isolation: #isolation)?.values.map(\.title) == ["A"])
        task.isCompleted = true
        try context.save()
        #expect(
            try await results.next(isolation: #isolation)?.values
                == [TaskValue(id: .objectID(id), title: "A", isCompleted: true)])
        context.delete(task)
        try context.save()
        #expect(try await results.next(isolation: #isolation)?.deleted == [id])
    }

    @ModelActor actor Reader {
        func firstResults() async throws -> [[String]] {
            var found: [[String]] = []
            let results = modelContext.observe(FetchDescriptor<Book>(), as: \.title)
            for try await titles in results {
                found.append(titles.values)
                if found.count == 2 { break }
                modelContext.insert(Book(title: "A", pages: 1))
            }
            return found
        }
    }

    @Test("an observed fetch runs on the model actor of its context")
    func actor() async throws {
        let (own, _, _) = try StoreKind.memory.containers(for: Shelf.self, Book.self)
        #expect(try await Reader(modelContainer: own).firstResults() == [[], ["A"]])
    }
}
