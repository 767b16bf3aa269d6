import LarderModel
import LarderQuery
import Testing

@testable import LarderStore

@Suite("A migration of the indexes of texts")
struct TextIndexMigrationTests {
    private let folder: MemoryFolder
    private var path: String { folder.storePath }

    init() throws {
        folder = try MemoryFolder()
        let store = try Store.open(path: path, schema: Self.schema(1, ""))
        let writer = try store.makeWriter()
        defer { writer.close() }
        for title in ["Émile", "emile", "Larder"] {
            let note = Change.insert(.new("n", "Note"), values: ["title": .string(title)])
            _ = try writer.save([ChangeSet([note])])[0].get()
        }
    }

    private static func schema(
        _ version: Int, _ options: String, name: String = "title"
    ) throws -> Schema {
        try SchemaFile.schema(
            parsing: """
                {"version": "\(version).0.0", "entities": [{"name": "Note", "attributes": [
                  {"name": "\(name)", "type": "string"\(options)}]}]}
                """)
    }

    /// Migrates the store, checks it, and returns the names of its tables and indexes of texts.
    private func migrate(to schema: Schema) throws -> [String] {
        let store = try Store.open(
            path: path, schema: schema, options: StoreOptions(migrates: true))
        #expect(try store.makeReader().check(budget: ReadBudget()).findings == [])
        let names = try store.openReadConnection().prepare(
            """
            SELECT name FROM sqlite_schema WHERE instr(sql, 'larder_c') OR instr(sql, 'fts5') \
            ORDER BY name
            """)
        var found: [String] = []
        while try names.step() { found.append(names.string(at: 0)) }
        return found
    }

    @Test("a migration adds and removes indexes of texts, and keeps former clients")
    func addition() throws {
        let both = #", "indexed": "insensitive", "search": true"#
        let mapping = SchemaMapping(from: try Self.schema(1, ""), to: try Self.schema(2, both))
        #expect(mapping.isAdditive)
        #expect(
            mapping.changes.map(\.description) == [
                "version: 1.0.0 -> 2.0.0", "Note: index (title) without case and accents added",
                "Note: index (title) for searches added",
            ])
        #expect(
            try migrate(to: Self.schema(2, both)) == [
                "_canonical.Note.title", "_caseless.Note.title", "_search.Note.title",
            ])
        #expect(try migrate(to: Self.schema(3, "")) == [])
    }

    @Test("a migration adds, keeps and removes indexes of words")
    func words() throws {
        let words = #", "search": {"tokens": "words"}"#
        let mapping = SchemaMapping(from: try Self.schema(1, ""), to: try Self.schema(2, words))
        #expect(mapping.isAdditive)
        #expect(
            mapping.changes.map(\.description) == [
                "version: 1.0.0 -> 2.0.0", "Note: index (title) for searches by words added",
            ])
        #expect(try migrate(to: Self.schema(2, words)) == ["_words.Note.title"])
        let both = #", "optional": true, "search": {"tokens": ["trigram", "words"]}"#
        #expect(
            try migrate(to: Self.schema(3, both)) == ["_search.Note.title", "_words.Note.title"])
        let name = #", "originalName": "title", "search": {"tokens": "words"}"#
        #expect(try migrate(to: Self.schema(4, name, name: "name")) == ["_words.Note.name"])
        #expect(try migrate(to: Self.schema(5, "", name: "name")) == [])
    }

    @Test("a client of a former schema is served without the indexes of texts that are gone")
    func formerClients() throws {
        let search = try Self.schema(2, #", "search": true"#)
        _ = try migrate(to: search)
        let store = try Store.open(
            path: path, schema: Self.schema(3, ""), options: StoreOptions(migrates: true))
        let view = try #require(
            store.formerView(version: "2.0.0", fingerprint: search.fingerprint))
        let plan = try view.plan(
            .count(entityName: "Note", predicate: .format("title CONTAINS 'arde'")),
            QueryParameters())
        let reader = view.reader(over: try store.makeReader())
        let cursor = try reader.open(plan, QueryParameters(), budget: ReadBudget())
        defer { cursor.close() }
        let batch = try cursor.next(bytesMax: 1 << 10, budget: ReadBudget()).batch
        #expect(batch.columns[0].storage == .integers([1]))
    }

    @Test("the indexes of a text follow a renamed attribute in a migration")
    func renaming() throws {
        _ = try migrate(to: Self.schema(2, #", "search": true, "indexed": "insensitive""#))
        let renamed = #", "search": true, "indexed": "insensitive", "originalName": "title""#
        let names = try migrate(to: Self.schema(3, renamed, name: "heading"))
        #expect(names.contains("_search.Note.heading"))
        #expect(names.count == 3)
    }

    @Test("a migration to case-insensitive uniqueness is refused for objects that differ in case")
    func uniqueness() throws {
        let error = try #require(
            #expect(throws: LarderError.self) {
                try migrate(to: Self.schema(2, #", "unique": "insensitive""#))
            })
        #expect(error.code == .migrationRefused)
        #expect(error.problems.count == 2)
        #expect(try migrate(to: Self.schema(1, "")) == [])
        let unique = #", "unique": true"#
        #expect(try migrate(to: Self.schema(2, unique)) == [])
    }
}
