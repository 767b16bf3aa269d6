import FoundationEssentials
import LarderClient
import LarderModel

/// What of the server is resident: idle, for each connection that does nothing, and while it
/// streams all that it has.
struct ServerMemory: Measure {
    let name = "memory"

    func measure(_ run: Run) throws {
        let store: String
        let count = run.size(1_000_000, quick: 10_000)
        do {
            let server = try Server(run)
            try Loader(client: try server.connect()).students(count)
            store = server.store
        }
        let server = try Server(run, store: store)
        let client = try server.connect()
        try client.ping()
        let idle = try server.program.residentKibibytes()
        run.add(
            Report.Row(
                measure: "memory, idle", unit: "MiB", ours: [idle / 1_024], goal: .atMost(16)))
        try connections(run, server, idle)
        try streaming(run, server, client, count)
    }

    private func connections(_ run: Run, _ server: Server, _ idle: Double) throws {
        let number = run.size(200, quick: 20)
        let clients = try (0..<number).map { _ in try server.connect() }
        let full = try server.program.residentKibibytes()
        run.add(
            Report.Row(
                measure: "memory, each of \(number) idle connections", unit: "KiB",
                ours: [(full - idle) / Double(number)], goal: .atMost(12)))
        for client in clients { client.close() }
    }

    private func streaming(
        _ run: Run, _ server: Server, _ client: StoreClient, _ count: Int
    ) throws {
        let before = try server.program.residentKibibytes()
        let stream = try client.stream(.fetch(Fetch("Student")))
        var most = before
        var rows = 0
        while let batch = try stream.next() {
            rows += batch.rowCount
            most = max(most, try server.program.residentKibibytes())
        }
        guard rows == count else { throw Problem("\(rows) objects came of \(count)") }
        run.add(
            Report.Row(
                measure: "memory, streaming \(count) objects, above idle", unit: "MiB",
                ours: [(most - before) / 1_024], goal: .atMost(32)))
    }
}
