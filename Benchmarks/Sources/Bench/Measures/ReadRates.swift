import FoundationEssentials
import LarderModel

/// Reads per second on many connections, and on one that does not wait for each reply.
///
/// One thread of a C program generates the load on each side, so that the servers are compared and
/// not the clients.
struct ReadRates: Measure {
    let name = "rates"

    func measure(_ run: Run) throws {
        let server = try Server(run)
        let client = try server.connect()
        let count = run.size(10_000, quick: 1_000)
        try Loader(client: client).students(count)
        let reads = run.size(100_000, quick: 5_000)
        let floor = try Floor(run, students: count)
        let postgres = try Postgres.peer(run, count)
        let redis = try Redis.peer(run, count)
        let load = try run.driver(
            "load", ["larder", server.socket, client.server.storeIdentifier.uuidString])
        for connections in [16, 64] {
            let command = "rate \(connections) 1 1 \(reads) \(count)"
            try run.compare(
                "reads/s, \(connections) connections", unit: "/s",
                ours: { try load.sample(command) },
                [
                    Rival("floor server in C", .atLeast(0.85), floor?.load, command),
                    Rival("PostgreSQL, prepared", .atLeast(2), postgres, command),
                    Rival("Redis HMGET", .atLeast(1.1), redis, command),
                ])
        }
        let pipelined = "rate 1 32 1 \(reads) \(count)"
        try run.compare(
            "reads/s, one connection, 32 deep", unit: "/s", ours: { try load.sample(pipelined) },
            [
                Rival("floor server in C", nil, floor?.load, pipelined),
                Rival("PostgreSQL, pipelined", .atLeast(3), postgres, pipelined),
                Rival("Redis HMGET, pipelined", nil, redis, pipelined),
            ])
        try run.compare(
            "reads/s, 32 identifiers in a request", unit: "/s",
            ours: { try load.sample("rate 1 1 32 \(reads) \(count)") },
            [Rival("PostgreSQL, pipelined", .atLeast(3), postgres, pipelined)])
    }
}
