import FoundationEssentials
import LarderClient
import Testing

@Suite("The memory of a daemon")
struct MemoryTests {
    /// A text that takes SQLite more memory than the limit of the daemon.
    private static let long = #"length(padEnd(name, 15000000, "y"))"#

    private func metric(_ name: String, _ client: StoreClient) throws -> Int64? {
        let found = try client.statistics().first { $0.name == name }
        guard case .int(let number) = found?.value else { return nil }
        return number
    }

    @Test("a query that needs more than SQLite may have fails alone, and saves still succeed")
    func databaseMemory() throws {
        let daemon = try TestDaemon(starts: false)
        try daemon.start(["--max-database-memory", "12"])
        let client = try daemon.connect()
        let ann = try client.insert("Student", ["name": "Ann", "birthOfYear": 2_001])
        for _ in 0..<3 {
            let refused = failure { _ = try client.fetch("Student", where: "\(Self.long) > 5") }
            #expect(refused?.code == .resourceExhausted)
            #expect(try client.fetch("Student", where: "name == \"Ann\"").count == 1)
            #expect(try client.update(ann, ["birthOfYear": 2_002]) > 1)
        }
        #expect(try metric("databaseMemoryBytesMax", client) == 12 << 20)
        let used = try #require(try metric("databaseMemoryBytes", client))
        #expect(used > 0 && used < 12 << 20)
        // The writer has a reserve, so that reads do not make it fail.
        let changed = try client.updateAll(
            "Student", expressions: ["visits": Self.long], where: "name == \"Ann\"")
        #expect(changed.count == 1)
        #expect(try client.object(for: ann)?.values["visits"] == 15_000_000)
        #expect(daemon.stop() == 0)
        try daemon.start()
        #expect(try daemon.connect().object(for: ann)?.values["visits"] == 15_000_000)
    }

    /// The memory that a process has had at most, in MiB.
    private func peakMebibytes(of daemon: TestDaemon) throws -> Int {
        let process = try #require(daemon.processIdentifier)
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        return try #require(Int(line.split(whereSeparator: { !$0.isNumber })[0])) >> 10
    }

    @Test("queries of a thousand searches, each another one, take no memory that is not bounded")
    func longQueries() throws {
        let daemon = try TestDaemon()
        let client = try daemon.connect()
        _ = try client.insert("Article", ["title": "one two three"])
        #expect(try client.fetch("Article", where: "SEARCH(title, 'one')").count == 1)
        let before = try peakMebibytes(of: daemon)
        for number in 0..<8 {
            let words = (0..<1_000).map { "SEARCH(title, 'w\(number)x\($0)')" }
            #expect(try client.fetch("Article", where: words.joined(separator: " OR ")).isEmpty)
        }
        #expect(try peakMebibytes(of: daemon) - before < 128)
        #expect(try metric("planCacheBytes", client) ?? .max < 16 << 20)
        #expect(try metric("statementBytes", client) ?? .max < 16 << 20)
    }

    @Test("stats has the memory by holder and by user")
    func holders() throws {
        let daemon = try TestDaemon()
        let client = try daemon.connect()
        _ = try client.fetch("Student", where: "name == \"Ann\"")
        for name in [
            "requestMemoryBytes", "poolReadMemoryBytes", "liveQueryMemoryBytes", "planCacheBytes",
            "replyCacheBytes", "statementBytes", "databaseMemoryBytes",
        ] {
            #expect(try metric(name, client) != nil, "\(name)")
        }
        #expect(try metric("planCacheBytes", client) ?? 0 > 0)
        #expect(try metric("statementBytes", client) ?? 0 > 0)
    }
}
