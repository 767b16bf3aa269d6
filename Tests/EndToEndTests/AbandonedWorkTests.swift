import Glibc
import LarderClient
import Synchronization
import TestSupport
import Testing

/// The work of SQLite, as `LifetimeTests` of the server have it for a store that is none.
@Suite("Work of clients that have gone, in the daemon", .serialized)
struct AbandonedWorkTests {
    private struct NotReached: Error, CustomStringConvertible {
        let description: String
    }

    /// Compares each article with all others, which takes far longer than a stopping daemon waits.
    private static let slow: String = {
        let conversions = 10
        let text =
            String(repeating: "uppercase(lowercase(", count: conversions) + "$a.title"
            + String(repeating: "))", count: conversions)
        return "SUBQUERY(category.articles, $a, \(text) == title).@count > "
    }()

    private static let articleCount = 4_000
    private static let secondsMax: Double = 300

    private let daemon: TestDaemon
    private let watcher: StoreClient

    init() throws {
        daemon = try TestDaemon()
        watcher = try daemon.connect()
        let category = PersistentIdentifier(temporary: "c", entityName: "Category")
        let articles = (0..<Self.articleCount).map { number in
            Change.insert(
                PersistentIdentifier(temporary: "a\(number)", entityName: "Article"),
                values: ["title": "An article of this store", "category": .object(category)])
        }
        _ = try watcher.save(
            ChangeSet([.insert(category, values: ["name": "all"])] + articles))
    }

    private func metric(_ name: String) throws -> Int64? {
        let value = try watcher.statistics().first { $0.name == name }?.value
        return if case .int(let number)? = value { number } else { nil }
    }

    /// Waits for a metric of `stats`, in which a request for it counts as a read of the pool.
    private func wait(until name: String, _ isReached: (Int64) -> Bool) throws {
        var value: Int64 = -1
        let isInTime = try eventually {
            value = try metric(name) ?? -1
            return isReached(value)
        }
        if !isInTime { throw NotReached(description: "\(name) is \(value) after minutes") }
    }

    /// Stops the daemon, and checks that it does not wait for long work.
    private func stop() {
        let start = ContinuousClock.now
        #expect(daemon.stop() == 0, "\(daemon.errors)")
        let time = (ContinuousClock.now - start) / .seconds(1)
        #expect(time < Self.secondsMax, "larderd took \(time) s to stop")
    }

    private func observe(_ client: StoreClient, count: Int) throws -> [LiveValues] {
        var observed: [LiveValues] = []
        for number in 0..<count {
            let values = client.observeValues(
                .count(
                    entityName: "Article", predicate: .format("\(Self.slow) \(number)"),
                    includesSubentities: true))
            #expect(try values.next(timeout: .milliseconds(1)) == nil)
            observed.append(values)
        }
        return observed
    }

    @Test("the first evaluations of observers end with their connections")
    func observers() throws {
        let clients = try (0..<20).map { _ in try daemon.connect() }
        let observers = try clients.map { try observe($0, count: 25) }
        try wait(until: "liveQueries") { $0 == 25 }
        try wait(until: "liveEvaluations") { $0 == 2 }
        for client in clients { client.close() }
        try wait(until: "liveQueries") { $0 == 0 }
        try wait(until: "liveEvaluations") { $0 == 0 }
        try wait(until: "liveEvaluationsWaiting") { $0 == 0 }
        try wait(until: "poolReads") { $0 == 1 }
        withExtendedLifetime(observers) {}
        stop()
    }

    @Test("a daemon stops while observed queries are evaluated")
    func stopWhileEvaluating() throws {
        let client = try daemon.connect(reconnectWait: .zero)
        let observers = try observe(client, count: 25)
        try wait(until: "liveEvaluations") { $0 == 2 }
        stop()
        withExtendedLifetime(observers) {}
    }

    enum Read {
        case count, snapshot, conversion
    }

    private static func perform(_ read: Read, _ client: StoreClient) throws {
        switch read {
        case .count: _ = try client.count("Article", where: "\(slow) 0")
        case .snapshot: try client.snapshot { _ = try $0.count("Article", where: "\(slow) 0") }
        case .conversion:
            let text = QueryArgument.value(.string(String(repeating: "\u{C4}", count: 900_000)))
            _ = try client.count(
                "Article",
                where: Array(repeating: "title ==[cd] %@", count: 7).joined(separator: " OR "),
                arguments: Array(repeating: text, count: 7))
        }
    }

    /// - Parameter stops: Whether the daemon is stopped, and not the connection closed.
    @Test(
        "a long read ends with its connection, and is interrupted by a daemon that stops",
        arguments: [
            (Read.count, false), (.count, true), (.snapshot, false), (.snapshot, true),
            (.conversion, false),
        ])
    func reads(_ read: Read, stops: Bool) throws {
        let client = try daemon.connect(reconnectWait: .zero)
        inThreads(2) { number in
            if number == 1 {
                #expect(failure { try Self.perform(read, client) } != nil)
                return
            }
            try wait(until: "poolReads") { $0 >= 2 }
            if stops { stop() } else { client.close() }
        }
        if !stops { try wait(until: "poolReads") { $0 == 1 } }
    }
}
