import LarderModel
import LarderQuery
import Testing

@testable import LarderStore

@Suite("An index of parts of texts")
struct SearchIndexTests {
    private let library: Library

    private static let schema = """
        {"version": "1.0.0", "entities": [
          {"name": "Work", "abstract": true, "attributes": [
            {"name": "title", "type": "string", "optional": true, "search": true,
             "unique": true}]},
          {"name": "Book", "parent": "Work", "attributes": [
            {"name": "text", "type": "string", "optional": true, "search": true},
            {"name": "summary", "type": "string", "optional": true, "search": true,
             "derived": "uppercase:(text)"}],
           "relationships": [
            {"name": "notes", "destination": "Note", "toMany": true, "inverse": "book",
             "deleteRule": "cascade"}]},
          {"name": "Note", "attributes": [
            {"name": "text", "type": "string", "search": true}],
           "relationships": [{"name": "book", "destination": "Book", "inverse": "notes"}]}]}
        """

    init() throws {
        library = try Library(schema: SchemaFile.schema(parsing: Self.schema))
    }

    /// The number of objects that a predicate selects, after the index was compared with all texts.
    private func count(
        _ entity: String, _ predicate: String, _ location: SourceLocation = #_sourceLocation
    ) throws -> Int64 {
        let reader = try library.store.makeReader()
        let findings = try reader.check(budget: ReadBudget()).findings
        #expect(findings == [], sourceLocation: location)
        let query = Query.count(entityName: entity, predicate: .format(predicate))
        let plan = try library.store.plan(query, QueryParameters())
        let sql = try reader.explain(plan, QueryParameters(), budget: ReadBudget()).sql
        #expect(sql.contains("MATCH"), sourceLocation: location)
        let cursor = try reader.open(plan, QueryParameters(), budget: ReadBudget())
        defer { cursor.close() }
        let batch = try cursor.next(bytesMax: 1 << 10, budget: ReadBudget()).batch
        guard case .integers(let counts)? = batch.columns.first?.storage else { return -1 }
        return counts.first ?? -1
    }

    @Test("a text index follows inserts, updates, exchanges, upserts and deletes of change sets")
    func changeSets() throws {
        let first = try library.insert("Book", ["title": "Émile Zola", "text": "Germinal"])
        let second = try library.insert("Book", ["title": "Madame Bovary"])
        #expect(try count("Book", "title CONTAINS[cd] 'emile'") == 1)
        #expect(try count("Work", "title ENDSWITH 'Bovary'") == 1)
        try library.saved(
            .update(first, ifVersion: nil, values: ["title": "Madame Bovary"]),
            .update(second, ifVersion: nil, values: ["title": "Émile Zola", "text": "x germ"]))
        #expect(try count("Book", "title CONTAINS 'Zola' AND text CONTAINS 'germ'") == 1)
        let again = Change.insert(
            .new("b", "Book"), values: ["title": "Émile Zola", "text": "Nana"])
        _ = try library.writer.save([ChangeSet([again], onUniqueConflict: .upsert)])[0].get()
        #expect(try count("Book", "text LIKE 'Nan?'") == 1)
        #expect(try count("Book", "text CONTAINS 'germ'") == 0)
        try library.saved(.update(first, ifVersion: nil, values: ["title": .null]))
        #expect(try count("Book", "title CONTAINS 'Bovary'") == 0)
        try library.saved(.delete(second, ifVersion: nil))
        #expect(try count("Book", "title CONTAINS 'Zola'") == 0)
    }

    @Test("a text index follows derived values, delete rules and changes by predicate")
    func rules() throws {
        let book = try library.insert("Book", ["title": "one", "text": "some words"])
        for text in ["a first note", "a second note"] {
            try library.insert("Note", ["text": .string(text), "book": .object(book)])
        }
        #expect(try count("Book", "summary CONTAINS 'WORDS'") == 1)
        #expect(try count("Book", "ANY notes.text CONTAINS 'second'") == 1)
        try library.saved(
            .updateAll(
                "Note", where: "text CONTAINS 'first'", set: ["text": "'the third note'"]))
        #expect(try count("Note", "text CONTAINS 'third'") == 1)
        #expect(try count("Note", "text CONTAINS 'first'") == 0)
        try library.saved(.delete(book, ifVersion: nil))
        #expect(try count("Note", "text CONTAINS 'note'") == 0)
        #expect(try count("Book", "summary CONTAINS 'WORDS'") == 0)
    }

    @Test("a text index follows the rows of a stream, one by one and many at once")
    func stream() throws {
        let rows = (0..<200).map { [Value.string("the row with the number \($0)")] }
        let batch = try library.batch("Note", ["text"], rows)
        _ = try library.inserted(Insertion("Note"), [batch, batch])
        #expect(try count("Note", "text ENDSWITH 'number 150'") == 2)
        let titles = try library.batch("Book", ["title"], [["a first title"], ["a second title"]])
        _ = try library.inserted(Insertion("Book", onUniqueConflict: .upsert), [titles, titles])
        #expect(try count("Book", "title CONTAINS 'title'") == 2)
    }

    @Test("a text index is unchanged after a change set that failed")
    func failure() throws {
        let book = try library.insert("Book", ["title": "kept title"])
        _ = try library.refusal(
            .update(book, ifVersion: nil, values: ["title": "lost title"]),
            .insert(.new("b", "Book"), values: ["title": "lost title"]))
        #expect(try count("Book", "title CONTAINS 'kept'") == 1)
        #expect(try count("Book", "title CONTAINS 'lost'") == 0)
    }

    @Test("a text index that differs from the texts is found by a check")
    func damage() throws {
        try library.insert("Note", ["text": "a note of several words"])
        let findings = {
            try self.library.store.makeReader().check(budget: ReadBudget()).findings
        }
        #expect(try findings() == [])
        let connection = try library.store.reopenWriterConnection()
        try connection.execute("UPDATE Note SET text = 'other words'")
        let found = try findings()
        #expect(found.map(\.location) == ["Note.text"])
        #expect(found.map(\.message) == ["its search index differs from the values of the objects"])
    }
}
