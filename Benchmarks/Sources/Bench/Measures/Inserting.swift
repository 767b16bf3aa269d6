import FoundationEssentials
import LarderClient
import LarderModel

/// Single inserts, each on disk before its reply: by one client, and by 16 clients at once.
struct Inserting: Measure {
    let name = "insert"
    private let clients = 16

    func measure(_ run: Run) throws {
        let server = try Server(run)
        let connections = try (0..<clients).map { _ in try server.connect() }
        let postgres = try Postgres.peer(run, 1)
        let count = run.size(300, quick: 50)
        try Processors.withSeparateProcessors(run, servers: [server.program], clients: [postgres]) {
            try run.compare(
                "durable insert, one client, median", unit: "µs",
                ours: { try latency(connections[0], count) },
                [
                    Rival("PostgreSQL", .atMost(1), postgres, "insert \(count)"),
                    Rival("C on SQLite", nil, try SQLite.peer(run, 1), "insert \(count)"),
                ])
        }
        let each = run.size(200, quick: 20)
        let command = "inserts \(clients) \(each)"
        try run.compare(
            "durable inserts/s, \(clients) clients", unit: "/s",
            ours: { try rate(connections, each) },
            [
                Rival(
                    "\(clients) processes on a SQLite file", .atLeast(8),
                    try SQLite.peer(run, 1), command),
                Rival("PostgreSQL", .atLeast(2), postgres, command),
            ])
    }

    private func latency(_ client: StoreClient, _ count: Int) throws -> Sample {
        let times = try (1...count).map { number in
            try microseconds { _ = try client.insert("Student", School.student(number)) }
        }
        return Sample(value: times.median, checksum: Int64(count))
    }

    private func rate(_ connections: [StoreClient], _ each: Int) throws -> Sample {
        let time = try microseconds {
            try inThreads(connections.count) { index in
                for number in 1...each {
                    _ = try connections[index].insert("Student", School.student(number))
                }
            }
        }
        let count = connections.count * each
        return Sample(value: Double(count) / time * 1e6, checksum: Int64(count))
    }
}
