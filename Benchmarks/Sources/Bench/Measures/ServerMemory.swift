import FoundationEssentials
import LarderClient
import LarderModel

/// The server's memory: idle, per idle connection, and while it streams all objects.
///
/// Private memory is what one more server takes: Private_Clean and Private_Dirty of
/// /proc/PID/smaps_rollup while a second idle server of the same program runs, so that pages of the
/// program's file and of libraries count as shared. Resident memory is Rss of the same file, with
/// all pages of files that this server has touched.
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
        let second = try Server(run)
        defer { second.program.end() }
        try second.connect().ping()
        let server = try Server(run, store: store)
        let client = try server.connect()
        try client.ping()
        let idle = try server.program.memory()
        run.add(
            Report.Row(
                measure: "memory, idle, private", unit: "MiB",
                ours: [idle.privateKibibytes / 1_024], goal: .atMost(6)))
        run.add(
            Report.Row(
                measure: "memory, idle, resident", unit: "MiB",
                ours: [idle.residentKibibytes / 1_024], goal: .atMost(28)))
        try measureConnections(run, server, idle)
        try measureStreaming(run, server, client, count)
    }

    private func measureConnections(
        _ run: Run, _ server: Server, _ idle: Program.Memory
    ) throws {
        let number = run.size(200, quick: 20)
        let clients = try (0..<number).map { _ in try server.connect() }
        let full = try server.program.memory()
        run.add(
            Report.Row(
                measure: "memory, each of \(number) idle connections, private", unit: "KiB",
                ours: [(full.privateKibibytes - idle.privateKibibytes) / Double(number)],
                goal: .atMost(12)))
        for client in clients { client.close() }
    }

    private func measureStreaming(
        _ run: Run, _ server: Server, _ client: StoreClient, _ count: Int
    ) throws {
        let before = try server.program.memory().privateKibibytes
        let stream = try client.stream(.fetch(Fetch("Student")))
        var greatest = before
        var rows = 0
        while let batch = try stream.next() {
            rows += batch.rowCount
            greatest = max(greatest, try server.program.memory().privateKibibytes)
        }
        guard rows == count else {
            throw Problem("\(rows) objects were returned instead of \(count)")
        }
        run.add(
            Report.Row(
                measure: "memory, streaming \(count) objects, private, above idle", unit: "MiB",
                ours: [(greatest - before) / 1_024], goal: .atMost(32)))
    }
}
