import FoundationEssentials
import LarderClient
import Testing

@Suite("The activity of a server")
struct ActivityTests {
    @Test("the activity of a server lists its clients and their feeds")
    func activity() throws {
        let daemon = try TestDaemon()
        let client = try daemon.connect()
        let other = try daemon.connect()
        let feed = other.changes()
        _ = try feed.nextEvent()
        for _ in 0..<3 {
            _ = try client.insert("Student", ["name": "Ann", "birthOfYear": 2_001])
        }
        let before = try client.activity()
        // The readiness check may have had a connection before these.
        let connections = before.connections.suffix(2)
        #expect(connections.map(\.source.clientName) == ["end-to-end", "end-to-end"])
        #expect(
            connections.map(\.source.processIdentifier)
                == Array(repeating: ProcessInfo.processInfo.processIdentifier, count: 2))
        #expect(connections.map(\.followerCount) == [0, 1])
        #expect(connections.map(\.requestsInFlight) == [1, 0])
        #expect(connections.map(\.requestCount) == [4, 1])
        #expect(before.load.saveCount == 3)
        #expect(before.load.logByteCount > 0)
        #expect(before.slowReads.isEmpty)
        feed.cancel()
        other.close()
        var after = try client.activity()
        while after.connections.count == before.connections.count {
            after = try client.activity()
        }
        #expect(after.load.requestCount > before.load.requestCount)
        #expect(after.load.time > before.load.time)
        #expect(after.connections.last?.followerCount == 0)
    }

    @Test("the asynchronous call returns the activity of a server")
    func asynchronous() async throws {
        let daemon = try TestDaemon()
        let client = try daemon.connect()
        let activity = try await client.activity()
        #expect(activity.connections.last?.source.clientName == "end-to-end")
        #expect(activity.load.requestCount > 0)
    }
}
