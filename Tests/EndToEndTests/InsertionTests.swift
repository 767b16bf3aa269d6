import FoundationEssentials
import LarderClient
import Testing

@Suite("Bulk insertion")
struct InsertionTests {
    private static let names = ["name", "birthOfYear"]

    private static func row(_ number: Int) -> [Value] {
        [.string("Student \(number)"), .int(1_950 + Int64(number % 60))]
    }

    @Test("an insert and an update of one value that is longer than a frame are saved")
    func longValues() async throws {
        let daemon = try TestDaemon(starts: false)
        try daemon.start(["--max-object", "32"])
        let client = try daemon.connect()
        #expect(client.server.objectBytesMax == 32 << 20)
        try Self.saveLongValues(client)
        let bob = try await client.insert(
            "Student", ["name": Self.longName("c"), "birthOfYear": 2])
        _ = try await client.update(bob, ["name": Self.longName("d")])
        let isSaved = try await client.object(for: bob)?["name"] == Self.longName("d")
        #expect(isSaved)
    }

    private static func longName(_ character: Character) -> Value {
        .string(String(repeatingByteOf: character, count: 17 << 20))
    }

    private static func saveLongValues(_ client: StoreClient) throws {
        let ann = try client.insert("Student", ["name": longName("a"), "birthOfYear": 1])
        let isInserted = try client.object(for: ann)?["name"] == longName("a")
        #expect(isInserted)
        let values = ["name": longName("b")]
        let version = try client.update(ann, values, idempotencyKey: "once")
        #expect(try client.update(ann, values, idempotencyKey: "once") == version)
        let isUpdated = try client.object(for: ann)?["name"] == longName("b")
        #expect(isUpdated)
        // A condition is checked with the whole set.
        #expect {
            _ = try client.update(ann, values, ifVersion: version)
        } throws: { ($0 as? LarderError)?.code == .frameTooLong }
    }

    @Test("a bulk insertion stores rows in one or several transactions, and can return identifiers")
    func storing() async throws {
        let daemon = try TestDaemon()
        let client = try daemon.connect()
        let rows = (1...12_000).lazy.map { Self.row($0) }
        let several = try Self.insert(
            client, Insertion("Student", wantsIdentifiers: true), rows)
        #expect(several.rowCount == 12_000 && several.keys == [KeyRange(first: 1, count: 12_000)])
        let one = try await client.insertAll(
            Insertion("Student", isAtomic: true, wantsIdentifiers: true),
            properties: Self.names, rows: Array(rows))
        #expect(one.keys == [KeyRange(first: 12_001, count: 12_000)])
        #expect((one.transaction ?? 0) - (several.transaction ?? 0) == 1)
        let (stream, writer) = AsyncStream.makeStream(of: [Value].self)
        for number in 1...100 { writer.yield(Self.row(number)) }
        writer.finish()
        let later = try await client.insertAll(
            Insertion("Student"), properties: Self.names, rows: stream)
        #expect(later.rowCount == 100 && later.keys.isEmpty)
        #expect(try await client.count("Student") == 24_100)
        let store = client.server.storeIdentifier
        let last = Array(one.identifiers(of: "Student", store: store)).last
        let found = try await client.object(for: try #require(last))
        #expect(found?["name"] == "Student 12000" && found?["visits"] == 0)
        #expect(try await client.check().findings.isEmpty)
    }

    private static func insert(
        _ client: StoreClient, _ insertion: Insertion, _ rows: some Sequence<[Value]>
    ) throws -> InsertedRows {
        try client.insertAll(insertion, properties: names, rows: rows)
    }

    @Test("the error for a refused row of a bulk insertion has the number of stored rows")
    func refusal() throws {
        let daemon = try TestDaemon()
        let client = try daemon.connect()
        let rows = (0..<12_000).lazy.map { number -> [Value] in
            [.string("a"), .int(1), .int(number == 7_000 ? -1 : 1)]
        }
        let several = failure {
            _ = try client.insertAll(
                Insertion("Student"), properties: Self.names + ["visits"], rows: rows)
        }
        #expect(several?.code == .validationFailed)
        #expect(several?.details.map(\.change) == [7_000])
        #expect(several?.hint == "the first 5000 rows are stored")
        let one = failure {
            _ = try client.insertAll(
                Insertion("Student", isAtomic: true), properties: Self.names + ["visits"],
                rows: rows)
        }
        #expect(one?.details.map(\.change) == [7_000])
        #expect(try client.count("Student") == 5_000)
        let foreign = failure {
            _ = try client.insertAll(
                Insertion("Article"), properties: ["title", "category"],
                rows: [
                    [
                        "a",
                        .object(
                            PersistentIdentifier(store: UUID(), entityName: "Category", key: 1)),
                    ]
                ])
        }
        #expect(foreign?.code == .foreignIdentifier)
    }

    @Test("only whole transactions of a bulk insertion remain if the daemon is killed")
    func killed() throws {
        let daemon = try TestDaemon()
        let client = try daemon.connect()
        let one = try client.openInsertion(Insertion("Student", isAtomic: true))
        let several = try client.openInsertion(Insertion("Category"))
        func batch(_ name: String, _ values: [String]) -> Batch {
            let texts = values.map { Array($0.utf8) }
            var end: UInt32 = 0
            let ends = texts.map { text -> UInt32 in
                end += UInt32(text.count)
                return end
            }
            let storage = Column.Storage.bytes(heap: Array(texts.joined()), ends: ends)
            return Batch(
                rowCount: values.count,
                columns: [Column(name: name, kind: .attribute(.string), storage: storage)])
        }
        for part in 0..<20 {
            try one.send(batch("name", (0..<1_000).map { "\($0)" }))
            try several.send(batch("name", (0..<100).map { "\(part) \($0)" }))
        }
        daemon.kill()
        _ = failure { try several.settle() }
        let known = several.progress.rowCount
        #expect(failure { _ = try one.finish() } != nil)
        client.close()
        try daemon.start()
        let again = try daemon.connect()
        #expect(try again.count("Student") == 0)
        let count = try again.count("Category")
        #expect(count >= known && count <= 2_000 && count % 100 == 0)
        let files = try FileManager.default.contentsOfDirectory(atPath: daemon.folder)
        #expect(!files.contains { $0.contains("spool") })
    }
}
