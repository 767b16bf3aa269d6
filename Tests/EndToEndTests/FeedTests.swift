import FoundationEssentials
import LarderClient
import Testing

@Suite("The history and the feed of a served store")
struct FeedTests {
    private let daemon: TestDaemon
    private let client: StoreClient

    init() throws {
        daemon = try TestDaemon()
        client = try daemon.connect()
    }

    @discardableResult
    private func insert(_ name: String = "Ann", author: String = "") throws -> Int64 {
        let student = PersistentIdentifier(temporary: "a", entityName: "Student")
        let set = ChangeSet(
            [.insert(student, values: ["name": .string(name), "birthOfYear": 2_001])],
            author: author)
        return try #require(try client.save(set).transaction)
    }

    /// The next transactions of a feed.
    private func take(_ count: Int, from feed: ChangeFeed) throws -> [HistoryTransaction] {
        var transactions: [HistoryTransaction] = []
        while transactions.count < count {
            guard let event = try feed.nextEvent(timeout: .seconds(600)) else { break }
            if case .transaction(let transaction) = event { transactions.append(transaction) }
        }
        return transactions
    }

    // MARK: - History

    @Test("the history has what each save changed, in pages from either end")
    func history() throws {
        for index in 0..<5 { try insert("\(index)", author: index < 2 ? "one" : "two") }
        let all = try client.history()
        #expect(all.transactions.map(\.id) == [1, 2, 3, 4, 5])
        #expect(all.position == client.server.token(after: 5))
        #expect(
            all.transactions.flatMap(\.changes).map(\.kind) == Array(repeating: .inserted, count: 5)
        )
        #expect(try client.currentToken() == all.position)
        let first = try client.history(HistoryFetch(limit: 2))
        #expect(first.transactions.map(\.id) == [1, 2])
        let rest = try client.history(HistoryFetch(after: first.position))
        #expect(rest.transactions.map(\.id) == [3, 4, 5])
        let last = try client.history(HistoryFetch(newestFirst: true, limit: 2))
        #expect(last.transactions.map(\.id) == [5, 4])
        let before = try client.history(HistoryFetch(upTo: last.position, newestFirst: true))
        #expect(before.transactions.map(\.id) == [3, 2, 1])
        let ofOne = HistoryFilter(authors: ["one"])
        #expect(try client.history(HistoryFetch(where: ofOne)).transactions.count == 2)
        #expect(try client.history(HistoryFetch(limit: 0)).transactions.isEmpty)
    }

    @Test("tokens before deleted transactions expire")
    func deletion() throws {
        for _ in 0..<5 { try insert() }
        let token = client.server.token(after: 3)
        #expect(try client.deleteHistory(.upTo(token)) == 3)
        #expect(try client.history().transactions.map(\.id) == [4, 5])
        #expect(try client.history(HistoryFetch(after: token)).transactions.map(\.id) == [4, 5])
        let early = client.server.token(after: 1)
        #expect(code { try client.history(HistoryFetch(after: early)) } == .tokenExpired)
        #expect(code { try client.changes(after: early).next() } == .tokenExpired)
        #expect(
            code { try client.changes(after: client.server.token(after: 9)).next() }
                == .futureToken)
        let foreign = HistoryToken(store: UUID(), epoch: token.epoch, number: 1)
        #expect(code { try client.changes(after: foreign).next() } == .foreignToken)
    }

    private func code<Result>(_ body: () throws -> Result) -> ErrorCode? {
        do {
            _ = try body()
            return nil
        } catch {
            return (error as? LarderError)?.code
        }
    }

    @Test("a name that the schema does not have ends a feed with an error")
    func unknownNames() throws {
        let feed = client.changes(where: HistoryFilter(entities: ["Teacher"]))
        #expect(code { try feed.next() } == .unknownEntity)
        #expect(try feed.next() == nil)
        let other = client.changes(where: HistoryFilter(properties: ["height"]))
        #expect(code { try other.next() } == .unknownProperty)
    }

    // MARK: - Feed

    @Test("a feed returns the history, and then each commit, without gap or repeat")
    func feed() throws {
        for _ in 0..<3 { try insert() }
        let feed = client.changes(after: client.server.token(after: 1))
        #expect(try take(2, from: feed).map(\.id) == [2, 3])
        #expect(try feed.nextEvent() == .current(client.server.token(after: 3)))
        #expect(try feed.nextEvent(timeout: .milliseconds(10)) == nil)
        for number in 4...20 {
            try insert()
            #expect(try take(1, from: feed).map(\.id) == [Int64(number)])
            #expect(feed.position == client.server.token(after: Int64(number)))
        }
        feed.cancel()
        #expect(try feed.next() == nil)
    }

    @Test("a feed without a token begins with the next commit")
    func now() throws {
        try insert()
        let feed = client.changes()
        #expect(try feed.nextEvent() == .current(client.server.token(after: 1)))
        #expect(feed.position == client.server.token(after: 1))
        try insert()
        #expect(try take(1, from: feed).map(\.id) == [2])
    }

    @Test("many feeds on several connections get the commits that they select")
    func kinds() throws {
        let clients = try (0..<4).map { _ in try daemon.connect() }
        let filters = [
            HistoryFilter(), HistoryFilter(excludedAuthors: ["one"]),
            HistoryFilter(authors: ["one"]), HistoryFilter(kinds: [.deleted]),
        ]
        let feeds = clients.flatMap { client in filters.map { client.changes(where: $0) } }
        for feed in feeds {
            #expect(try feed.nextEvent() == .current(client.server.token(after: 0)))
        }
        inThreads(4) { thread in
            for _ in 0..<50 { try insert(author: thread == 0 ? "one" : "two") }
        }
        let selected = try filters.map { filter in
            try client.history(HistoryFetch(where: filter)).transactions
        }
        #expect(selected.map(\.count) == [200, 150, 50, 0])
        for (index, feed) in feeds.enumerated() {
            let expected = selected[index % filters.count]
            #expect(try take(expected.count, from: feed) == expected)
            #expect(try feed.nextEvent(timeout: .milliseconds(1)) == nil)
        }
    }

    @Test("more feeds on one connection than requests in flight leave room for calls")
    func manyFeeds() throws {
        let feeds = (0..<200).map { _ in client.changes() }
        for feed in feeds { _ = try feed.nextEvent() }
        try insert()
        for feed in feeds { #expect(try take(1, from: feed).map(\.id) == [1]) }
        #expect(try client.count("Student") == 1)
    }

    @Test("a feed that nobody reads falls back to the history, and misses nothing")
    func slowReader() throws {
        let feed = client.changes()
        _ = try feed.nextEvent()
        let writer = try daemon.connect()
        inThreads(8) { _ in
            for _ in 0..<1_000 {
                _ = try writer.insert("Student", ["name": "Ann", "birthOfYear": 1])
            }
        }
        let transactions = try take(8_000, from: feed)
        #expect(transactions.map(\.id) == (1...8_000).map { $0 })
    }

    @Test("a feed returns a transaction of any size whole")
    func largeTransaction() throws {
        let feed = client.changes()
        _ = try feed.nextEvent()
        // Every second object, so that no two changes are one run.
        let rows = (0..<20_000).map { index in
            Change.insert(
                PersistentIdentifier(temporary: "\(index)", entityName: "Student"),
                values: ["name": "Ann", "birthOfYear": .int(Int64(index % 2))])
        }
        _ = try client.save(ChangeSet(rows))
        _ = try client.updateAll("Student", ["name": "Bob"], where: "birthOfYear == 1")
        let transactions = try take(2, from: feed)
        #expect(transactions.map { $0.changes.count } == [20_000, 10_000])
        #expect(transactions[1].runs.count == 10_000)
        #expect(transactions == (try client.history().transactions))
    }

    @Test("a feed continues where it was after a restart of the server, and reports the restart")
    func restart() throws {
        let feed = client.changes()
        _ = try feed.nextEvent()
        try insert()
        #expect(try take(1, from: feed).map(\.id) == [1])
        for (round, number) in [Int64(2), 4].enumerated() {
            if round == 0 { #expect(daemon.stop() == 0) } else { daemon.kill() }
            try daemon.start()
            try insert()
            try insert()
            var events: [ChangeFeed.Event] = []
            while events.count < 5, let event = try feed.nextEvent(timeout: .seconds(600)) {
                events.append(event)
            }
            guard case .interrupted? = events.first else {
                Issue.record("the feed does not say that it was interrupted: \(events)")
                return
            }
            #expect(events[1] == .resumed(after: client.server.token(after: number - 1)))
            let numbers = events.compactMap { event -> Int64? in
                if case .transaction(let transaction) = event { transaction.id } else { nil }
            }
            #expect(numbers == [number, number + 1])
        }
    }

    @Test("a feed is an asynchronous sequence")
    func asynchronous() async throws {
        let feed = client.changes(after: client.server.token(after: 0))
        let reading = Task {
            var numbers: [Int64] = []
            for try await transaction in feed {
                numbers.append(transaction.id)
                if numbers.count == 10 { break }
            }
            return numbers
        }
        for _ in 0..<10 {
            _ = try await client.insert("Student", ["name": "Ann", "birthOfYear": 1])
        }
        #expect(try await reading.value == (1...10).map { $0 })
        let cancelled = Task { try await client.changes().next() }
        cancelled.cancel()
        await #expect(throws: LarderError.self) { try await cancelled.value }
    }

    @Test("the server deletes the transactions beyond the maximum of its history")
    func retention() throws {
        #expect(daemon.stop() == 0)
        try daemon.start(["--history-count", "3"])
        for _ in 0..<10 { try insert() }
        #expect(daemon.stop() == 0)
        try daemon.start(["--history-count", "3"])
        // The deletion is a write like others, and is done before those that come later.
        var numbers: [Int64] = []
        for _ in 0..<1_000 where numbers != [8, 9, 10] {
            try client.ping()
            numbers = try client.history().transactions.map(\.id)
        }
        #expect(numbers == [8, 9, 10])
    }
}
