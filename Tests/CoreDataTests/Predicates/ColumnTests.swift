import LarderModel
import LarderQuery
import LarderStore
import Testing

@testable import CoreData

/// An error of a store about a name or a type has the column of the format, as Larder's own queries
/// have it.
@Suite("Columns of errors")
struct ColumnTests {
    struct Row: @unchecked Sendable, CustomTestStringConvertible {
        // Sendable unchecked: a constant.
        let format: String
        let arguments: [Any]
        let column: Int
        let text: String

        init(_ format: String, _ arguments: [Any] = [], _ column: Int, _ text: String) {
            self.format = format
            self.arguments = arguments
            self.column = column
            self.text = text
        }

        var testDescription: String { format }
    }

    static let rows = [
        Row("titel == 'a'", [], 1, "titel"),
        Row("words > 1 AND titel == %@", ["a"], 15, "titel"),
        Row("category.nam == 'a'", [], 10, "nam"),
        Row("words == %@ OR category.nam == %@", [1, "a"], 25, "nam"),
        Row("%K == 1", ["wrods"], 1, "wrods"),
        Row("title == %@ AND %K.%K == 1", ["a", "category", "nam"], 20, "nam"),
        Row("ANY tags.titel == 'a'", [], 10, "titel"),
        Row("tags.@count > 1 AND tag.@count > 1", [], 21, "tag"),
        Row("SUBQUERY(tags, $t, $t.nam == %@).@count > 0", ["a"], 23, "nam"),
        Row("length(titel) > %d", [1], 8, "titel"),
        Row("words == 'many'", [], 10, "string"),
        Row("words == %@", ["many"], 10, "string"),
        Row("title == %@ AND words == %@", ["a", "many"], 26, "string"),
        Row("words IN %@", [["many"]], 10, "string"),
        Row("words BETWEEN {1, 'x'}", [], 19, "string"),
        Row("published > %d", [4], 13, "integer"),
        Row("title CONTAINS 5", [], 16, "string"),
        Row("title + 1 == 2", [], 7, "string"),
        Row("tags == %@", ["x"], 6, "tags"),
        Row("isDraft > NO", [], 9, "isDraft"),
        Row("category == %@", [4], 13, "integer"),
        Row("words == $least", [], 10, "least"),
    ]

    private func message(_ body: () throws -> Void) throws -> String {
        let error = #expect(throws: NSError.self) { try body() }
        return error?.localizedDescription ?? ""
    }

    @Test("a fetch, a count and an evaluation name the column", arguments: rows)
    func columns(_ row: Row) throws {
        let context = try Library.filled()
        let predicate = NSPredicate(format: row.format, argumentArray: row.arguments)
        let request: NSFetchRequest<Article> = Article.fetchRequest()
        request.predicate = predicate
        let part = "predicate, column \(row.column):"
        let article = try context.article("Ann")
        for text in [
            try message { _ = try context.fetch(request) },
            try message { _ = try context.count(for: request) },
            try message { _ = try predicate.holds(for: article) },
        ] {
            #expect(text.contains(part) && text.contains(row.text))
        }
    }

    @Test("each has the column of the same query of a store without Core Data", arguments: rows)
    func queries(_ row: Row) throws {
        let store = try Store.inMemory(schema: Library.model().compile().schema)
        let arguments = row.arguments.map { value -> QueryArgument in
            switch value {
            case let text as String: .value(.string(text))
            case let list as [String]: .list(list.map { .string($0) })
            default: .value(.int(Int64(value as? Int ?? 0)))
            }
        }
        let parameters = QueryParameters(arguments: arguments)
        let fetch = Fetch("Article", where: .format(row.format), selection: .identifiers)
        let reader = try store.makeReader()
        let failure = #expect(throws: (any Error).self) {
            let plan = try store.plan(.fetch(fetch), parameters)
            let cursor = try reader.open(plan, parameters, budget: ReadBudget())
            cursor.close()
        }
        var column = (failure as? LarderError)?.column
        if case ReadFailure.failed(let error)? = failure { column = error.column }
        #expect(column == row.column, "\(String(describing: failure))")
    }

    @Test("the parts of a compound predicate have columns of their own formats")
    func compounds() throws {
        let context = try Library.filled()
        let both = NSCompoundPredicate(andPredicateWithSubpredicates: [
            NSPredicate(format: "title == %@ AND words == %d", "a", 1),
            NSPredicate(format: "price > 1 AND wrods == %d", 1),
        ])
        #expect(try message { _ = try context.titles(both) }.contains("column 15:"))
        // Parts that are made without a format have no column.
        let made = NSComparisonPredicate(
            leftExpression: NSExpression(forKeyPath: "wrods"),
            rightExpression: NSExpression(forConstantValue: 1), modifier: .direct, type: .equalTo)
        let text = try message { _ = try context.titles(made) }
        #expect(text.contains("wrods") && !text.contains("column"))
    }

    @Test("an expression in a predicate and in a result names the column of its format")
    func expressions() throws {
        let context = try Library.filled()
        let sum = NSExpression(format: "words + wrods")
        let predicate = NSPredicate(format: "title == 'a' AND %@ > 3", sum)
        #expect(
            try message { _ = try context.titles(predicate) }.contains("expression, column 9:"))
        let article = try context.article("Ann")
        #expect(try message { _ = try sum.value(for: article) }.contains("expression, column 9:"))
        let request = NSFetchRequest<NSFetchRequestResult>(entityName: "Article")
        request.resultType = .dictionaryResultType
        let description = NSExpressionDescription()
        description.name = "sum"
        description.expression = sum
        request.propertiesToFetch = ["title", description]
        #expect(try message { _ = try context.fetch(request) }.contains("expression, column 9:"))
        request.predicate = NSPredicate(format: "words == 1 AND titel == 'a'")
        description.expression = NSExpression(format: "words + 1")
        #expect(try message { _ = try context.fetch(request) }.contains("predicate, column 16:"))
    }

    @Test("requests for many objects name the column")
    func batches() throws {
        let context = try Library.filled()
        let update = NSBatchUpdateRequest(entityName: "Article")
        update.propertiesToUpdate = ["words": 1]
        update.predicate = NSPredicate(format: "words == 1 AND titel == 'a'")
        #expect(try message { _ = try context.execute(update) }.contains("column 16:"))
        let fetch = NSFetchRequest<NSFetchRequestResult>(entityName: "Article")
        fetch.predicate = NSPredicate(format: "words == 1 AND titel == 'a'")
        let deletion = NSBatchDeleteRequest(fetchRequest: fetch)
        #expect(try message { _ = try context.execute(deletion) }.contains("column 16:"))
    }

    @Test("the predicate of a dictionary names the column")
    func dictionaries() throws {
        let predicate = NSPredicate(format: "a == 1 AND b.c == 'x'")
        #expect(
            try message { _ = try predicate.holds(for: ["a": 1, "b": ["d": 1]]) }
                .contains("column 14:"))
        #expect(
            try message { _ = try predicate.holds(for: ["a": "x", "b": ["c": "x"]]) }
                .contains("column 6:"))
    }

    @Test("a predicate with values for its variables names the column")
    func variables() throws {
        let context = try Library.filled()
        let template = NSPredicate(format: "words > $least AND titel == $text")
        let bound = template.withSubstitutionVariables(["least": 1, "text": "a"])
        #expect(try message { _ = try context.titles(bound) }.contains("column 20:"))
        let wrong = template.withSubstitutionVariables(["least": "x", "text": "a"])
        #expect(try message { _ = try context.titles(wrong) }.contains("column"))
    }
}
