#if PostgreSQL
import FoundationEssentials
import LarderModel
import LarderPostgres
import LarderQuery
import QueryScripts
import Testing

@Suite(
    "A store in PostgreSQL",
    .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.notInstalled)))
struct PostgresStoreTests {
    private static let schemaText = """
        { "version": "1.0.0", "entities": [
          { "name": "Article",
            "attributes": [
              { "name": "title", "type": "string", "indexed": true },
              { "name": "words", "type": "int32", "optional": true, "minimum": 0 },
              { "name": "price", "type": "decimal", "optional": true },
              { "name": "score", "type": "double", "optional": true },
              { "name": "share", "type": "float", "optional": true },
              { "name": "isPublished", "type": "bool", "optional": true },
              { "name": "created", "type": "date", "optional": true },
              { "name": "token", "type": "uuid", "optional": true },
              { "name": "link", "type": "url", "optional": true },
              { "name": "image", "type": "data", "optional": true },
              { "name": "extra", "type": "json", "optional": true },
              { "name": "code", "type": "string", "optional": true, "unique": true } ],
            "relationships": [
              { "name": "category", "destination": "Category", "inverse": "articles" },
              { "name": "tags", "destination": "Tag", "toMany": true, "inverse": "articles" } ] },
          { "name": "Category",
            "attributes": [ { "name": "name", "type": "string" } ],
            "relationships": [
              { "name": "articles", "destination": "Article", "toMany": true, "ordered": true,
                "inverse": "category" } ] },
          { "name": "Tag",
            "attributes": [ { "name": "name", "type": "string" } ],
            "relationships": [
              { "name": "articles", "destination": "Article", "toMany": true,
                "inverse": "tags" } ] } ] }
        """

    private static func schema() throws -> Schema { try SchemaFile.schema(parsing: schemaText) }

    private static func temporary(_ name: String, _ entity: String) -> PersistentIdentifier {
        PersistentIdentifier(temporary: name, entityName: entity)
    }

    @Test("Objects that were inserted are read back as they were saved, also after a reopening")
    func insertAndGet() throws {
        let name = StoreInPostgres.newSchemaName()
        let store = try StoreInPostgres.open(Self.schema(), named: name)
        let writer = try store.makeWriter()
        let values: [String: Value] = [
            "title": .string("é ist e\u{301}"), "words": .int(2_147_483_647),
            "price": .decimal(Decimal(string: "-1234567890.000000000123456789") ?? 0),
            "score": .double(0.1), "share": .float(0.1), "isPublished": .bool(true),
            "created": .date(Date(timeIntervalSinceReferenceDate: 0.1234567890123)),
            "token": .uuid(UUID()), "link": .url(try #require(URL(string: "https://a.example/b"))),
            "image": .data(Data([0, 255, 7])), "extra": .json("{\"a\": [1, 2.50]}"),
        ]
        let article = Self.temporary("a", "Article")
        let category = Self.temporary("c", "Category")
        let result = try StoreInPostgres.save(
            [
                .insert(article, values: values.merging(["category": .object(category)]) { $1 }),
                .insert(category, values: ["name": .string("science")]),
            ], in: writer)
        #expect(result.transaction == 1)
        writer.close()

        let reopened = try StoreInPostgres.open(nil, named: name)
        #expect(reopened.storeDescription == store.storeDescription)
        let reader = try reopened.makeReader()
        let batches = try reader.objects(
            result.inserted, properties: nil, budget: ReadBudget())
        #expect(batches.map { $0.identity?.entityName } == ["Article", "Category"])
        let store0 = reopened.storeDescription.identifier
        for (index, column) in batches[0].columns.enumerated() {
            let value = batches[0].value(row: 0, column: index, store: store0)
            switch column.name {
            case "title": #expect(value == .string("é ist é"))
            case "category": #expect(value == .object(result.inserted[1]))
            case "tags": #expect(value == .objects([]))
            default: #expect(value == values[column.name] ?? .null, "\(column.name)")
            }
        }
        #expect(
            batches[1].value(row: 0, column: 1, store: store0) == .objects([result.inserted[0]]))
    }

    @Test("A fetch with a predicate, a sort and a page returns the objects of that page")
    func fetch() throws {
        let fixture = try QueryFixture(StoreInPostgres.new(Self.schema()))
        try fixture.insert(
            (0..<50).map {
                QueryFixture.Object(
                    entityName: "Article", name: "a\($0)",
                    values: ["title": .string("t\($0 % 7)"), "words": .integer(Int64($0))])
            })
        let query = Query.fetch(
            Fetch(
                "Article", where: .format("words >= 10 AND title != %@"),
                sort: [SortKey("title"), SortKey("words")], selection: .identifiers))
        var parameters = QueryParameters(arguments: ["t3"])
        parameters.limit = 3
        parameters.offset = 1
        #expect(fixture.rows(try fixture.batches(query, parameters)) == ["a21", "a28", "a35"])
    }

    @Test("A result is read in batches of the requested size, each with some rows, from a cursor")
    func batches() throws {
        let fixture = try QueryFixture(StoreInPostgres.new(Self.schema()))
        try fixture.insert(
            (0..<3_000).map {
                QueryFixture.Object(
                    entityName: "Article", name: "a\($0)",
                    values: ["title": .string(String(repeating: "x", count: 100))])
            })
        let query = Query.fetch(Fetch("Article"))
        let batches = try fixture.batches(query, bytesMax: 20_000)
        #expect(batches.map(\.rowCount).reduce(0, +) == 3_000)
        #expect(batches.count > 10)
        #expect(batches.allSatisfy { $0.rowCount > 0 && $0.byteCount < 60_000 })
    }

    @Test("A transaction that another reader has pinned sees no later objects, and survives errors")
    func pinned() throws {
        let store = try StoreInPostgres.new(Self.schema())
        let fixture = try QueryFixture(store)
        let article = QueryFixture.Object(
            entityName: "Article", name: "a", values: ["title": .string("a"), "words": .integer(1)])
        try fixture.insert([article])
        #expect(try fixture.reader.pinSnapshot() == 1)
        var second = article
        second = QueryFixture.Object(
            entityName: "Article", name: "b", values: ["title": .string("b")])
        try fixture.insert([second])
        let count = Query.count(entityName: "Article", predicate: nil)
        #expect(fixture.rows(try fixture.batches(count)) == ["1"])
        let overflow = Query.aggregate(
            Aggregate(
                "Article", [Aggregate.Column(.sum, "words * 9223372036854775807 * 1.0e308 * 10")]))
        _ = try? fixture.batches(overflow)
        #expect(fixture.rows(try fixture.batches(count)) == ["1"])
        fixture.reader.unpinSnapshot()
        #expect(fixture.rows(try fixture.batches(count)) == ["2"])
    }

    @Test("A read that was cancelled, or whose deadline passed, ends with that error")
    func stopped() throws {
        let fixture = try QueryFixture(StoreInPostgres.new(Self.schema()))
        try fixture.insert([
            QueryFixture.Object(
                entityName: "Article", name: "a", values: ["title": .string("a")])
        ])
        let query = Query.fetch(Fetch("Article"))
        let cancellation = ReadCancellation()
        cancellation.cancel()
        let cancelled = #expect(throws: LarderError.self) {
            try fixture.batches(query, budget: ReadBudget(cancellation: cancellation))
        }
        #expect(cancelled?.code == .cancelled)
        let late = #expect(throws: LarderError.self) {
            try fixture.batches(query, budget: ReadBudget(deadline: .now))
        }
        #expect(late?.code == .timeout)
        #expect(fixture.rows(try fixture.batches(query)).count == 1)
    }

    @Test("A set that breaks a rule changes nothing, and the other sets of its group remain")
    func violations() throws {
        let store = try StoreInPostgres.new(Self.schema())
        let writer = try store.makeWriter()
        func article(_ values: [String: Value]) -> ChangeSet {
            ChangeSet([
                .insert(
                    Self.temporary("a", "Article"),
                    values: values.merging(["title": .string("t")]) { $1 })
            ])
        }
        let missing = PersistentIdentifier(
            store: store.storeDescription.identifier, entityName: "Tag", key: 99)
        let outcomes = writer.save([
            article(["code": .string("x")]), article(["code": .string("x")]),
            article(["words": .int(-1)]), article(["tags": .objects([missing])]),
            article(["code": .string("y")]),
        ])
        let codes = outcomes.map { outcome -> ErrorCode? in
            if case .failure(let error) = outcome { error.code } else { nil }
        }
        #expect(
            codes == [nil, .uniquenessViolated, .validationFailed, .objectNotFound, nil])
        #expect(outcomes.compactMap { try? $0.get().transaction } == [1, 2])
        let fixture = try store.makeReader()
        let plan = try store.plan(.count(entityName: "Article", predicate: nil), QueryParameters())
        let cursor = try fixture.open(plan, QueryParameters(), budget: ReadBudget())
        defer { cursor.close() }
        let (batch, _) = try cursor.next(bytesMax: 1_000, budget: ReadBudget())
        #expect(batch.columns[0].storage == .integers([2]))
    }

    @Test("A store whose tables were changed by other means is refused, with what was changed")
    func changedTables() throws {
        let changes = [
            "ALTER TABLE NAME.\"Article\" ALTER COLUMN title TYPE varchar(9)",
            "ALTER TABLE NAME.\"Article\" ADD COLUMN more integer DEFAULT 7",
            "ALTER TABLE NAME.\"Article\" DROP COLUMN score",
            "ALTER TABLE NAME.\"Article\" ALTER COLUMN title DROP NOT NULL",
            "DROP INDEX NAME.\"_index.Article.0\"",
            "CREATE INDEX ON NAME.\"Tag\" (name)",
            "ALTER TABLE NAME.\"Article\" DROP CONSTRAINT \"_key.Article.category\"",
            "ALTER TABLE NAME.\"Article\" DROP CONSTRAINT \"_bounds.Article.words\"",
            "ALTER TABLE NAME.\"Tag\" ADD CHECK (name <> 'x')",
            "CREATE VIEW NAME.v AS SELECT 1", "CREATE TABLE NAME.t (a integer)",
            "CREATE RULE r AS ON INSERT TO NAME.\"Tag\" DO INSTEAD NOTHING",
            "ALTER TABLE NAME.\"Tag\" ENABLE ROW LEVEL SECURITY",
            "CREATE TYPE NAME.e AS ENUM ('a')",
            "CREATE OR REPLACE FUNCTION NAME.larder_integer(numeric) RETURNS bigint "
                + "LANGUAGE sql IMMUTABLE STRICT AS 'SELECT 1'",
            "CREATE FUNCTION NAME.f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
            "DROP SEQUENCE NAME.\"Tag._id\"",
        ]
        for change in changes {
            let name = StoreInPostgres.newSchemaName()
            _ = try StoreInPostgres.open(Self.schema(), named: name)
            _ = try StoreInPostgres.open(nil, named: name)
            try StoreInPostgres.change(change.replacing("NAME", with: name))
            let error = #expect(throws: LarderError.self, "\(change)") {
                try StoreInPostgres.open(nil, named: name)
            }
            #expect(error?.code == .storageFailed, "\(change): \(String(describing: error))")
        }
    }

    @Test("A schema of the database with something else, and none without a schema, is no store")
    func notAStore() throws {
        let name = StoreInPostgres.newSchemaName()
        try StoreInPostgres.change("CREATE SCHEMA \(name) CREATE TABLE other (a integer)")
        let error = #expect(throws: LarderError.self) {
            try StoreInPostgres.open(Self.schema(), named: name)
        }
        #expect(error?.code == .notAStore)
        #expect(error?.message.contains("other") == true)
        let missing = #expect(throws: LarderError.self) {
            try StoreInPostgres.open(nil, named: StoreInPostgres.newSchemaName())
        }
        #expect(missing?.code == .notAStore)
    }

    @Test("A store with another schema is refused with every difference")
    func otherSchema() throws {
        let name = StoreInPostgres.newSchemaName()
        _ = try StoreInPostgres.open(Self.schema(), named: name)
        let other = try SchemaFile.schema(
            parsing: Self.schemaText.replacing("\"name\": \"score\"", with: "\"name\": \"rank\""))
        let error = #expect(throws: LarderError.self) {
            try StoreInPostgres.open(other, named: name)
        }
        #expect(error?.code == .schemaMismatch, "\(String(describing: error))")
        #expect(error?.problems.isEmpty == false)
    }

    @Test("Names that are longer than PostgreSQL's, and names of its own tables, are used")
    func names() throws {
        let long = String(repeating: "LongName", count: 12)
        let schema = try SchemaFile.schema(
            parsing: """
                { "version": "1.0.0", "entities": [
                  { "name": "pg_class", "attributes": [
                    { "name": "\(long)A", "type": "string", "indexed": true },
                    { "name": "\(long)B", "type": "string" }, { "name": "user", "type": "int16" } ],
                    "relationships": [
                      { "name": "\(long)", "destination": "\(long)", "toMany": true } ] },
                  { "name": "\(long)", "attributes": [ { "name": "select", "type": "bool" } ] } ] }
                """)
        let name = StoreInPostgres.newSchemaName()
        let fixture = try QueryFixture(StoreInPostgres.open(schema, named: name))
        try fixture.insert([
            QueryFixture.Object(
                entityName: "pg_class", name: "a",
                values: [
                    "\(long)A": .string("one"), "\(long)B": .string("two"), "user": .integer(3),
                    long: .array([.string("@b")]),
                ]),
            QueryFixture.Object(entityName: long, name: "b", values: ["select": .bool(true)]),
        ])
        let query = Query.fetch(
            Fetch("pg_class", where: .format("ANY \(long).select == true AND user == 3")))
        #expect(fixture.rows(try fixture.batches(query)) == ["a | \"one\" | \"two\" | 3"])
        _ = try StoreInPostgres.open(schema, named: name)
    }

    @Test("Each part that a store in PostgreSQL does not have yet is an error that names it")
    func missing() throws {
        let store = try StoreInPostgres.new(Self.schema())
        let writer = try store.makeWriter()
        let reader = try store.makeReader()
        guard case .failure(let error) = writer.deleteHistory(upTo: 1, rowsMax: 1) else {
            Issue.record("a part of the history was deleted")
            return
        }
        #expect(error.code == .unsupported)
        #expect(error.message.contains("deletions from the history"))
        let selection = try HistorySelection(
            HistoryFilter(), in: store.storeDescription.schema)
        let request = HistoryPageRequest(selection, bytesMax: 1_000)
        #expect(throws: ReadFailure.self) {
            try reader.history(request, budget: ReadBudget())
        }
        let derived = try SchemaFile.schema(
            parsing: """
                { "version": "1.0.0", "entities": [ { "name": "A", "attributes": [
                  { "name": "b", "type": "string" },
                  { "name": "c", "type": "string", "derived": "uppercase:(b)" } ] } ] }
                """)
        let refused = #expect(throws: LarderError.self) { try StoreInPostgres.new(derived) }
        #expect(refused?.code == .unsupported)
        #expect(refused?.message.contains("A.c") == true)
    }
}
#endif
