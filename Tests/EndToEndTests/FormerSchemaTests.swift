import FoundationEssentials
import Glibc
import LarderClient
import Testing

@Suite("Clients of two versions on one server, after a migration that only adds to the schema")
struct FormerSchemaTests {
    private static let one = """
        {"version": "1.0.0", "entities": [{"name": "Book", "attributes": [
          {"name": "title", "type": "string", "preserveValueOnDeletion": true},
          {"name": "pages", "type": "int64", "optional": true}]}]}
        """
    private static let two = """
        {"version": "2.0.0", "entities": [
          {"name": "Book", "attributes": [
            {"name": "title", "type": "string", "preserveValueOnDeletion": true},
            {"name": "pages", "type": "int64", "optional": true},
            {"name": "price", "type": "decimal", "default": "9.99",
             "preserveValueOnDeletion": true}],
           "relationships": [
            {"name": "loans", "destination": "Loan", "toMany": true, "inverse": "book",
             "deleteRule": "deny"}]},
          {"name": "Loan", "attributes": [{"name": "reader", "type": "string"}],
           "relationships": [{"name": "book", "destination": "Book", "inverse": "loans"}]}]}
        """
    private static let price = Value.decimal(Decimal(string: "9.99")!)

    private let daemon: TestDaemon
    /// Expects version 1, and was connected before the migration.
    private let former: StoreClient
    /// Expects nothing, and requested the migration.
    private let current: StoreClient
    private let book: PersistentIdentifier

    init() throws {
        daemon = try TestDaemon(schema: Self.one)
        former = try Self.connect(daemon, "1.0.0")
        current = try daemon.connect()
        book = try former.insert("Book", ["title": "Sea", "pages": 120])
    }

    private static func connect(
        _ daemon: TestDaemon, _ version: String, fingerprint: String = ""
    ) throws -> StoreClient {
        var options = StoreClient.Options()
        options.schemaVersion = version
        options.schemaFingerprint = fingerprint
        options.requestTimeout = .seconds(900)
        options.reconnectWait = .seconds(900)
        return try StoreClient.connect(to: daemon.socket, options: options)
    }

    private func migrate(to text: String = FormerSchemaTests.two) throws {
        let summary = try current.migrate(to: try SchemaFile.schema(parsing: text))
        #expect(!summary.changes.isEmpty)
    }

    private func error(_ body: () throws -> Void) -> LarderError? {
        #expect(throws: LarderError.self) { try body() }
    }

    @Test("clients of two schema versions read and write the same objects after a migration")
    func objects() throws {
        try migrate()
        // The connection was lost; the client has its schema over the new one, too.
        let read = try #require(try former.object(for: book))
        #expect(Set(read.values.keys) == ["title", "pages"])
        #expect(former.server.schemaVersion == "1.0.0")
        #expect(try former.schema() == SchemaFile.schema(parsing: Self.one))
        #expect(try current.schema() == SchemaFile.schema(parsing: Self.two))
        #expect(current.server.schemaVersion == "2.0.0")

        let sky = try former.insert("Book", ["title": "Sky"])
        #expect(try current.object(for: sky)?["price"] == Self.price)
        _ = try current.update(sky, ["price": 5, "pages": 7])
        #expect(try former.update(sky, ["title": "Skies"], ifVersion: 2) == 3)
        let updated = try #require(try current.object(for: sky))
        #expect(updated["price"] == .decimal(Decimal(5)) && updated["title"] == "Skies")
        #expect(
            try former.updateAll("Book", expressions: ["pages": "pages + 1"], where: "pages == 7")
                .count == 1)

        let fetched = try former.fetch("Book", where: "pages > 1", sort: [SortKey("pages")])
        #expect(fetched.map { $0["title"] } == ["Skies", "Sea"])
        #expect(fetched.allSatisfy { Set($0.values.keys) == ["title", "pages"] })
        let sums = try former.aggregate("Book", [Aggregate.Column(.sum, "pages")])
        #expect(sums.map(\.values) == [[128]])
        #expect(
            error { _ = try former.count("Book", where: "price > 1") }?.code == .unknownProperty)
        #expect(error { _ = try former.count("Loan") }?.code == .unknownEntity)
        #expect(error { _ = try former.update(book, ["price": 1]) }?.code == .unknownProperty)
        #expect(
            error {
                _ = try former.explain(.fetch(Fetch("Book", where: .format("price > 1"))))
            }?.code == .unknownProperty)

        _ = try current.insert("Loan", ["reader": "Ann", "book": .object(sky)])
        let denied = try #require(error { try former.delete(sky) })
        #expect(denied.code == .deleteDenied)
        #expect(denied.message.contains("after version 1.0.0"))
        #expect(!"\(denied)".contains("oan"))
        try former.delete(book)
        #expect(try current.count("Book") == 1)
        #expect(try current.check().findings.isEmpty)
    }

    @Test("a client of a former schema has the rights of its user, after a restart with a policy")
    func rights() throws {
        try migrate()
        _ = try current.insert("Book", ["title": "Sky", "pages": 7])
        #expect(daemon.stop() == 0)
        let policy = "\(daemon.folder)/policy"
        let text = """
            {"roles": [{"name": "reader", "users": ["\(getuid())"], "entities": {
              "Book": {"read": "pages > 100", "insert": true, "history": true}}}]}
            """
        try text.write(toFile: policy, atomically: true, encoding: .utf8)
        try daemon.start(["--policy", policy])
        #expect(try former.fetch("Book").map { $0["title"] } == ["Sea"])
        #expect(former.server.schemaVersion == "1.0.0")
        #expect(try former.schema().entities.map(\.name) == ["Book"])
        #expect(error { _ = try former.count("Loan") }?.code == .unknownEntity)
        let denied = error { _ = try former.update(book, ["title": "x"]) }
        #expect(denied?.code == .permissionDenied)
        // A second connection has the view of the first.
        let other = try Self.connect(daemon, "1.0.0")
        #expect(try other.count("Book") == 1)
        #expect(try former.history().transactions.flatMap(\.runs).count == 1)
    }

    @Test("a client of a former schema inserts rows as a stream, and reads a snapshot and batches")
    func streams() throws {
        try migrate()
        let rows = (0..<500).map { [Value.string("\($0)")] }
        let inserted = try former.insertAll(
            Insertion("Book", isAtomic: true), properties: ["title"], rows: rows)
        #expect(inserted.rowCount == 500)
        #expect(try current.count("Book", where: "price == 9.99") == 501)
        let unknown = error { _ = try former.openInsertion(Insertion("Loan")).finish() }
        #expect(unknown?.code == .unknownEntity)
        let price = Column(name: "price", kind: .attribute(.int64), storage: .integers([1]))
        let stream = try former.openInsertion(Insertion("Book"))
        let column = error {
            try stream.send(Batch(rowCount: 1, columns: [price]))
            _ = try stream.finish()
        }
        #expect(column?.code == .unknownProperty)
        try former.snapshot { snapshot in
            _ = try current.insert("Book", ["title": "later"])
            #expect(try snapshot.count("Book") == 501)
            #expect(try snapshot.object(for: book)?.values.count == 2)
        }
        let batches = try former.stream(.fetch(Fetch("Book")))
        var names: Set<String> = []
        while let batch = try batches.next() { names.formUnion(batch.columns.map(\.name)) }
        #expect(names == ["title", "pages"])
    }

    @Test("a client of a former schema follows the history and a query through the migration")
    func feeds() throws {
        let feed = former.changes(after: former.server.token(after: 0))
        let live = former.observe(Fetch("Book", sort: [SortKey("title")]))
        #expect(try live.next(timeout: .seconds(600))?.rows.count == 1)
        var lines: [String] = []
        func follow(to number: Int64) throws {
            while let event = try feed.nextEvent(timeout: .seconds(600)) {
                guard case .transaction(let transaction) = event else { continue }
                for run in transaction.runs {
                    lines.append(
                        (["\(transaction.id) \(run.kind) \(run.entityName)"] + run.properties)
                            .joined(separator: " "))
                }
                if transaction.id >= number { return }
            }
        }
        try follow(to: 1)
        try migrate()
        let sky = try current.insert("Book", ["title": "Sky", "price": 5])
        let loan = try current.insert("Loan", ["reader": "Ann"])
        _ = try current.update(sky, ["price": 6])
        _ = try current.update(sky, ["price": 7, "pages": 3])
        try current.delete(loan)
        try current.delete(sky)
        let last = try former.insert("Book", ["title": "Last"])
        try follow(to: 8)
        #expect(
            lines == [
                "1 inserted Book", "2 inserted Book", "4 updated Book", "5 updated Book pages",
                "7 deleted Book", "8 inserted Book",
            ])
        let history = try former.history()
        #expect(history.transactions.map(\.id) == [1, 2, 4, 5, 7, 8])
        #expect(history.position.number == 8)
        #expect(history.transactions.flatMap(\.tombstones).map(\.values) == [["title": "Sky"]])
        // A token of one client is a position of the other.
        let rest = try former.history(HistoryFetch(after: current.server.token(after: 6)))
        #expect(rest.transactions.map(\.id) == [7, 8])

        var result: LiveResult?
        repeat {
            result = try live.next(timeout: .seconds(600))
        } while result.map { $0.position.number < 8 } ?? false
        #expect(result?.rows.map(\.identifier) == [last, book])
        #expect(result?.rows.allSatisfy { Set($0.values.keys) == ["title", "pages"] } == true)
        feed.cancel()
        live.cancel()
    }

    @Test("a client finds its former schema by its fingerprint, also after a restart")
    func fingerprints() throws {
        let one = try SchemaFile.schema(parsing: Self.one)
        let two = try SchemaFile.schema(parsing: Self.two)
        try migrate()
        try migrate(
            to: Self.two.replacing("2.0.0", with: "3.0.0").replacing(
                "{\"name\": \"reader\"",
                with: "{\"name\": \"due\", \"type\": \"date\", \"optional\": true}, "
                    + "{\"name\": \"reader\""))
        for round in 0..<2 {
            for (schema, count) in [(one, 1), (two, 2)] {
                let client = try Self.connect(daemon, "", fingerprint: schema.fingerprint)
                #expect(try client.schema() == schema)
                #expect(client.server.schemaFingerprint == schema.fingerprint)
                #expect(try client.schema().entities.count == count)
            }
            #expect(try former.fetch("Book").map(\.values.count) == [2])
            let error = error { _ = try Self.connect(daemon, "1.5.0") }
            #expect(error?.code == .schemaMismatch)
            #expect(error?.message.contains("1.5.0") == true)
            #expect(error?.message.contains("3.0.0") == true)
            guard round == 0 else { break }
            let schema = try current.schema()
            #expect(daemon.stop() == 0)
            // The server needs the new schema file, or none.
            try schema.canonicalText.write(
                toFile: "\(daemon.folder)/schema.json", atomically: true, encoding: .utf8)
            try daemon.start()
        }
    }

    @Test("a client of a former schema is refused after a migration that removes something")
    func refused() throws {
        try migrate()
        #expect(try former.count("Book") == 1)
        try migrate(
            to: Self.two.replacing("2.0.0", with: "3.0.0").replacing(
                "{\"name\": \"pages\", \"type\": \"int64\", \"optional\": true},", with: ""))
        let error = error { _ = try former.count("Book") }
        #expect(error?.code == .schemaMismatch)
        #expect(error?.message.contains("1.0.0") == true)
        #expect(error?.message.contains("3.0.0") == true)
        // A client without an expected schema has the current one, and says so.
        #expect(try current.count("Book") == 1)
        #expect(current.server.schemaVersion == "3.0.0")
    }
}
