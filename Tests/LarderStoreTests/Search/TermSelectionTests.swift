import LarderModel
import Testing

@testable import LarderSQL
@testable import LarderStore

@Suite("The terms that a query of an index of parts of texts reads")
struct TermSelectionTests {
    private let folder: MemoryFolder
    private let connection: Connection
    private static let index = "_search.Note.text"

    /// All texts have the terms `abc` and `bcd`. One of 1,000 has `xyz`, and few have `abb`, which
    /// begins on the same page of the index as `abc`.
    init() throws {
        folder = try MemoryFolder()
        connection = try Connection(path: folder.storePath, createIfMissing: true)
        let table = SearchTable(
            terms: .trigrams, name: Self.index, table: "Note", textColumns: ["text"],
            attributeName: "Note.text")
        try connection.execute(table.create)
        try connection.execute(
            """
            WITH RECURSIVE n(k) AS (VALUES (1) UNION ALL SELECT k + 1 FROM n WHERE k < 400000) \
            INSERT INTO \(name: Self.index) (rowid, text) SELECT k, 'abcd' || \
            CASE WHEN k % 1000 = 0 THEN ' xyz' WHEN k % 50000 = 1 THEN ' abb' ELSE '' END FROM n
            """)
    }

    private func selected(_ terms: String...) throws -> [String] {
        try TermSelection(connection, index: Self.index).selected(of: terms)
    }

    @Test("a query of a text index reads no frequent term next to a rare one")
    func frequent() throws {
        #expect(try selected("abc", "xyz") == ["xyz"])
        #expect(try selected("bcd", "xyz", "abc") == ["xyz"])
    }

    @Test("a query of a text index reads a rare term also if its list may be a long one")
    func neighbor() throws {
        #expect(try Set(selected("abc", "abb", "xyz")) == ["abb", "xyz"])
    }

    @Test("a query of a text index reads all terms if none is rare")
    func alone() throws {
        #expect(try selected("abc") == ["abc"])
        #expect(try selected("abc", "bcd").count == 2)
        #expect(try selected("nnn", "xyz").count == 2)
    }

    @Test("the terms of a text index's query are written and read back")
    func text() {
        let terms = ["abc", "\"\"\"", "a\"b", " \u{3B9}x", "日本語"]
        #expect(TrigramQuery.terms(of: TrigramQuery.text(of: terms)) == terms)
    }
}
