import LarderModel
import LarderQuery
import TestSupport
import Testing

@testable import LarderStore

@Suite("An index of words")
struct WordIndexTests {
    private let library: Library

    /// Each text twice: with an index of both attributes and one of each, and without one.
    private static let schema = """
        {"version": "1.0.0", "entities": [
          {"name": "Note", "search": [["title", "text"]], "attributes": [
            {"name": "number", "type": "int64", "optional": true},
            {"name": "title", "type": "string", "optional": true},
            {"name": "text", "type": "string", "optional": true,
             "search": {"tokens": ["trigram", "words"]}},
            {"name": "plainTitle", "type": "string", "optional": true},
            {"name": "plainText", "type": "string", "optional": true}]},
          {"name": "Letter", "parent": "Note", "search": [["address", "title"]], "attributes": [
            {"name": "address", "type": "string", "optional": true}]}]}
        """

    init() throws {
        library = try Library(schema: SchemaFile.schema(parsing: Self.schema))
    }

    /// The numbers and scores of the objects that a search finds, and the SQL that found them.
    private func found(
        _ search: String, in columns: String, entity: String = "Note",
        by sharedReader: (any StoreReader)? = nil
    ) throws -> (rows: [Column.Storage], sql: String) {
        let parameters = QueryParameters(arguments: [
            .value(.string(search)), .value(.string(search)),
        ])
        let query = Query.fetch(
            Fetch(
                entity, where: .format("SEARCH(\(columns), %@)"),
                sort: [SortKey("number")],
                selection: .values([
                    QueryColumn("number"),
                    QueryColumn("score(\(columns), %@)"),
                ])))
        let plan = try library.store.plan(query, parameters)
        let reader = try sharedReader ?? library.store.makeReader()
        let sql = try reader.explain(plan, parameters, budget: ReadBudget()).sql
        let cursor = try reader.open(plan, parameters, budget: ReadBudget())
        defer { cursor.close() }
        let batch = try cursor.next(bytesMax: 1 << 20, budget: ReadBudget()).batch
        return (batch.columns.map(\.storage), sql)
    }

    private func check() throws {
        let findings = try library.store.makeReader().check(budget: ReadBudget()).findings
        #expect(findings == [])
    }

    @Test("a search by an index of words has the objects and scores of one without an index")
    func sameResults() throws {
        var random = SeededGenerator.fromEnvironment("word index")
        let words = [
            "larder", "Larder", "pantry", "pan", "object", "store", "Émile", "emile", "東京都", "ß",
            "ss", "👍🏽", "don't", "e-mail", "ᾳ", "한글", "a", "\u{0}", "OR", "-", "\"", "*", "(",
        ]
        func text(_ count: Int, _ separator: String = " ") -> String {
            (0..<count).map { _ in words[Int.random(in: 0..<words.count, using: &random)] }
                .joined(separator: separator)
        }
        let rows = (0..<300).map { number -> [Value] in
            let title: Value = number % 7 == 0 ? .null : .string(text(number % 4))
            let body: Value = number % 5 == 0 ? .null : .string(text(number % 40))
            return [.int(Int64(number)), title, body, title, body]
        }
        let names = ["number", "title", "text", "plainTitle", "plainText"]
        _ = try library.inserted(Insertion("Note"), [library.batch("Note", names, rows)])
        try check()
        var foundCount = 0
        for _ in 0..<300 {
            var search = text(Int.random(in: 1...4, using: &random))
            if Bool.random(using: &random) { search = "\"\(search.filter { $0 != "\"" })\"" }
            if Bool.random(using: &random) { search += " OR \(text(2)) -\(text(1))" }
            if Bool.random(using: &random) { search = "-\(text(1)) \(text(3)) OR \(search)" }
            if Bool.random(using: &random) { search += "*" }
            guard (try? SearchText(search)) != nil else { continue }
            let indexed = try found(search, in: "title, text")
            let plain = try found(search, in: "plainTitle, plainText")
            #expect(indexed.rows == plain.rows, "\(search)")
            #expect(indexed.sql.contains("larder_match_score"), "\(indexed.sql)")
            #expect(!plain.sql.contains("MATCH"))
            #expect(
                try found(search, in: "text").rows == found(search, in: "plainText").rows,
                "\(search)")
            // The index of both attributes serves one of them.
            let title = try found(search, in: "title")
            #expect(title.sql.contains("MATCH"))
            #expect(title.rows == (try found(search, in: "plainTitle").rows), "\(search)")
            if case .integers(let numbers) = indexed.rows[0] { foundCount += numbers.count }
        }
        #expect(foundCount > 1_000)
    }

    @Test("successive searches of several indexes of words have the right scores")
    func severalIndexes() throws {
        try library.insert("Note", ["title": "one two", "text": "one two three four"])
        let reader = try library.store.makeReader()
        let columns = ["text", "title, text", "title", "text"]
        for (search, columns) in zip(["one two three four", "one four", "two", "one"], columns) {
            let indexed = try found(search, in: columns, by: reader)
            #expect(indexed.sql.contains("larder_match_score"))
            #expect(try indexed.rows == found(search, in: columns).rows)
        }
    }

    @Test("an excluded word of an alternative that an object does not satisfy is not counted")
    func excludedWords() throws {
        let title: Value = "one two one"
        try library.insert("Note", ["number": 1, "title": title, "plainTitle": title])
        for search in ["-one two three OR two", "-two one three OR -three two OR one"] {
            #expect(
                try found(search, in: "title, text").rows
                    == found(search, in: "plainTitle, plainText").rows, "\(search)")
        }
    }

    @Test("a search by an index of words ranks a page as one without an index does")
    func ranking() throws {
        var random = SeededGenerator.fromEnvironment("word ranking")
        let words = ["larder", "pantry", "pan", "store", "Émile", "object"]
        func text(_ count: Int) -> String {
            (0..<count).map { _ in words[Int.random(in: 0..<words.count, using: &random)] }
                .joined(separator: " ")
        }
        // A text of more words than one byte of a variable-length integer can say.
        let rows = (0..<200).map { number -> [Value] in
            let title: Value = number % 9 == 0 ? .null : .string(text(number % 5))
            let body = Value.string(text(number % 40 == 7 ? 300 : number % 20))
            return [.int(Int64(number)), title, body, title, body]
        }
        let names = ["number", "title", "text", "plainTitle", "plainText"]
        _ = try library.inserted(Insertion("Note"), [library.batch("Note", names, rows)])
        func page(
            _ columns: String, _ search: String, descending: Bool, offset: Int64
        ) throws -> (rows: [Column.Storage], sql: String) {
            let parameters = QueryParameters(
                variables: ["w": .value(.string(search))], limit: 7, offset: offset)
            let query = Query.fetch(
                Fetch(
                    "Note", where: .format("SEARCH(\(columns), $w)"),
                    sort: [SortKey("score(\(columns), $w)", descending: descending)],
                    selection: .values([
                        QueryColumn("number"), QueryColumn("score(\(columns), $w)"),
                    ])))
            let plan = try library.store.plan(query, parameters)
            let reader = try library.store.makeReader()
            let sql = try reader.explain(plan, parameters, budget: ReadBudget()).sql
            let cursor = try reader.open(plan, parameters, budget: ReadBudget())
            defer { cursor.close() }
            let batch = try cursor.next(bytesMax: 1 << 20, budget: ReadBudget()).batch
            return (batch.columns.map(\.storage), sql)
        }
        let searches = [
            "larder", "pan* -store", "\"larder pantry\"", "larder emile OR object",
            "-object emile absent OR object", "-larder pan* OR -pan* larder OR larder",
        ]
        for search in searches {
            for descending in [true, false] {
                for offset: Int64 in [0, 5, 2_000] {
                    let indexed = try page(
                        "title, text", search, descending: descending, offset: offset)
                    let plain = try page(
                        "plainTitle, plainText", search, descending: descending, offset: offset)
                    #expect(indexed.rows == plain.rows, "\(search) \(descending) \(offset)")
                    #expect(indexed.sql.contains("AS ranked"), "\(indexed.sql)")
                    #expect(!plain.sql.contains("MATCH"))
                }
            }
        }
    }

    @Test("an index of words follows inserts, updates and deletes, of one or several attributes")
    func changes() throws {
        let first = try library.insert(
            "Note", ["number": 1, "title": "Émile Zola", "text": "Germinal"])
        let second = try library.insert(
            "Letter", ["number": 2, "title": "Larder", "address": "Redis Street"])
        try check()
        #expect(try found("zola germinal", in: "title, text").rows[0] == .integers([1]))
        #expect(
            try found("street larder", in: "address, title", entity: "Letter").rows[0]
                == .integers([2]))
        try library.saved(
            .update(first, ifVersion: nil, values: ["text": "Nana"]),
            .update(second, ifVersion: nil, values: ["title": .null, "address": .null]))
        try check()
        #expect(try found("germinal", in: "title, text").rows[0] == .integers([]))
        #expect(try found("zola nana", in: "title, text").rows[0] == .integers([1]))
        #expect(try found("larder", in: "title").rows[0] == .integers([]))
        try library.saved(.delete(first, ifVersion: nil))
        try check()
        #expect(try found("zola", in: "title").rows[0] == .integers([]))
    }

    @Test("an index of words that differs from the texts is found by a check")
    func damage() throws {
        try library.insert("Note", ["title": "some words of a title"])
        try check()
        let connection = try library.store.reopenWriterConnection()
        try connection.execute("UPDATE Note SET title = 'words some of a title'")
        let findings = try library.store.makeReader().check(budget: ReadBudget()).findings
        #expect(findings.map(\.location).first == "Note.title, Note.text")
    }
}
