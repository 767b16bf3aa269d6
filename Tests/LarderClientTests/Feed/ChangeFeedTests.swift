import LarderModel
import LarderWire
import TestSupport
import Testing

@testable import LarderClient

@Suite("A feed of changes")
struct ChangeFeedTests {
    private static func reply(
        _ numbers: [Int64], upTo position: Int64? = nil, isPartial: Bool = false,
        isCurrent: Bool = false
    ) -> Reply {
        .history(
            HistoryReply(
                numbers.map { .sample($0, $0...$0) },
                upTo: .sample(position ?? numbers.last ?? 0),
                isPartial: isPartial, isCurrent: isCurrent), more: true)
    }

    /// The request for the history, which must be the next one.
    private static func history(_ peer: Peer) throws -> (id: UInt64, request: HistoryRequest) {
        let envelope = try peer.receiveFirst()
        guard case .history(let request) = envelope.request else { throw Peer.Unexpected(envelope) }
        return (envelope.id, request)
    }

    @Test("a feed requests the history with credit, from now on or after a token")
    func request() throws {
        let seen = Recorder<HistoryRequest>()
        let server = try ScriptedServer { peer, _ in
            try peer.greet()
            for _ in 0..<2 {
                let (id, request) = try Self.history(peer)
                seen.append(request)
                try peer.reply(id, Self.reply([], upTo: 4, isCurrent: true))
            }
            while peer.receive() != nil {}
        }
        defer { server.stop() }
        let client = try StoreClient.connect(to: server.path, options: .longTimeouts())
        let filter = HistoryFilter(entities: ["Item"])
        let feeds = [
            client.changes(where: filter),
            client.changes(after: .sample(4), includesChanges: false),
        ]
        for feed in feeds {
            #expect(try feed.nextEvent() == .current(.sample(4)))
            #expect(feed.position == .sample(4))
        }
        #expect(
            seen.entries == [
                HistoryRequest(
                    HistoryFetch(where: filter), startsNow: true, credit: 16, follows: true),
                HistoryRequest(
                    HistoryFetch(after: .sample(4), includesChanges: false), credit: 16,
                    follows: true),
            ])
        client.close()
    }

    @Test("a wait for a feed's event that times out leaves the feed open")
    func polling() async throws {
        let hasPolled = Flag()
        let server = try ScriptedServer { peer, _ in
            try peer.greet()
            let (id, _) = try Self.history(peer)
            hasPolled.wait()
            try peer.reply(id, Self.reply([1]))
            // A cancellation would arrive before this request.
            let next = try peer.receiveFirst()
            #expect(next.request == .ping)
            try peer.reply(to: next)
            while peer.receive() != nil {}
        }
        defer { server.stop() }
        let client = try await StoreClient.connect(to: server.path, options: .longTimeouts())
        let feed = client.changes(after: .sample(0))
        #expect(try await feed.nextEvent(timeout: .milliseconds(1)) == nil)
        await inThread {
            let none = try feed.nextEvent(timeout: .milliseconds(1))
            hasPolled.raise()
            let event = try feed.nextEvent()
            #expect(none == nil && event == .transaction(.sample(1, 1...1)))
        }
        try await client.ping()
        client.close()
    }

    @Test("a feed grants credit as replies are taken, so that a server need not pause")
    func credit() throws {
        let server = try ScriptedServer { peer, _ in
            try peer.greet()
            let (id, _) = try Self.history(peer)
            for number: Int64 in 1...16 { try peer.reply(id, Self.reply([number])) }
            for _ in 0..<2 {
                #expect(peer.receive()?.request == .credit(requestID: id, batches: 8))
            }
            try peer.reply(id, Self.reply([17]))
            while peer.receive() != nil {}
        }
        defer { server.stop() }
        let client = try StoreClient.connect(to: server.path, options: .longTimeouts())
        let feed = client.changes(after: .sample(0))
        for number: Int64 in 1...17 { #expect(try feed.next()?.id == number) }
        client.close()
    }

    @Test("a feed continues after the last whole transaction when a connection is lost")
    func interruption() throws {
        let tokens = Recorder<HistoryToken?>()
        let server = try ScriptedServer { peer, number in
            try peer.greet()
            let (id, request) = try Self.history(peer)
            tokens.append(request.fetch.after)
            if number == 1 {
                try peer.reply(id, Self.reply([5, 6], isCurrent: true))
                return try peer.reply(id, Self.reply([8], upTo: 7, isPartial: true))
            }
            if number == 2 { return try peer.reply(id, .failed(LarderError(.unavailable, "stop"))) }
            try peer.reply(id, Self.reply([8, 9], isCurrent: true))
            while peer.receive() != nil {}
        }
        defer { server.stop() }
        let client = try StoreClient.connect(to: server.path, options: .longTimeouts())
        let feed = client.changes()
        var events: [ChangeFeed.Event] = []
        var positions: [Int64?] = []
        while positions.last != 9, let event = try feed.nextEvent() {
            events.append(event)
            positions.append(feed.position?.number)
        }
        guard events.count == 7, case .interrupted = events[3] else {
            Issue.record("\(events)")
            return
        }
        events.remove(at: 3)
        let transactions = [5, 6, 8, 9].map { HistoryTransaction.sample($0, $0...$0) }
        #expect(
            events == [
                .transaction(transactions[0]), .transaction(transactions[1]),
                .current(.sample(6)), .resumed(after: .sample(7)),
                .transaction(transactions[2]), .transaction(transactions[3]),
            ])
        #expect(tokens.entries == [nil, .sample(7), .sample(7)])
        #expect(try feed.nextEvent() == .current(.sample(9)))
        client.close()
    }

    @Test("an error of its request ends a feed")
    func failure() throws {
        let server = try ScriptedServer { peer, _ in
            try peer.greet()
            let (id, _) = try Self.history(peer)
            try peer.reply(id, .failed(LarderError(.tokenExpired, "deleted")))
            while peer.receive() != nil {}
        }
        defer { server.stop() }
        let client = try StoreClient.connect(to: server.path, options: .longTimeouts())
        let feed = client.changes(after: .sample(1))
        #expect(code { _ = try feed.next() } == .tokenExpired)
        #expect(try feed.next() == nil)
        #expect(server.connectionCount == 1)
        client.close()
    }

    @Test("cancelling a feed tells the server, and ends a waiting call")
    func cancel() async throws {
        let isWaiting = Flag()
        let wasCancelled = Recorder<Request?>()
        let server = try ScriptedServer { peer, _ in
            try peer.greet()
            let (id, _) = try Self.history(peer)
            isWaiting.raise()
            wasCancelled.append(peer.receive()?.request)
            try peer.reply(id, .failed(LarderError(.cancelled, "cancelled")))
            while peer.receive() != nil {}
        }
        defer { server.stop() }
        let client = try await StoreClient.connect(to: server.path, options: .longTimeouts())
        let feed = client.changes()
        let canceller = Task {
            await inThread {
                isWaiting.wait()
                feed.cancel()
            }
        }
        await inThread {
            let transaction = try feed.next()
            #expect(transaction == nil)
        }
        await canceller.value
        #expect(eventually { wasCancelled.entries == [.cancel(requestID: 2)] })
        #expect(try await feed.next() == nil)
        client.close()
    }

    @Test("a cancelled task ends its feed with the error for cancellation")
    func cancelledTask() async throws {
        let server = try ScriptedServer { peer, _ in
            try peer.greet()
            while peer.receive() != nil {}
        }
        defer { server.stop() }
        let client = try await StoreClient.connect(to: server.path, options: .longTimeouts())
        let feed = client.changes()
        let task = Task { try await feed.next() }
        task.cancel()
        #expect(await asyncCode { _ = try await task.value } == .cancelled)
        #expect(try await feed.next() == nil)
        client.close()
    }

    @Test("a request for the history collects its pages, and joins parts of transactions")
    func history() throws {
        let server = try ScriptedServer { peer, _ in
            try peer.greet()
            let (id, request) = try Self.history(peer)
            #expect(request == HistoryRequest(HistoryFetch(limit: 3)))
            try peer.reply(id, Self.reply([1, 2], upTo: 1, isPartial: true))
            let end = HistoryReply([.sample(2, 7...7), .sample(3, 3...3)], upTo: .sample(3))
            try peer.reply(id, .history(end, more: false))
            while peer.receive() != nil {}
        }
        defer { server.stop() }
        let client = try StoreClient.connect(to: server.path, options: .longTimeouts())
        let history = try client.history(HistoryFetch(limit: 3))
        #expect(history.transactions.map(\.id) == [1, 2, 3] && history.position == .sample(3))
        #expect(history.transactions[1].changes.map(\.identifier) == [.item(2), .item(7)])
        client.close()
    }
}
