import FoundationEssentials
import Glibc
import LarderClient
import LarderModel
import Synchronization

/// Larder's subscribers: a process of the bench with a connection, a thread and a `ChangeFeed` per
/// subscriber. It prints `ready`, in a paced run a line per event that all subscribers have, and at
/// the end the checksum. The arrivals are in a file then.
struct FeedSubscribers {
    /// The first argument of the bench if it is to subscribe.
    static let argument = "subscribe"

    private let socket: String
    private let subscribers: Int
    private let events: Int
    /// The key of the last object before the first event.
    private let base: Int64
    private let isPaced: Bool
    private let file: String

    /// Ends a subscriber that waits for an event that has been lost.
    private static let secondsMax: UInt32 = 300

    init(_ arguments: [String]) throws {
        guard arguments.count == 6, let subscribers = Int(arguments[1]),
            let events = Int(arguments[2]), let base = Int64(arguments[3])
        else {
            throw Problem(
                "usage: Bench \(Self.argument) SOCKET SUBSCRIBERS EVENTS BASE true|false FILE",
                status: 64)
        }
        socket = arguments[0]
        self.subscribers = subscribers
        self.events = events
        self.base = base
        isPaced = arguments[4] == "true"
        file = arguments[5]
    }

    /// Starts the process, and returns when all of its subscribers are subscribed.
    static func start(
        _ server: Server, subscribers: Int, events: Int, base: Int64, isPaced: Bool, file: String
    ) throws -> Peer {
        let process = try Peer(
            CommandLine.arguments[0],
            [
                argument, server.socket, String(subscribers), String(events), String(base),
                String(isPaced), file,
            ])
        guard process.nextLine() == ["ready"] else { throw Problem("the subscribers have ended") }
        return process
    }

    func run() throws {
        alarm(Self.secondsMax)
        // One after the other: the server limits how many connections are without a handshake.
        let feeds = try (0..<subscribers).map { _ in
            let feed = try Server.connect(to: socket).changes()
            guard case .current = try feed.nextEvent() else { throw Problem("an early event") }
            return feed
        }
        printLine("ready")
        let progress = Atomic(0)
        let checksum = Atomic<Int64>(0)
        let arrivals = Mutex([[Int64]](repeating: [], count: subscribers))
        try inThreads(subscribers) { index in
            do {
                let times = try receive(feeds[index], progress, checksum)
                arrivals.withLock { $0[index] = times }
            } catch {
                // The other threads would wait.
                Bench.fail("bench: a subscriber: \(error)", status: 1)
            }
        }
        let times = arrivals.withLock { Array($0.joined()) }
        try times.withUnsafeBytes { try Data($0).write(to: URL(filePath: file)) }
        printLine(String(checksum.load(ordering: .relaxed)))
    }

    /// Receives each event exactly once, or throws.
    private func receive(
        _ feed: ChangeFeed, _ progress: borrowing Atomic<Int>, _ checksum: borrowing Atomic<Int64>
    ) throws -> [Int64] {
        var times = [Int64](repeating: 0, count: events)
        for _ in 0..<events {
            guard let transaction = try feed.next() else { throw Problem("the feed has ended") }
            let now = FeedTrace.now
            guard transaction.runs.count == 1, transaction.runs[0].kind == .inserted,
                transaction.runs[0].keys.count == 1
            else { throw Problem("transaction \(transaction.id) is not of one insert") }
            let index = Int(transaction.runs[0].keys.lowerBound - base) - 1
            guard times.indices.contains(index), times[index] == 0 else {
                throw Problem("transaction \(transaction.id) is unknown or has arrived twice")
            }
            times[index] = now
            checksum.add(Int64(index) + 1, ordering: .relaxed)
            let received = progress.add(1, ordering: .relaxed).newValue
            if isPaced, received % subscribers == 0 { printLine("all") }
        }
        return times
    }
}
