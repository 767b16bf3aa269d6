import CoreData
import SwiftData
import SwiftDataKit
import Testing

/// Counts of the books of each genre: grouped by the store, and of fetched books.
@Suite("Grouped counts", .serialized)
struct GroupedCountTests {
    private static let bookCount = 10_000

    private func grouped(_ context: ModelContext) throws -> [String: Int] {
        let request = NSFetchRequest<NSFetchRequestResult>(entityName: "Book")
        let count = NSExpressionDescription()
        count.name = "count"
        count.expression = NSExpression(
            forFunction: "count:", arguments: [NSExpression.expressionForEvaluatedObject()])
        count.expressionResultType = .integer64AttributeType
        request.resultType = .dictionaryResultType
        request.propertiesToGroupBy = ["genre.name"]
        request.propertiesToFetch = ["genre.name", count]
        let rows = try context.managedObjectContext?.fetch(request) as? [[String: Any]] ?? []
        return Dictionary(
            uniqueKeysWithValues: rows.compactMap { row in
                guard let name = row["genre.name"] as? String, let count = row["count"] as? Int
                else { return nil }
                return (name, count)
            })
    }

    private func counted(_ context: ModelContext) throws -> [String: Int] {
        let books = try context.fetch(FetchDescriptor<Book>())
        return books.reduce(into: [:]) { counts, book in
            counts[book.genre?.name ?? "", default: 0] += 1
        }
    }

    @Test(
        "the store groups 10,000 books at least four times as fast as a program that fetches them")
    func speed() throws {
        let container = try Shelf().container
        let filling = ModelContext(container)
        let genres = try filling.fetch(FetchDescriptor<Genre>())
        for number in 0..<Self.bookCount - 6 {
            filling.insert(Book(title: "\(number)", genre: genres[number % genres.count]))
        }
        try filling.save()
        let clock = ContinuousClock()
        var results: [[String: Int]] = []
        let inStore = try clock.measure { results.append(try grouped(ModelContext(container))) }
        let inMemory = try clock.measure { results.append(try counted(ModelContext(container))) }
        #expect(results[0] == results[1])
        #expect(results[0].values.reduce(0, +) == Self.bookCount)
        print("grouped by the store: \(inStore), fetched and counted: \(inMemory)")
        #expect(inStore * 4 < inMemory)
    }
}
