import FoundationEssentials
import LarderModel
import LarderQuery
import Testing

@testable import LarderStore

@Suite("A migration")
struct MigrationTests {
    private let folder: MemoryFolder
    private var path: String { folder.storePath }

    init() throws { folder = try MemoryFolder() }

    // MARK: Support

    private func schema(_ text: String) throws -> Schema { try SchemaFile.schema(parsing: text) }

    private static let library = """
        {"version": "1.0.0", "entities": [
          {"name": "Book", "attributes": [
            {"name": "title", "type": "string", "preserveValueOnDeletion": true},
            {"name": "pages", "type": "int64", "optional": true}],
           "relationships": [
            {"name": "author", "destination": "Writer", "inverse": "books"}]},
          {"name": "Writer", "attributes": [{"name": "name", "type": "string"}],
           "relationships": [
            {"name": "books", "destination": "Book", "toMany": true, "inverse": "author"}]}]}
        """

    /// The library with Book renamed to Volume, title to name, and author to writer.
    private static let renamed = """
        {"version": "2.0.0", "entities": [
          {"name": "Volume", "originalName": "Book", "attributes": [
            {"name": "name", "type": "string", "originalName": "title",
             "preserveValueOnDeletion": true},
            {"name": "pages", "type": "int64", "optional": true}],
           "relationships": [
            {"name": "writer", "destination": "Writer", "inverse": "books",
             "originalName": "author"}]},
          {"name": "Writer", "attributes": [{"name": "name", "type": "string"}],
           "relationships": [
            {"name": "books", "destination": "Volume", "toMany": true, "inverse": "writer"}]}]}
        """

    private func migrated(to text: String) throws -> Store {
        try Store.open(
            path: path, schema: try schema(text), options: StoreOptions(migrates: true))
    }

    private func refusal(of text: String) throws -> LarderError {
        try #require(#expect(throws: LarderError.self) { try migrated(to: text) })
    }

    /// Saves changes to the store of the library, which it creates if there is none.
    @discardableResult
    private func save(_ changes: [Change], key: String = "") throws -> SaveResult {
        let store = try Store.open(path: path, schema: try schema(Self.library))
        let writer = try store.makeWriter()
        defer { writer.close() }
        var set = ChangeSet(changes)
        set.idempotencyKey = key
        return try #require(writer.save([set]).first).get()
    }

    private func book(_ name: String, _ values: [String: Value]) -> Change {
        .insert(PersistentIdentifier(temporary: name, entityName: "Book"), values: values)
    }

    private func records(_ store: Store, _ identifiers: [PersistentIdentifier]) throws -> [Record] {
        try store.makeReader().objects(identifiers, properties: nil, budget: ReadBudget())
            .flatMap { $0.records(store: store.storeDescription.identifier) }
    }

    private func expectNoFindings(_ store: Store) throws {
        #expect(try store.makeReader().check(budget: ReadBudget()).findings == [])
    }

    // MARK: Renaming

    @Test("a migration keeps keys, identifiers, versions, history and outcomes of renamed entities")
    func renaming() throws {
        let writer = PersistentIdentifier(temporary: "w", entityName: "Writer")
        let inserted = try save(
            [
                .insert(writer, values: ["name": "Ann"]),
                book("a", ["title": "One", "author": .object(writer)]), book("b", ["title": "Two"]),
            ], key: "first"
        ).inserted
        let (first, second) = (inserted[1], inserted[2])
        try save([
            .update(first, ifVersion: nil, values: ["title": "One again"]),
            .delete(second, ifVersion: nil),
        ])

        let store = try migrated(to: Self.renamed)
        let record = try #require(try records(store, [first]).first)
        #expect(record.identifier.entityName == "Volume")
        #expect(record.identifier.permanentKey == first.permanentKey)
        #expect(record.version == 2)
        #expect(record["name"] == "One again")
        #expect(record["writer"] == .object(inserted[0]))

        let page = try store.makeReader().history(
            HistoryPageRequest(
                HistorySelection(HistoryFilter(), in: store.storeDescription.schema),
                bytesMax: 1 << 20), budget: ReadBudget())
        let changes = page.transactions.flatMap(\.changes)
        #expect(Set(changes.map(\.identifier.entityName)) == ["Volume", "Writer"])
        #expect(changes.contains { $0.properties == ["name"] })
        #expect(changes.contains { $0.tombstone == ["name": "Two"] })

        let connection = try store.makeWriter()
        defer { connection.close() }
        // A save as before: its result has today's names.
        var again = ChangeSet([
            .insert(writer, values: ["name": "Ann"]),
            book("a", ["title": "One", "author": .object(writer)]), book("b", ["title": "Two"]),
        ])
        again.idempotencyKey = "first"
        let outcome = try #require(connection.save([again]).first).get()
        #expect(outcome.inserted.map(\.entityName) == ["Writer", "Volume", "Volume"])
        // An identifier with the former name leads to the object.
        let update = ChangeSet([
            .update(first, ifVersion: nil, values: ["pages": 7])
        ])
        #expect(try connection.save([update])[0].get().updatedVersions == [3])
        try expectNoFindings(store)
    }

    @Test("a migration never gives a key of a removed or renamed entity to another object")
    func retiredKeys() throws {
        let keys = try save([book("a", ["title": "One"]), book("b", ["title": "Two"])]).inserted
        do { _ = try migrated(to: Self.renamed) }
        let reused = Self.renamed.replacing("2.0.0", with: "3.0.0").replacing(
            "{\"name\": \"Writer\"",
            with:
                "{\"name\": \"Book\", \"attributes\": [{\"name\": \"x\", \"type\": \"string\"}]}, "
                + "{\"name\": \"Writer\"")
        let store = try migrated(to: reused)
        let writer = try store.makeWriter()
        defer { writer.close() }
        let inserted = try writer.save([ChangeSet([book("n", ["x": "new"])])])[0].get().inserted
        #expect(try #require(inserted.first?.permanentKey) > 2)
        #expect(try records(store, keys) == [])
    }

    // MARK: Rows stay

    @Test("a migration of optional attributes, defaults, indexes and names rewrites no rows")
    func descriptions() throws {
        let plan = try Migration.plan(
            from: schema(Self.library),
            to: schema(
                """
                {"version": "2.0.0", "entities": [
                  {"name": "Book", "attributes": [
                    {"name": "subtitle", "type": "string", "optional": true},
                    {"name": "heading", "type": "string", "originalName": "title",
                     "indexed": true, "preserveValueOnDeletion": true},
                    {"name": "pages", "type": "int32", "optional": true},
                    {"name": "price", "type": "decimal", "default": "9.99"}],
                   "relationships": [
                    {"name": "shelf", "destination": "Shelf"},
                    {"name": "author", "destination": "Writer", "inverse": "books"}]},
                  {"name": "Shelf", "attributes": [{"name": "name", "type": "string"}]},
                  {"name": "Writer", "attributes": [{"name": "name", "type": "string"}],
                   "relationships": [
                    {"name": "books", "destination": "Book", "toMany": true,
                     "inverse": "author"}]}]}
                """))
        #expect(plan.tables.allSatisfy { !$0.isRewritten })
        #expect(plan.links.isEmpty && plan.droppedTables.isEmpty && plan.conversions.isEmpty)
    }

    // MARK: Refusals

    @Test("a migration is refused with all reasons, each with its path")
    func reasons() throws {
        try save([])
        let error = try refusal(
            of: """
                {"version": "0.9.0", "entities": [
                  {"name": "Book", "attributes": [
                    {"name": "title", "type": "date"},
                    {"name": "isbn", "type": "string"},
                    {"name": "author", "type": "string", "optional": true}]},
                  {"name": "Author", "originalName": "Writer", "attributes": [
                    {"name": "name", "type": "string"}],
                   "relationships": [
                    {"name": "best", "destination": "Book", "optional": false}]}]}
                """)
        #expect(error.code == .migrationRefused)
        #expect(
            error.problems.map { $0.prefix { $0 != " " } } == [
                "version:", "entities[0].attributes[1]:", "entities[0].attributes[2]:",
                "entities[1].relationships[0].optional:",
            ])
    }

    @Test("a migration is refused if names exchange their meaning")
    func exchange() throws {
        try save([])
        let error = try refusal(
            of: """
                {"version": "2.0.0", "entities": [
                  {"name": "Book", "originalName": "Writer",
                   "attributes": [{"name": "title", "type": "string"}]},
                  {"name": "Person", "originalName": "Book",
                   "attributes": [{"name": "name", "type": "string", "optional": true}]}]}
                """)
        #expect(error.code == .migrationRefused)
        #expect(error.problems.count == 1)
        #expect(error.problems[0].hasPrefix("entities[1].originalName: Book is continued by"))
    }

    @Test("a migration names the objects that the new schema does not permit, and changes nothing")
    func offendingObjects() throws {
        let count = 250
        try save(
            (0..<count).map { book("b\($0)", ["title": .string("\($0)x"), "pages": .int(40_000)]) })
        let narrow = Self.library.replacing("1.0.0", with: "2.0.0").replacing(
            "int64", with: "int16")
        let error = try refusal(of: narrow)
        #expect(error.code == .migrationRefused)
        #expect(error.message.contains("250 values"))
        #expect(error.problems.count == 101)
        #expect(error.problems[0].hasSuffix("Book.pages takes an int16, from -32768 to 32767"))
        #expect(error.problems.last == "and 150 more")
        // The last row fails, after all others were converted.
        try save([
            book("n", ["title": "12"])
        ])
        #expect(
            try refusal(
                of: Self.library.replacing("1.0.0", with: "2.0.0").replacing(
                    "\"title\", \"type\": \"string\"", with: "\"title\", \"type\": \"int64\"")
            ).problems.count == 101)
        let store = try Store.open(path: path, schema: try schema(Self.library))
        try expectNoFindings(store)
    }

    @Test("a store is not migrated for a reader, or without the option to migrate")
    func permission() throws {
        try save([])
        let new = try schema(Self.renamed)
        for options in [StoreOptions(), StoreOptions(isReadOnly: true, migrates: true)] {
            let error = #expect(throws: LarderError.self) {
                try Store.open(path: path, schema: new, options: options)
            }
            #expect(error?.code == .schemaMismatch)
        }
    }
}
