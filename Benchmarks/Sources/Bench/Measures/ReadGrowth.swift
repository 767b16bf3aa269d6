import FoundationEssentials
import LarderClient
import LarderModel

/// How the duration of a read grows with the store, compared with SQLite in process.
struct ReadGrowth: Measure {
    let name = "growth"

    func measure(_ run: Run) throws {
        let reads = run.size(5_000, quick: 500)
        for count in run.isQuick ? [1_000, 10_000] : [1_000, 10_000, 100_000, 1_000_000] {
            let server = try Server(run)
            let client = try server.connect()
            let students = try Loader(client: client).students(count)
            try run.compare(
                "read, of \(count) objects", unit: "µs",
                ours: { try ReadLatency.read(client, students, reads) },
                [
                    Rival(
                        "C on SQLite, in process", nil, try SQLite.peer(run, count),
                        "latency \(reads) \(count)")
                ])
        }
        addGrowth(run)
    }

    /// Adds the ratio of the largest store to the smallest, compared with SQLite's ratio.
    private func addGrowth(_ run: Run) {
        let rows = run.rows.filter { $0.measure.hasPrefix("read, of ") && $0.peer != nil }
        guard let smallest = rows.first, let largest = rows.last else { return }
        run.add(
            Report.Row(
                measure: "read, growth from the smallest to the largest store", unit: "times",
                ours: zip(largest.ours, smallest.ours).map { $0 / $1 }, peer: smallest.peer,
                theirs: zip(largest.theirs, smallest.theirs).map { $0 / $1 }, goal: .atMost(1)))
    }
}
