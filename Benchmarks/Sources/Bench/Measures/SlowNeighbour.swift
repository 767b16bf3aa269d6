import FoundationEssentials
import LarderClient
import LarderModel
import Synchronization

/// How much a query that would run for minutes slows reads by identifier, and whether that query
/// ends when its time is over.
struct SlowNeighbour: Measure {
    let name = "neighbour"
    private let readers = 4

    func measure(_ run: Run) throws {
        let server = try Server(run)
        let client = try server.connect()
        let count = run.size(100_000, quick: 40_000)
        try Loader(client: client).articles(count)
        let students = try client.fetch("Student", limit: 1_000).map(\.identifier)
        let clients = try (0..<readers).map { _ in try server.connect() }
        let pause = Duration.seconds(run.size(5, quick: 1))
        var idle: [Double] = []
        var during: [Double] = []
        var late: [Double] = []
        for _ in 0..<(run.scale == .full ? 5 : 1) {
            idle.append(try percentile(clients, students, until: .now + pause))
            let slow = try server.connect(timeout: pause)
            let start = ContinuousClock.now
            let outcome = Mutex((lateness: 0.0, percentile: 0.0))
            try inThreads(2) { number in
                if number == 0 {
                    try expectTimeout(slow)
                    let lateness = (ContinuousClock.now - start - pause) / .milliseconds(1)
                    outcome.withLock { $0.lateness = lateness }
                } else {
                    let value = try percentile(clients, students, until: start + pause)
                    outcome.withLock { $0.percentile = value }
                }
            }
            outcome.withLock {
                late.append($0.lateness)
                during.append($0.percentile)
            }
        }
        run.add(
            Report.Row(
                measure: "p99 of reads of \(readers) clients during a query of minutes",
                unit: "µs", ours: during, peer: "without the query", theirs: idle,
                goal: .atMost(2)))
        run.add(
            Report.Row(
                measure: "that query's TIMEOUT, after its deadline", unit: "ms", ours: late,
                goal: .atMost(100)))
    }

    /// Sends a query that compares each article with all articles of its category.
    private func expectTimeout(_ client: StoreClient) throws {
        do {
            let count = try client.count(
                "Article",
                where: """
                    SUBQUERY(category.articles, $other, $other.summary ENDSWITH "nowhere")\
                    .@count > 0
                    """)
            throw Problem("the query of minutes has returned \(count)")
        } catch let error as LarderError where error.code == .timeout {}
    }

    /// The 99th percentile, in microseconds, of reads that all clients make at the same time.
    private func percentile(
        _ clients: [StoreClient], _ students: [PersistentIdentifier],
        until end: ContinuousClock.Instant
    ) throws -> Double {
        let times = Mutex<[Double]>([])
        try inThreads(clients.count) { number in
            var own: [Double] = []
            var read = number
            while ContinuousClock.now < end {
                let identifier = students[ReadLatency.index(read, of: students.count)]
                read += 1
                own.append(
                    try microseconds {
                        _ = try clients[number].objects(
                            for: [identifier], properties: School.studentProperties)
                    })
            }
            times.withLock { $0 += own }
        }
        return times.withLock { $0.percentile(0.99) }
    }
}
