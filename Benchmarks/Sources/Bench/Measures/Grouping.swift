import FoundationEssentials
import LarderClient
import LarderModel

/// A count by group, computed by the server.
struct Grouping: Measure {
    let name = "group"

    func measure(_ run: Run) throws {
        for count in run.isQuick ? [2_000] : [10_000, 1_000_000] {
            let server = try Server(run)
            let client = try server.connect()
            try Loader(client: client).students(count)
            let sqlite = try SQLite.peer(run, count)
            // The round trip is what the smallest call takes.
            let roundTrip = try (0..<200).map { _ in try microseconds { try client.ping() } }.median
            try run.compare(
                "grouped count over \(count) objects", unit: "µs",
                ours: { try Self.groupedAnew(client) },
                [
                    Rival(
                        "C on SQLite, and a round trip", .atMost(1.05),
                        sqlite.map { sqlite in
                            {
                                var sample = try sqlite.ask("group")
                                sample.value += roundTrip
                                return sample
                            }
                        }),
                    Rival("PostgreSQL", .atMost(1), try Postgres.peer(run, count), "group"),
                ])
        }
    }

    /// The answer would be given again if nothing had changed.
    static func groupedAnew(_ client: StoreClient) throws -> Sample {
        try School.change(client)
        return try grouped(client)
    }

    static func grouped(_ client: StoreClient) throws -> Sample {
        var checksum: Int64 = 0
        let time = try microseconds {
            for row in try client.aggregate("Student", groupBy: ["birthOfYear"], [.count]) {
                if case .int(let year) = row.values[0], case .int(let count) = row.values[1] {
                    checksum += year * count
                }
            }
        }
        return Sample(value: time, checksum: checksum)
    }
}
