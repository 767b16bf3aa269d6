import LarderModel
import LarderQuery
import Testing

@testable import LarderSQL
@testable import LarderStore

@Suite("A check computes derived attributes again")
struct DerivationCheckTests {
    private let library: Library
    private let reader: any StoreReader
    private let category: PersistentIdentifier

    init() throws {
        library = try Library(schema: Newsroom.schema())
        reader = try library.store.makeReader()
        category = try library.insert("Category", ["name": "c"])
        for number in Int64(1)...3 {
            try library.insert(
                "Article",
                [
                    "title": "Été", "wordCount": .int(number), "price": .decimal(1.5),
                    "category": .object(category),
                ])
        }
    }

    private func findings(after statement: SQL) throws -> [CheckFinding] {
        try library.writer.statements?.connection.execute(statement)
        return try reader.check(budget: ReadBudget()).findings
    }

    private func finding(_ location: String, _ object: PersistentIdentifier) -> CheckFinding {
        CheckFinding(
            location: location, uri: object.uriRepresentation,
            message: "its value differs from the result of its derivation")
    }

    @Test("a check of derived attributes in a consistent store has no findings")
    func sound() throws {
        #expect(try findings(after: "SELECT 1") == [])
    }

    @Test("a check reports each derived attribute and object with another value")
    func otherValue() throws {
        #expect(
            try findings(after: "UPDATE Category SET wordTotal = 7")
                == [
                    // Other values are derived from the wrong one.
                    finding("Category.wordTotal", category)
                ]
                + (Int64(1)...3).map {
                    finding("Article.categoryWords", library.identifier("Article", $0))
                })
    }

    @Test("a check finds derived attributes of values that were changed without the server")
    func changedSource() throws {
        let second = library.identifier("Article", 2)
        let found = try findings(after: "UPDATE Article SET title = 'x' WHERE _id = 2")
        #expect(found == [finding("Article.searchTitle", second)])
        #expect(
            try findings(after: "UPDATE Article SET searchTitle = NULL WHERE _id = 3")
                == found + [finding("Article.searchTitle", library.identifier("Article", 3))])
    }

    @Test("a check reports a derived sum that cannot be computed")
    func failing() throws {
        let large: SQL = "UPDATE Article SET wordCount = 9223372036854775807 WHERE _id < 3"
        #expect(
            try findings(after: large).contains(
                CheckFinding(
                    location: "Category.wordTotal",
                    message: "its derivation fails: a sum is larger than an int64 can hold")))
    }
}
