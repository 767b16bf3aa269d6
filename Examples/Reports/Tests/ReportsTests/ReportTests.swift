import Foundation
import LarderData
import Testing

@testable import Library

@Suite("Reports over a library")
struct ReportTests {
    /// Six articles: four of Ada, one of Bob, one of nobody's category.
    static let records = [
        record("A1", 2024, 100, "Ada", "Swift", ["Work"]),
        record("A2", 2025, 300, "Ada", "Swift", ["Work", "Weekend"]),
        record("A3", 2026, 500, "Ada", "Linux", ["Classics"]),
        record("A4", 2026, 700, "Ada", nil, []),
        record("B1", 2026, 2000, "Bob", "Linux", []),
        record("B2", 2026, 10, "Bob", "Design", ["Weekend"]),
    ]

    private static func record(
        _ title: String, _ year: Int, _ words: Int, _ author: String, _ category: String?,
        _ lists: [String]
    ) -> ArticleRecord {
        ArticleRecord(
            title: title, published: day(year), words: words, author: author,
            category: category, lists: lists)
    }

    private static func day(_ year: Int) -> Date {
        DateComponents(
            calendar: Calendar(identifier: .gregorian), timeZone: .gmt, year: year, month: 6,
            day: 1
        ).date ?? .distantPast
    }

    private func context() throws -> ModelContext {
        let context = ModelContext(try Library.container(at: nil))
        try context.importArticles(Self.records)
        return context
    }

    @Test("a report counts the articles of each category and can omit small categories")
    func byCategory() throws {
        let context = try context()
        let all = try context.articlesByCategory()
        #expect(all.map(\.category) == ["Linux", "Swift", nil, "Design"])
        #expect(all.map(\.articles) == [2, 2, 1, 1])
        #expect(all.map(\.averageWords) == [1250, 200, 700, 10])
        #expect(
            try context.articlesByCategory(atLeast: 2).map(\.category) == ["Linux", "Swift"])
        #expect(try context.articlesByCategory(atLeast: 3).isEmpty)
    }

    @Test("a report counts the articles of each year")
    func byYear() throws {
        let years = try context().articlesByYear()
        #expect(years.map(\.year) == [2024, 2025, 2026])
        #expect(years.map(\.articles) == [1, 1, 4])
    }

    @Test("a report orders authors by the number of words that they have written")
    func topAuthors() throws {
        let context = try context()
        #expect(
            try context.topAuthors(limit: 10) == [
                AuthorTotal(author: "Bob", articles: 2, categories: 2, words: 2010),
                AuthorTotal(author: "Ada", articles: 4, categories: 2, words: 1600),
            ])
        #expect(try context.topAuthors(limit: 1).map(\.author) == ["Bob"])
    }

    @Test("a report finds regular authors by a subquery over their articles")
    func regulars() throws {
        let context = try context()
        func names(_ count: Int, _ words: Int, _ year: Int) throws -> [String] {
            try context.authors(withAtLeast: count, ofAtLeast: words, since: Self.day(year))
                .map(\.name)
        }
        #expect(try names(2, 0, 2026) == ["Ada", "Bob"])
        #expect(try names(2, 100, 2026) == ["Ada"])
        #expect(try names(5, 0, 2024) == [])
        #expect(try names(0, 0, 2030) == ["Ada", "Bob"])
    }

    @Test("a report finds the reading lists with an article of a category, ordered by name")
    func lists() throws {
        let context = try context()
        let swift = try #require(try context.category(named: "Swift"))
        let lists = try context.lists(with: swift)
        let names = try lists.map { try context.existingModel(for: $0) as ReadingList? }
        #expect(names.map { $0?.name } == ["Weekend", "Work"])
        #expect(try context.category(named: "Cooking") == nil)
    }

    @Test("an import that is repeated changes the articles instead of adding them")
    func importTwice() throws {
        let context = try context()
        var records = Self.records
        records[0].words = 101
        records[0].author = "Bob"
        records[1].lists = ["Classics"]
        try context.importArticles(records)
        #expect(try context.fetchCount(FetchDescriptor<Article>()) == 6)
        #expect(try context.fetchCount(FetchDescriptor<Author>()) == 2)
        #expect(try context.fetchCount(FetchDescriptor<ReadingList>()) == 3)
        let first = try #require(try context.article(titled: "A1"))
        #expect(first.words == 101)
        #expect(first.author?.name == "Bob")
        #expect(try context.article(titled: "A2")?.lists.map(\.name).sorted() == ["Classics"])
        #expect(try context.topAuthors(limit: 9).map(\.articles) == [3, 3])
    }

    @Test("text that is not a URI and the URI of a deleted object are errors in a report")
    func describe() throws {
        let context = try context()
        let article = try #require(try context.article(titled: "A2"))
        let uri = article.persistentModelID.uriRepresentation
        #expect(
            try context.describe(uri: uri) == """
                Article: A2
                  by Ada, Swift
                  2025-06-01, 300 words
                """)
        let author = try #require(article.author)
        #expect(
            try context.describe(uri: author.persistentModelID.uriRepresentation)
                .hasPrefix("Author: Ada\n  A1\n  A2\n"))
        context.delete(article)
        try context.save()
        #expect(throws: LibraryError.notFound("object \(uri)")) {
            try context.describe(uri: uri)
        }
        for bad in ["", "A2", "http://example.org/a", "x-coredata:///Article/p1"] {
            #expect(throws: LibraryError.notIdentifier(bad)) { try context.describe(uri: bad) }
        }
    }
}
