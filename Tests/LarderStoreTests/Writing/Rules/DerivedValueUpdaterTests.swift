import LarderModel
import Testing

@testable import LarderSQL
@testable import LarderStore

@Suite("the updater of derived values")
struct DerivedValueUpdaterTests {
    private let library: Library
    private let category: ObjectKey
    private let article: ObjectKey

    init() throws {
        library = try Library(schema: Newsroom.schema())
        let category = try library.insert("Category", ["name": "c"])
        self.category = try library.object(category)
        article = try library.object(
            try library.insert(
                "Article", ["title": "a", "wordCount": 5, "category": .object(category)]))
    }

    private func updater(_ context: ChangeContext) -> DerivedValueUpdater {
        DerivedValueUpdater(context: context, time: 0)
    }

    @Test("the updater computes the derived values that depend on a recorded change")
    func dependents() throws {
        try library.withContext { context in
            try context.execute("UPDATE Article SET wordCount = 7")
            let wordCount = try library.attribute("Article.wordCount")
            context.changes.update(article, .attribute(wordCount))
            try updater(context).update()
            #expect(try context.values("SELECT wordTotal FROM Category") == [.integer(7)])
            #expect(try context.values("SELECT categoryWords FROM Article") == [.integer(7)])
            let total = try library.attribute("Category.wordTotal")
            #expect(
                context.changes.keys(changedIn: .attribute(total), of: category.entity)
                    == [category.key])
        }
    }

    @Test("the updater computes no derived value that does not depend on a recorded change")
    func unrecorded() throws {
        try library.withContext { context in
            try context.execute("UPDATE Article SET wordCount = 7")
            try updater(context).update()
            #expect(try context.values("SELECT wordTotal FROM Category") == [.integer(5)])
        }
    }

    @Test("the updater discards errors of derived values until the end of the set")
    func errors() throws {
        try library.withContext { context in
            try context.execute("UPDATE Article SET wordCount = 9223372036854775807")
            try context.execute(
                """
                INSERT INTO Article (_version, title, wordCount, category)
                VALUES (1, 'b', 9223372036854775807, \(category.key))
                """)
            let wordCount = try library.attribute("Article.wordCount")
            context.changes.update(article, .attribute(wordCount))
            try updater(context).updateForPredicate()
            #expect(context.errors.isEmpty)
            context.changes.update(article, .attribute(wordCount))
            try updater(context).update()
            #expect(context.summary.contains("ARITHMETIC_OVERFLOW"))
        }
    }
}
