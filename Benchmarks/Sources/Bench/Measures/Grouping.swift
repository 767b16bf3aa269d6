import FoundationEssentials
import LarderClient
import LarderModel

/// A count by group, computed by the server each time.
struct Grouping: Measure {
    let name = "group"

    func measure(_ run: Run) throws {
        for count in run.isQuick ? [2_000] : [10_000, 1_000_000] {
            let server = try Server(run)
            let client = try server.connect()
            try Loader(client: client).students(count)
            try run.compare(
                "grouped count over \(count) objects", unit: "µs",
                ours: { try Self.grouped(client) },
                [
                    Rival(
                        "C on SQLite, GROUP BY", .atMost(0.5), try SQLite.peer(run, count),
                        "group"),
                    Rival("PostgreSQL", .atMost(0.6), try Postgres.peer(run, count), "group"),
                ])
        }
    }

    static func grouped(_ client: StoreClient) throws -> Sample {
        try School.commitUnrelatedChange(client)
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
