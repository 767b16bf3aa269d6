import CoreData
import SwiftData
import SwiftDataKit
import Testing

@Suite("Grouped counts")
struct GroupedCountTests {
    /// The books of each genre, grouped and counted by the store.
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

    @Test("the groups of 10,000 books are those of the fetched books")
    func groups() throws {
        let container = try Shelf().container
        let filling = ModelContext(container)
        let genres = try filling.fetch(FetchDescriptor<Genre>())
        for number in 0..<9_994 {
            filling.insert(Book(title: "\(number)", genre: genres[number % genres.count]))
        }
        try filling.save()
        let books = try ModelContext(container).fetch(FetchDescriptor<Book>())
        let counted = books.reduce(into: [:]) { counts, book in
            counts[book.genre?.name ?? "", default: 0] += 1
        }
        #expect(try grouped(ModelContext(container)) == counted)
        #expect(counted.values.reduce(0, +) == 10_000)
    }
}
