import LarderModel
import LarderQuery
import LarderWire
import TestSupport
import Testing

@testable import LarderServer

extension SocketTests {
    @Suite("Clients of a former schema")
    struct FormerSchemaTests {
        private struct Unexpected: Error {
            let reply: Reply?
        }

        private static func schema(_ version: String, _ entityName: String) throws -> Schema {
            try Schema(
                version: version,
                entities: [
                    Entity(
                        name: entityName, attributes: [Attribute(name: "number", type: .int64)])
                ])
        }

        /// The former schemas 0.9.0, which has items, and 0.8.0, which has none.
        private static func run(
            eventLoops: Int? = nil, _ body: (RunningServer) throws -> Void
        ) async throws {
            var options = FakeStore.Options()
            options.formerSchemas = [try schema("0.9.0", "Item"), try schema("0.8.0", "Other")]
            try await RunningServer.run(options, eventLoops: eventLoops, body)
        }

        private func connect(
            _ running: RunningServer, _ version: String, fingerprint: String = ""
        ) throws -> (peer: Peer, reply: Reply?) {
            let peer = try running.connect()
            let hello = Hello(
                clientName: "test", schemaVersion: version, schemaFingerprint: fingerprint)
            return (peer, try peer.call(.hello(hello)))
        }

        private func ready(_ running: RunningServer, _ version: String) throws -> Peer {
            let (peer, reply) = try connect(running, version)
            guard case .welcome? = reply else { throw Unexpected(reply: reply) }
            return peer
        }

        /// The columns of the reply to a `get` of the first item.
        private func columns(_ running: RunningServer, _ peer: Peer) throws -> [String] {
            let reply = try peer.call(.get([running.store.identifier(1)], properties: nil))
            guard case .batches(let batches, _)? = reply else { throw Unexpected(reply: reply) }
            return batches.flatMap { $0.columns.map(\.name) }
        }

        @Test("a client of a former schema gets its description, and unknown schemas are refused")
        func handshake() async throws {
            try await Self.run { running in
                let (peer, reply) = try connect(running, "0.9.0")
                guard case .welcome(let welcome)? = reply else { throw Unexpected(reply: reply) }
                let schema = try Self.schema("0.9.0", "Item")
                #expect(welcome.schemaVersion == "0.9.0")
                #expect(welcome.schemaFingerprint == schema.fingerprint)
                #expect(welcome.storeIdentifier == running.store.storeDescription.identifier)
                #expect(try peer.call(.schema) == .schema(schema.canonicalText))
                #expect(try peer.call(.ping) == .pong)
                let (_, byFingerprint) = try connect(
                    running, "", fingerprint: schema.fingerprint)
                #expect(byFingerprint == reply)
                let (refused, failure) = try connect(running, "0.7.0")
                guard case .failed(let error)? = failure else { throw Unexpected(reply: failure) }
                #expect(error.code == .schemaMismatch)
                #expect(error.message.contains("0.7.0") && error.message.contains("1.0.0"))
                #expect(try refused.receive() == nil)
                // Without an expectation a client has the current schema.
                let current = try running.ready()
                #expect(try current.call(.schema) == .schema(running.schemaText))
            }
        }

        @Test("a client of a former schema reads by it, on the loop, from caches and in the pool")
        func reads() async throws {
            try await Self.run(eventLoops: 1) { running in
                let (current, former) = (try running.ready(), try ready(running, "0.9.0"))
                let other = try ready(running, "0.8.0")
                #expect(try current.call(.insert(7))?.errorCode == nil)
                running.store.records.state.withLock { $0.stamp = 1 }
                // The first, a repeated and a cached request: no cache mixes the schemas.
                for _ in 0..<4 {
                    #expect(try columns(running, current) == ["number"])
                    #expect(try columns(running, former) == ["number 0.9.0"])
                    #expect(try columns(running, other) == ["number 0.8.0"])
                }
                #expect(try #require(try current.metric("replyCacheHits")) > 0)
                let many = (1...1_001).map { running.store.identifier($0) }
                let pooled = try former.call(.get(many, properties: nil))
                guard case .batches(let batches, _)? = pooled else {
                    throw Unexpected(reply: pooled)
                }
                #expect(batches.flatMap { $0.columns.map(\.name) } == ["number 0.9.0"])

                let plans = running.store.records[\.plans]
                for _ in 0..<3 {
                    #expect(try current.call(.fetch("rows 3"))?.rowCount == 3)
                    #expect(try former.call(.fetch("rows 3"))?.rowCount == 1)
                    #expect(try other.call(.fetch("rows 3"))?.errorCode == .unknownEntity)
                }
                // A plan of each view is cached; an error is not.
                #expect(running.store.records[\.plans] == plans + 5)
            }
        }

        @Test("clients of former schemas share the readers of the store with other clients")
        func readers() async throws {
            try await Self.run(eventLoops: 1) { running in
                let current = try running.ready()
                #expect(try current.call(.fetch("rows 1"))?.rowCount == 1)
                let readers = running.store.records[\.readersOpen]
                for version in ["0.9.0", "0.8.0"] {
                    _ = try columns(running, try ready(running, version))
                }
                #expect(running.store.records[\.readersOpen] == readers)
            }
        }

        @Test("the caches of a former schema are released with its last client")
        func release() async throws {
            try await Self.run(eventLoops: 1) { running in
                func items() throws -> Request {
                    .query(try QueryRequest(.fetch(Fetch("Item"))))
                }
                let current = try running.ready()
                do {
                    let (one, two) = (try ready(running, "0.9.0"), try ready(running, "0.9.0"))
                    for peer in [one, two] { #expect(try peer.call(items())?.rowCount == 0) }
                    // Both use the same plan.
                    #expect(running.store.records[\.itemPlans] == 1)
                    one.close()
                    try current.wait(until: "connections", is: 2)
                    #expect(running.store.records[\.itemPlans] == 1)
                    two.close()
                }
                try current.wait(until: "connections", is: 1)
                #expect(eventually { running.store.records[\.itemPlans] == 0 })
                #expect(try ready(running, "0.9.0").call(items())?.rowCount == 0)
            }
        }

        @Test("a client of a former schema saves through the view of that schema")
        func writes() async throws {
            try await Self.run { running in
                let (current, former) = (try running.ready(), try ready(running, "0.9.0"))
                #expect(try former.call(.insert(1))?.errorCode == nil)
                #expect(try current.call(.insert(2))?.errorCode == nil)
                #expect(running.store.records[\.views] == ["0.9.0", nil])
                let rows = try ready(running, "0.8.0").call(.insertRows(Insertion("Item")))
                #expect(rows?.errorCode == .unknownEntity)
            }
        }

        @Test("a client of a former schema follows a history without unknown entities")
        func feed() async throws {
            try await Self.run { running in
                let writer = try running.ready()
                let peers = [
                    try running.ready(), try ready(running, "0.9.0"), try ready(running, "0.8.0"),
                ]
                let request = HistoryRequest(HistoryFetch(), startsNow: true, follows: true)
                for peer in peers {
                    let reply = try peer.call(.history(request))
                    guard case .history(_, more: true)? = reply else {
                        throw Unexpected(reply: reply)
                    }
                }
                for number: Int64 in 1...3 {
                    #expect(try writer.call(.insert(number))?.errorCode == nil)
                }
                for peer in peers[..<2] {
                    var numbers: [Int64] = []
                    while numbers.count < 3 {
                        let reply = try peer.receive()?.reply
                        guard case .history(let page, _)? = reply else {
                            throw Unexpected(reply: reply)
                        }
                        numbers += page.transactions.map(\.id)
                    }
                    #expect(numbers == [1, 2, 3])
                }
                let whole = try peers[2].call(.history(HistoryRequest(HistoryFetch())))
                guard case .history(let page, more: false)? = whole else {
                    throw Unexpected(reply: whole)
                }
                #expect(page.transactions.isEmpty && page.position.number == 3)
            }
        }

        @Test("clients of different schemas observe separate queries")
        func observers() async throws {
            let live = LiveQueryTests()
            try await Self.run { running in
                let (current, former) = (try running.ready(), try ready(running, "0.9.0"))
                for peer in [current, former] { _ = try live.observe(peer) }
                #expect(try running.ready().metric("liveQueries") == 2)
                try live.insert(try running.ready(), 5)
                for peer in [current, former] {
                    let reply = try peer.receive()?.reply
                    guard case .observed(let change, more: true)? = reply else {
                        throw Unexpected(reply: reply)
                    }
                    #expect(LiveQueryTests.numbers(change.rows) == [5])
                }
                let other = try ready(running, "0.8.0")
                #expect(try other.call(LiveQueryTests.fetch())?.errorCode == .unknownEntity)
            }
        }
    }
}
