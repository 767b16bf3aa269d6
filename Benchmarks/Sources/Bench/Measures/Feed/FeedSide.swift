import LarderClient
import LarderModel
import Synchronization

/// A store whose commits reach subscribers: Larder or a peer.
struct FeedSide {
    var name: String
    /// The peer's program; nil for Larder.
    var peer: Peer?
    var perform: (FeedRun) throws -> FeedTrace
}

/// The work of a side in one round: each writer commits this number of students, one by one.
/// In a paced run, the next commit waits until all subscribers have the event of the last one.
struct FeedRun {
    var subscribers: Int
    var writers: Int
    var each: Int
    var isPaced: Bool

    var events: Int { writers * each }
}

extension FeedSide {
    static func larder(_ run: Run, _ server: Server, writersMax: Int) throws -> FeedSide {
        let clients = try (0..<writersMax).map { _ in try server.connect() }
        return FeedSide(name: "Larder", peer: nil) { try perform($0, run, server, clients) }
    }

    /// The three peers; none if only Larder is measured.
    static func peers(_ run: Run) throws -> [FeedSide] {
        guard run.hasPeers else { return [] }
        let redis = try run.variable("LARDER_BENCH_DURABLE_REDIS")
        return try [
            ("PostgreSQL NOTIFY", "feed-postgres", [run.variable("LARDER_BENCH_POSTGRES")]),
            ("Redis PUBLISH", "feed-redis", ["publish", redis]),
            ("Redis XREAD", "feed-redis", ["stream", redis]),
        ].compactMap { name, program, arguments in
            let file = run.path("times")
            guard let peer = try run.peer(program, arguments + [file]) else { return nil }
            return FeedSide(name: name, peer: peer) { plan in
                let sample = try peer.sample(
                    "run \(plan.subscribers) \(plan.writers) \(plan.each) \(plan.isPaced ? 1 : 0)")
                return try FeedTrace(
                    file: file, subscribers: plan.subscribers, events: plan.events,
                    checksum: sample.checksum)
            }
        }
    }

    private static func perform(
        _ plan: FeedRun, _ run: Run, _ server: Server, _ clients: [StoreClient]
    ) throws -> FeedTrace {
        // The keys of the run's students follow this one.
        guard let base = try clients[0].insert("Student", School.student(1)).permanentKey else {
            throw Problem("an object has no key")
        }
        let file = run.path("arrivals")
        let subscribers =
            plan.subscribers == 0
            ? nil
            : try FeedSubscribers.start(
                server, subscribers: plan.subscribers, events: plan.events, base: base,
                isPaced: plan.isPaced, file: file)
        let pace = plan.isPaced ? subscribers : nil
        let times = Mutex((sent: [Int64](), acknowledged: [Int64]()))
        try inThreads(plan.writers) { index in
            let (sent, acknowledged) = try commit(plan.each, clients[index], pace)
            times.withLock {
                $0.sent += sent
                $0.acknowledged += acknowledged
            }
        }
        var trace = times.withLock {
            FeedTrace(sent: $0.sent, acknowledged: $0.acknowledged, arrivals: [], checksum: 0)
        }
        guard let subscribers else { return trace }
        guard let checksum = subscribers.nextLine()?.first.flatMap({ Int64($0) }) else {
            throw Problem("the subscribers have ended")
        }
        trace.checksum = checksum
        trace.arrivals = try FeedTrace.rows(
            of: file, count: plan.subscribers, length: plan.events)
        return trace
    }

    /// - Parameter pace: Prints a line when all subscribers have the event of a commit.
    private static func commit(
        _ count: Int, _ client: StoreClient, _ pace: Peer?
    ) throws -> (sent: [Int64], acknowledged: [Int64]) {
        var (sent, acknowledged): ([Int64], [Int64]) = ([], [])
        for number in 1...count {
            sent.append(FeedTrace.now)
            _ = try client.insert("Student", School.student(number))
            acknowledged.append(FeedTrace.now)
            if let pace, pace.nextLine() != ["all"] {
                throw Problem("the subscribers have ended")
            }
        }
        return (sent, acknowledged)
    }
}
