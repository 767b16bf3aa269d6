import LarderClient
import Testing

@Suite("Snapshots of a served store")
struct SnapshotTests {
    private let daemon: TestDaemon
    private let client: StoreClient

    init() throws {
        daemon = try TestDaemon()
        client = try daemon.connect()
        for number in 0..<10 { try insert(number) }
    }

    private func insert(_ number: Int) throws {
        _ = try client.insert(
            "Student", ["name": "Ann", "birthOfYear": .int(Int64(number))])
    }

    @Test("all reads of a snapshot see one state, whatever is saved meanwhile")
    func oneState() throws {
        let first = try #require(try client.fetch("Student", limit: 1).first)
        try client.snapshot { snapshot in
            #expect(snapshot.snapshotPosition == client.server.token(after: 10))
            #expect(try snapshot.count("Student") == 10)
            for number in 0..<50 { try insert(number) }
            _ = try client.update(first.identifier, ["name": "Bob"])
            _ = try client.deleteAll("Student", where: "birthOfYear == 5")
            #expect(try snapshot.count("Student") == 10)
            #expect(try snapshot.object(for: first.identifier) == first)
            #expect(
                try snapshot.fetch("Student").map { $0["name"] }
                    == Array(repeating: "Ann", count: 10))
            let years = try snapshot.aggregate(
                "Student", [.count, .init(.maximum, "birthOfYear")])
            #expect(years.map(\.values) == [[10, 9]])
            #expect(try snapshot.history().transactions.count == 10)
            let stream = try snapshot.stream(.fetch(Fetch("Student")))
            var rowCount = 0
            while let batch = try stream.next() { rowCount += batch.rowCount }
            #expect(rowCount == 10)
        }
        #expect(client.snapshotPosition == nil)
        #expect(try client.count("Student") == 58)
        #expect(try client.object(for: first.identifier)?["name"] == "Bob")
    }

    @Test("several snapshots of one client see their own states")
    func several() throws {
        try client.snapshot { first in
            try insert(10)
            try client.snapshot { second in
                try insert(11)
                #expect(try first.count("Student") == 10)
                #expect(try second.count("Student") == 11)
                #expect(try client.count("Student") == 12)
            }
            #expect(try first.count("Student") == 10)
        }
    }

    @Test("a client's snapshot refuses changes")
    func readOnly() throws {
        try client.snapshot { snapshot in
            func code(_ body: () throws -> Void) -> ErrorCode? {
                do { try body() } catch { return (error as? LarderError)?.code }
                return nil
            }
            #expect(
                code { _ = try snapshot.insert("Student", ["name": "A", "birthOfYear": 1]) }
                    == .readOnly)
            #expect(code { _ = try snapshot.openInsertion(Insertion("Student")) } == .readOnly)
            #expect(code { try snapshot.deleteHistory(.keeping(1)) } == .readOnly)
            #expect(code { _ = try snapshot.changes().next() } == .unsupported)
            #expect(code { _ = try snapshot.observe(Fetch("Student")).next() } == .unsupported)
        }
        #expect(try client.history().transactions.count == 10)
    }

    @Test("reads in a snapshot fail after its end, and other reads do not")
    func ended() throws {
        var ended: StoreClient?
        try client.snapshot { ended = $0 }
        #expect(throws: LarderError.self) { try ended?.count("Student") }
        #expect(try client.count("Student") == 10)
    }

    @Test("the server ends a client's snapshot whose time is over")
    func expiry() throws {
        #expect(daemon.stop() == 0)
        try daemon.start(["--query-timeout", "1"])
        try client.snapshot { snapshot throws in
            #expect(try snapshot.count("Student") == 10)
            // Each read takes a moment; together they take longer than the snapshot may.
            var code: ErrorCode?
            while code == nil {
                do throws(LarderError) {
                    _ = try snapshot.count("Student")
                } catch {
                    code = error.code
                }
            }
            #expect(code == .snapshotExpired)
        }
        #expect(try client.count("Student") == 10)
    }

    @Test("tasks read in a snapshot, and a stop of the server ends the snapshot")
    func asynchronous() async throws {
        let count = try await client.snapshot { snapshot in
            try await snapshot.count("Student")
        }
        #expect(count == 10)
        await #expect(throws: LarderError.self) {
            try await client.snapshot { snapshot in
                #expect(try await snapshot.count("Student") == 10)
                #expect(daemon.stop() == 0)
                try daemon.start()
                _ = try await snapshot.count("Student")
            }
        }
        #expect(try await client.count("Student") == 10)
    }
}
