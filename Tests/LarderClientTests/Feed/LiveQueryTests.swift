import LarderModel
import LarderWire
import TestSupport
import Testing

@testable import LarderClient

@Suite("An observed query")
struct LiveQueryTests {
    /// The request to observe, which must be the next one.
    private static func observe(_ peer: Peer) throws -> (id: UInt64, request: ObserveRequest) {
        let envelope = try peer.receiveFirst()
        guard case .observe(let request) = envelope.request else { throw Peer.Unexpected(envelope) }
        return (envelope.id, request)
    }

    private static func whole(_ keys: [Int64], at number: Int64 = 1) -> Reply {
        .observed(
            ObserveReply(.items(keys), at: .sample(number), begins: true, ends: true), more: true)
    }

    private static func insertion(_ key: Int64, at index: UInt32) -> Reply {
        .observed(
            ObserveReply(
                .items([key]), at: .sample(key), newIndexes: [index], oldIndexes: [0],
                moved: [false]), more: true)
    }

    private func keys(_ result: LiveResult?) -> [Int64]? {
        result?.rows.compactMap(\.identifier.permanentKey)
    }

    /// A client of a server that observes and then replies by a script.
    private static func server(
        _ script: @escaping @Sendable (Peer, _ id: UInt64, _ connection: Int) throws -> Void
    ) throws -> (server: ScriptedServer, client: StoreClient) {
        let server = try ScriptedServer { peer, number in
            try peer.greet()
            try script(peer, try observe(peer).id, number)
        }
        return (server, try StoreClient.connect(to: server.path, options: .longTimeouts()))
    }

    @Test("a request to observe has the query, a window as credit, and the interval")
    func request() throws {
        let seen = Recorder<ObserveRequest>()
        let server = try ScriptedServer { peer, _ in
            try peer.greet()
            for _ in 0..<3 {
                let (id, request) = try Self.observe(peer)
                seen.append(request)
                try peer.reply(id, Self.whole([]))
            }
            while peer.receive() != nil {}
        }
        defer { server.stop() }
        let client = try StoreClient.connect(to: server.path, options: .longTimeouts())
        let fetch = Fetch("Item", where: .format("number > %@"))
        let parameters = QueryParameters(arguments: [3], limit: 5)
        let results = client.observe(fetch, parameters, every: .milliseconds(250))
        #expect(try results.next()?.rows == [])
        let values = client.observeValues(.count(entityName: "Item", predicate: nil))
        #expect(try values.next()?.isEmpty == true)
        let ordered = Fetch("Item", sort: [SortKey("name")])
        let sections = client.observe(ordered, sectionedBy: SortKey("number", descending: true))
        #expect(try sections.next()?.sections == [])
        #expect(
            seen.entries == [
                ObserveRequest(
                    try QueryRequest(.fetch(fetch), parameters, credit: 16),
                    intervalMilliseconds: 250),
                ObserveRequest(
                    try QueryRequest(.count(entityName: "Item", predicate: nil), credit: 16)),
                ObserveRequest(
                    try QueryRequest(
                        .fetch(
                            Fetch(
                                "Item",
                                sort: [SortKey("number", descending: true), SortKey("name")])),
                        credit: 16), isSectioned: true),
            ])
        client.close()
    }

    @Test("an observed query reports the difference to its last result when a connection is lost")
    func interruption() throws {
        let (server, client) = try Self.server { peer, id, number in
            switch number {
            case 1:
                try peer.reply(id, Self.whole([1, 2]))
                try peer.reply(id, Self.insertion(3, at: 2))
                // Half of a whole result, which is discarded.
                let half = ObserveReply(.items([8, 9]), at: .sample(4), begins: true)
                try peer.reply(id, .observed(half, more: true))
            case 2: try peer.reply(id, .failed(LarderError(.unavailable, "stopping")))
            default:
                try peer.reply(id, Self.whole([2, 3, 4]))
                while peer.receive() != nil {}
            }
        }
        defer { server.stop() }
        let results = client.observe(Fetch("Item"))
        #expect(keys(try results.next()) == [1, 2])
        #expect(keys(try results.next()) == [1, 2, 3])
        let result = try results.next()
        #expect(keys(result) == [2, 3, 4])
        #expect(result?.deleted.map(\.index) == [0] && result?.inserted == [2])
        #expect(server.connectionCount == 3)
        client.close()
    }

    @Test(
        "a reply that does not fit an observed query ends it and cancels the request",
        arguments: [
            Self.insertion(9, at: 7), .pong, .history(HistoryReply(upTo: .sample(1)), more: true),
            .observed(ObserveReply(nil, at: .sample(1)), more: false),
        ])
    func unfitting(reply: Reply) throws {
        let cancelled = Recorder<Bool>()
        let (server, client) = try Self.server { peer, id, _ in
            try peer.reply(id, Self.whole([1]))
            try peer.reply(id, reply)
            while let request = peer.receive()?.request {
                cancelled.append(request == .cancel(requestID: id))
            }
        }
        defer { server.stop() }
        let results = client.observe(Fetch("Item"))
        #expect(keys(try results.next()) == [1])
        #expect(code { _ = try results.next() } == .malformedMessage)
        #expect(try results.next() == nil)
        client.close()
        server.stop()
        #expect(cancelled.entries.allSatisfy { $0 })
    }

    @Test("rows without sections, or a section in two parts, end an observed query")
    func unfittingSections() throws {
        let split = Batch(
            rowCount: 3,
            columns: [
                Column(
                    name: "section", kind: .attribute(.int64), storage: .integers([1, 2, 1]))
            ])
        for sections in [nil, split] {
            let (server, client) = try Self.server { peer, id, _ in
                let whole = ObserveReply(
                    .items([1, 2, 3]), sections: sections, at: .sample(1), begins: true, ends: true)
                try peer.reply(id, .observed(whole, more: true))
                while peer.receive() != nil {}
            }
            defer { server.stop() }
            let results = client.observe(Fetch("Item"), sectionedBy: "number")
            #expect(code { _ = try results.next() } == .malformedMessage)
            #expect(try results.next() == nil)
            client.close()
        }
    }

    @Test("the rows of an observed count are whole, and may come in parts")
    func values() throws {
        let (server, client) = try Self.server { peer, id, _ in
            for number: Int64 in 1...2 {
                let first = ObserveReply(.total(number), at: .sample(number), begins: true)
                let last = ObserveReply(.total(10 * number), at: .sample(number), ends: true)
                for reply in [first, last] { try peer.reply(id, .observed(reply, more: true)) }
            }
            while peer.receive() != nil {}
        }
        defer { server.stop() }
        let values = client.observeValues(.count(entityName: "Item", predicate: nil))
        #expect(try values.next()?.map(\.values) == [[1], [10]])
        #expect(try values.next()?.map(\.values) == [[2], [20]])
        values.cancel()
        #expect(try values.next() == nil)
        client.close()
    }

    @Test("an observed count ends if the server sends a change instead of whole rows")
    func changedValues() throws {
        let (server, client) = try Self.server { peer, id, _ in
            try peer.reply(id, Self.whole([1]))
            try peer.reply(id, Self.insertion(2, at: 1))
            while peer.receive() != nil {}
        }
        defer { server.stop() }
        let values = client.observeValues(.count(entityName: "Item", predicate: nil))
        #expect(try values.next()?.count == 1)
        #expect(code { _ = try values.next() } == .malformedMessage)
        #expect(try values.next() == nil)
        client.close()
    }

    @Test("a fetch of objects cannot be observed as values, nor other queries as objects")
    func wrongForm() throws {
        let server = try ScriptedServer { peer, _ in
            try peer.greet()
            #expect(peer.receive() == nil)
        }
        defer { server.stop() }
        let client = try StoreClient.connect(to: server.path, options: .longTimeouts())
        #expect(code { _ = try client.observeValues(.fetch(Fetch("Item"))).next() } == .unsupported)
        let years = Fetch("Item", selection: .values(["number"]))
        for fetch in [years, Fetch("Item", selection: .columns(["number"]), isDistinct: true)] {
            let results = client.observe(fetch)
            #expect(code { _ = try results.next() } == .unsupported)
            #expect(try results.next() == nil)
        }
        client.close()
    }

    @Test("cancelling an observed query ends a waiting call, and a timeout leaves it open")
    func cancel() async throws {
        let isWaiting = Flag()
        let requests = Recorder<Request?>()
        let (server, client) = try Self.server { peer, id, _ in
            isWaiting.raise()
            requests.append(peer.receive()?.request)
            try peer.reply(id, .failed(LarderError(.cancelled, "cancelled")))
            while peer.receive() != nil {}
        }
        defer { server.stop() }
        let results = client.observe(Fetch("Item"))
        #expect(try await results.next(timeout: .milliseconds(1)) == nil)
        let canceller = Task {
            await inThread {
                isWaiting.wait()
                results.cancel()
            }
        }
        await inThread {
            let result = try results.next()
            #expect(result == nil)
        }
        await canceller.value
        #expect(eventually { requests.entries == [.cancel(requestID: 2)] })
        #expect(try await results.next() == nil)
        client.close()
    }

    @Test("an error of its query ends an observed query")
    func failure() throws {
        let (server, client) = try Self.server { peer, id, _ in
            try peer.reply(id, .failed(LarderError(.unsupported, "an offset")))
            while peer.receive() != nil {}
        }
        defer { server.stop() }
        let results = client.observe(Fetch("Item"), QueryParameters(offset: 1))
        #expect(code { _ = try results.next() } == .unsupported)
        #expect(try results.next() == nil)
        client.close()
    }
}
