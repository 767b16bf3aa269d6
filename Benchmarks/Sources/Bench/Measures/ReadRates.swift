import FoundationEssentials
import LarderModel

/// Reads a second of many connections, and of one that does not wait for each answer.
///
/// The load on each side comes from one thread of C, so that the servers are compared and not the
/// clients.
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
        guard
            let load = try run.peer(
                "load", ["larder", server.socket, client.server.storeIdentifier.uuidString])
        else {
            say("the load comes from a peer's program; not measured here")
            return
        }
        for connections in [16, 64] {
            let command = "rate \(connections) 1 1 \(reads) \(count)"
            try run.compare(
                "reads/s, \(connections) connections", unit: "/s",
                ours: { try load.ask(command) },
                [
                    Rival("floor server in C", .atLeast(0.85), floor?.load, command),
                    Rival("PostgreSQL, prepared", .atLeast(2), postgres, command),
                    Rival("Redis HMGET", .atLeast(1.1), redis, command),
                ])
        }
        let pipelined = "rate 1 32 1 \(reads) \(count)"
        try run.compare(
            "reads/s, one connection, 32 deep", unit: "/s", ours: { try load.ask(pipelined) },
            [
                Rival("floor server in C", nil, floor?.load, pipelined),
                Rival("PostgreSQL, pipelined", .atLeast(3), postgres, pipelined),
                Rival("Redis HMGET, pipelined", nil, redis, pipelined),
            ])
        try run.compare(
            "reads/s, 32 identifiers in a request", unit: "/s",
            ours: { try load.ask("rate 1 1 32 \(reads) \(count)") },
            [Rival("PostgreSQL, pipelined", .atLeast(3), postgres, pipelined)])
    }
}
