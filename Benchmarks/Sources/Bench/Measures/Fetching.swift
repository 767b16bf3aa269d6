import FoundationEssentials
import LarderClient
import LarderModel

/// A fetch of 10,000 objects with three properties each, as Swift values.
struct Fetching: Measure {
    let name = "fetch"
    /// A round is short; with this number of rounds a disturbed one has little weight.
    private let rounds = 21

    func measure(_ run: Run) throws {
        let server = try Server(run)
        let client = try server.connect()
        let count = run.size(10_000, quick: 2_000)
        try Loader(client: client).students(count)
        // Warms up the connection and the server's caches.
        for _ in 0..<16 { _ = try Self.structs(client) }
        let measure = "fetch \(count) objects x 3 properties"
        let scan = try SQLite.peer(run, count)
        let grdb = try Grdb.peer(run, count)
        let postgres = try Postgres.peer(run, count)
        let rounds = run.size(rounds, quick: 2)
        try Processors.withSeparateProcessors(
            run, servers: [server.program], clients: [scan, grdb, postgres]
        ) {
            try run.compare(
                measure + " as structs", unit: "µs", rounds: rounds,
                ours: { try Self.structs(client) },
                [
                    Rival("C on SQLite, scan", nil, scan, "scan"),
                    Rival("GRDB, structs", nil, grdb, "scan"),
                    Rival("PostgreSQL, binary", .atMost(0.6), postgres, "scan"),
                ])
            try run.compare(
                measure + " as records", unit: "µs", rounds: rounds,
                ours: { try records(client) },
                [Rival("C on SQLite, scan", nil, scan, "scan")])
        }
    }

    private struct Student {
        var name: String
        var birthOfYear: Int64
        var score: Double
    }

    static let values = Fetch(
        "Student",
        selection: .values(School.studentProperties.map { QueryColumn(stringLiteral: $0) }))

    /// Reads columns of values, the fastest way for large results.
    private static func structs(_ client: StoreClient) throws -> Sample {
        var students: [Student] = []
        let time = try microseconds {
            let stream = try client.stream(.fetch(values))
            while let batch = try stream.next() { append(batch, to: &students) }
        }
        return Sample(
            value: time,
            checksum: students.reduce(0) {
                $0
                    + School.checksum(
                        name: $1.name.utf8.count, birthOfYear: $1.birthOfYear, score: $1.score)
            })
    }

    private static func append(_ batch: Batch, to students: inout [Student]) {
        guard case .bytes(let heap, let ends) = batch.columns[0].storage,
            case .integers(let years) = batch.columns[1].storage,
            case .doubles(let scores) = batch.columns[2].storage
        else { return }
        var start = 0
        for row in 0..<batch.rowCount {
            let end = Int(ends[row])
            let name = String(decoding: heap[start..<end], as: UTF8.self)
            students.append(Student(name: name, birthOfYear: years[row], score: scores[row]))
            start = end
        }
    }

    /// Reads records, which the plain call returns: a dictionary per object.
    private func records(_ client: StoreClient) throws -> Sample {
        var checksum: Int64 = 0
        var records: [Record] = []
        let time = try microseconds { records = try client.fetch("Student") }
        for record in records {
            if case .string(let name)? = record["name"],
                case .int(let birthOfYear)? = record["birthOfYear"],
                case .double(let score)? = record["score"]
            {
                checksum += School.checksum(
                    name: name.utf8.count, birthOfYear: birthOfYear, score: score)
            }
        }
        return Sample(value: time, checksum: checksum)
    }
}
