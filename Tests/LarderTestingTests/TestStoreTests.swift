import FoundationEssentials
import LarderTesting
import TestSupport
import Testing

@Suite("A store for tests")
struct TestStoreTests {
    private static let schemaFile = """
        { "version": "1.0.0", "entities": [ { "name": "Student", "attributes": [
            { "name": "name", "type": "string" },
            { "name": "enrolled", "type": "date", "optional": true } ] } ] }
        """

    @Test("a test store in memory is created in one line and serves several clients")
    func memory() throws {
        let store = try TestStore(schemaFile: Self.schemaFile)
        let ann = try store.client.insert("Student", ["name": "Ann"])
        #expect(try store.client.object(for: ann)?.string("name") == "Ann")
        #expect(store.path == nil)
        // Another connection sees the same store.
        #expect(try store.connect().count("Student") == 1)
    }

    @Test(
        "an observed query may have the greatest limit and interval, and others save",
        arguments: [Int64.max, 6_200_000_000_000_000_000])
    func extremeNumbers(number: Int64) throws {
        let store = try TestStore(schemaFile: Self.schemaFile)
        let results = store.client.observe(
            Fetch("Student", sort: [SortKey("name")]), QueryParameters(limit: number),
            every: .seconds(number))
        #expect(try results.next()?.rows.isEmpty == true)
        let others = store.client.observe(
            Fetch("Student", sort: [SortKey("name")]), QueryParameters(limit: number))
        #expect(try others.next()?.rows.isEmpty == true)
        let writer = try store.connect()
        for name in ["b", "a"] { _ = try writer.insert("Student", ["name": .string(name)]) }
        var rows: [Record] = []
        while rows.count < 2, let result = try others.next() { rows = result.rows }
        #expect(try rows.map { try $0.string("name") } == ["a", "b"])
        let missing = QueryExpression.comparison(Comparison(.object, .equal, .argument(.max)))
        #expect(throws: LarderError.self) {
            try writer.fetch(Fetch("Student", where: .tree(missing)))
        }
    }

    struct Student: Codable, Equatable {
        var id: PersistentIdentifier?
        var name: String
        var enrolled: Date?
    }

    @Test("objects are fetched, inserted and updated as values of Codable types")
    func codableTypes() throws {
        let client = try TestStore(schemaFile: Self.schemaFile).client
        let ann = try client.insert("Student", encoding: Student(name: "Ann"))
        _ = try client.insert("Student", encoding: Student(name: "Bob"))
        let found = try client.fetch(Student.self, from: "Student", sort: ["name"], limit: 1)
        #expect(found == [Student(id: ann, name: "Ann")])
        var changed = found[0]
        changed.enrolled = Date(timeIntervalSinceReferenceDate: 0)
        #expect(try client.update(ann, encoding: changed) == 2)
        #expect(
            try client.fetch(Student.self, from: "Student", where: "enrolled != nil") == [changed])
        changed.enrolled = nil
        #expect(try client.update(ann, encoding: changed) == 3)
        #expect(try client.count("Student", where: "enrolled == nil") == 2)
    }

    @Test("asynchronous calls fetch, insert and update values of Codable types")
    func asynchronousCodableTypes() async throws {
        let client = try TestStore(schemaFile: Self.schemaFile).client
        let ann = try await client.insert("Student", encoding: Student(name: "Ann"))
        #expect(try await client.update(ann, encoding: Student(name: "Anna")) == 2)
        #expect(
            try await client.fetch(Student.self, from: "Student") == [
                Student(id: ann, name: "Anna")
            ])
    }

    @Test("several test stores have separate objects and identifiers")
    func separation() throws {
        let stores = try (0..<5).map { _ in try TestStore(schemaFile: Self.schemaFile) }
        for (number, store) in stores.enumerated() {
            for _ in 0..<number { _ = try store.client.insert("Student", ["name": "Ann"]) }
        }
        #expect(try stores.map { try $0.client.count("Student") } == [0, 1, 2, 3, 4])
        #expect(Set(stores.map(\.client.server.storeIdentifier)).count == 5)
    }

    @Test("a test store with a fixed identifier and clock has the same identifiers and times")
    func determinism() throws {
        let clock = TestClock(Date(timeIntervalSinceReferenceDate: 800_000_000))
        var options = TestStore.Options()
        options.identifier = UUID(uuidString: "11111111-2222-3333-4444-555555555555")
        options.clock = clock
        let store = try TestStore(schemaFile: Self.schemaFile, options)
        let ann = try store.client.insert("Student", ["name": "Ann"])
        #expect(
            ann.uriRepresentation == "x-coredata://11111111-2222-3333-4444-555555555555/Student/p1")
        clock.advance(by: 60)
        _ = try store.client.updateAll(
            "Student", expressions: ["enrolled": "now()"], where: nil)
        let enrolled = try store.client.object(for: ann)?.date("enrolled")
        #expect(enrolled == Date(timeIntervalSinceReferenceDate: 800_000_060))
        let times = try store.client.history().transactions.map(\.timestamp)
        #expect(times.map(\.timeIntervalSinceReferenceDate) == [800_000_000, 800_000_060])
        #expect(
            try store.client.count("Student", where: "enrolled == now()") == 1)
    }

    @Test("a test store in a folder can be stopped and started, and is removed at the end")
    func temporaryFolder() throws {
        var options = TestStore.Options()
        options.location = .temporaryFolder
        var store: TestStore? = try TestStore(schemaFile: Self.schemaFile, options)
        let path = try #require(store?.path)
        _ = try store?.client.insert("Student", ["name": "Ann"])
        try store?.stop()
        #expect(throws: LarderError.self) { try store?.connect() }
        try store?.start()
        try store?.start()
        #expect(try store?.connect().count("Student") == 1)
        #expect(FileManager.default.fileExists(atPath: path))
        // A client keeps the store.
        var client = store?.client
        store = nil
        #expect(FileManager.default.fileExists(atPath: path))
        #expect(client != nil)
        client = nil
        #expect(!FileManager.default.fileExists(atPath: path))
        let folder = path.split(separator: "/").dropLast().joined(separator: "/")
        #expect(!FileManager.default.fileExists(atPath: "/\(folder)"))
    }

    @Test("a stopped test store can be started again at once")
    func restarts() throws {
        var options = TestStore.Options()
        options.location = .temporaryFolder
        let store = try TestStore(schemaFile: Self.schemaFile, options)
        for _ in 0..<40 {
            #expect(try store.connect().count("Student") == 0)
            try store.stop()
            try store.start()
        }
    }

    @Test("a schema with errors, and stopping a test store in memory, are typed errors")
    func errors() throws {
        let malformed = #expect(throws: LarderError.self) {
            try TestStore(schemaFile: #"{ "entities": [ { "name": "9" } ] }"#)
        }
        #expect(malformed?.code == .malformedSchema)
        let store = try TestStore(schemaFile: Self.schemaFile)
        let stopped = #expect(throws: LarderError.self) { try store.stop() }
        #expect(stopped?.code == .unsupported)
        #expect(try store.client.count("Student") == 0)
    }

    @Test("many test stores leave no files and no descriptors")
    func leaks() throws {
        func use() throws {
            _ = try TestStore(schemaFile: Self.schemaFile).client.insert(
                "Student", ["name": "Ann"])
        }
        try use()
        let before = try ProcessResources.now()
        for _ in 0..<200 { try use() }
        #expect(try before.leak(after: 200) == nil)
    }
}
