import FoundationEssentials
import LarderClient
import LarderModel

/// Reads of one object by identifier, three properties, by a client that waits for each reply.
struct ReadLatency: Measure {
    let name = "latency"

    func measure(_ run: Run) throws {
        let server = try Server(run)
        let client = try server.connect()
        let count = run.size(10_000, quick: 1_000)
        let students = try Loader(client: client).students(count)
        let reads = run.size(5_000, quick: 500)
        let floor = try Floor(run, students: count)
        let postgres = try Postgres.peer(run, count)
        let redis = try Redis.peer(run, count)
        let grpc = try Grpc.peer(run, count)
        let clients = [floor?.load, postgres, redis, grpc]
        let servers = [server.program, floor?.server.program]
        let command = "latency \(reads) \(count)"
        try Processors.withSeparateProcessors(run, servers: servers, clients: clients) {
            try run.compare(
                "read one object by identifier, median", unit: "µs",
                ours: { try Self.read(client, students, reads) },
                [
                    Rival("floor server in C", .atMost(1.25), floor?.load, command),
                    Rival("PostgreSQL, prepared", .atMost(0.9), postgres, command),
                    Rival("Redis HMGET", .atMost(1.1), redis, command),
                    Rival("grpc-swift-2", .atMost(0.25), grpc, command),
                ])
        }
    }

    /// The index of the object that a read is for; every peer reads the same sequence.
    static func index(_ read: Int, of count: Int) -> Int { read * 7_919 % count }

    static func read(
        _ client: StoreClient, _ students: [PersistentIdentifier], _ reads: Int
    ) throws -> Sample {
        var times: [Double] = []
        times.reserveCapacity(reads)
        var checksum: Int64 = 0
        for read in 0..<reads {
            let identifier = students[index(read, of: students.count)]
            var record: Record?
            times.append(
                try microseconds {
                    record = try client.objects(
                        for: [identifier], properties: School.studentProperties
                    ).first
                })
            if case .string(let name)? = record?["name"],
                case .int(let birthOfYear)? = record?["birthOfYear"],
                case .double(let score)? = record?["score"]
            {
                checksum += School.checksum(
                    name: name.utf8.count, birthOfYear: birthOfYear, score: score)
            }
        }
        return Sample(value: times.median, checksum: checksum)
    }
}
