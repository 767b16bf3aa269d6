import FoundationEssentials
import LarderClient
import LarderModel

/// A million new objects, by a stream of rows in durable transactions of some thousand rows.
struct BulkInserting: Measure {
    let name = "bulk"

    func measure(_ run: Run) throws {
        let count = run.size(1_000_000, quick: 10_000)
        try run.compare(
            "bulk insert of \(count) objects", unit: "rows/s", rounds: run.isQuick ? 1 : 3,
            ours: {
                let server = try Server(run)
                let client = try server.connect()
                try client.ping()
                let time = try microseconds {
                    _ = try client.insertAll(
                        Insertion("Student"), properties: School.studentProperties,
                        rows: (1...count).lazy.map(School.row))
                }
                let stored = try client.count("Student")
                try? FileManager.default.removeItem(atPath: server.store)
                return Sample(value: Double(count) / time * 1e6, checksum: stored)
            },
            [
                Rival(
                    "C on SQLite", .atLeast(0.6), try SQLite.peer(run, 1), "bulk \(count)"),
                Rival(
                    "PostgreSQL COPY", .atLeast(1), try Postgres.peer(run, 1), "bulk \(count)"),
            ])
    }
}
