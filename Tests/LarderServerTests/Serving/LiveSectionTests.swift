import LarderModel
import LarderWire
import Testing

@testable import LarderServer

extension SocketTests {
    @Suite("Sections of observed queries")
    struct LiveSectionTests {
        private struct Unexpected: Error {
            let reply: ReplyEnvelope?
        }

        /// A request for all items, of which each has its number as its section.
        private static func request(isSectioned: Bool = true) throws -> Request {
            let fetch = Fetch("Item", sort: [SortKey("number")])
            return .observe(
                ObserveRequest(try QueryRequest(.fetch(fetch)), isSectioned: isSectioned))
        }

        private func receive(_ peer: Peer) throws -> ObserveReply {
            let envelope = try peer.receive()
            guard case .observed(let reply, more: true)? = envelope?.reply else {
                throw Unexpected(reply: envelope)
            }
            return reply
        }

        private func insert(_ peer: Peer, _ number: Int64) throws {
            #expect(try peer.call(.insert(number))?.errorCode == nil)
        }

        /// The section of each row.
        private func sections(_ reply: ObserveReply) -> [Value]? {
            reply.sections?.rows(store: reply.position.store).map { $0.values[0] }
        }

        @Test("a whole live result has the section of each row in each of its replies")
        func whole() async throws {
            try await RunningServer.run { limits in
                limits.batchBytesMax = 240
            } _: { running in
                let (peer, writer) = (try running.ready(), try running.ready())
                for number: Int64 in (1...25).reversed() { try insert(writer, number / 10) }
                try peer.send(Self.request())
                let parts = try (0..<3).map { _ in try receive(peer) }
                #expect(parts.map { $0.rows?.rowCount } == [10, 10, 5])
                let values = parts.compactMap { sections($0) }.flatMap { $0 }
                #expect(values == (1...25).map { .int($0 / 10) })
                #expect(parts[0].sections?.columns.map(\.name) == ["section"])
            }
        }

        @Test("a live change has the section of each inserted row, and no rows have no sections")
        func change() async throws {
            try await RunningServer.run { running in
                let (peer, writer) = (try running.ready(), try running.ready())
                try peer.send(Self.request())
                let empty = try receive(peer)
                #expect(empty.begins && empty.ends && empty.sections == nil)
                for number: Int64 in [7, 5] {
                    try insert(writer, number)
                    let change = try receive(peer)
                    #expect(change.newIndexes == [0] && sections(change) == [.int(number)])
                }
            }
        }

        @Test("observers with and without sections do not share a query")
        func sharing() async throws {
            try await RunningServer.run { running in
                let (peer, writer) = (try running.ready(), try running.ready())
                try insert(writer, 7)
                for (isSectioned, count) in [(true, 1), (true, 1), (false, 2)] as [(Bool, Int64)] {
                    try peer.send(Self.request(isSectioned: isSectioned))
                    let reply = try receive(peer)
                    #expect(sections(reply) == (isSectioned ? [7] : nil))
                    #expect(try writer.metric("liveQueries") == count)
                }
            }
        }

        @Test("sections are refused for a fetch without a sort key, and for other queries")
        func refused() async throws {
            try await RunningServer.run { running in
                let peer = try running.ready()
                func code(_ query: Query) throws -> ErrorCode? {
                    let request = ObserveRequest(try QueryRequest(query), isSectioned: true)
                    return try peer.call(.observe(request))?.errorCode
                }
                #expect(try code(.fetch(Fetch("Item"))) == .unsupported)
                #expect(try code(.count(entityName: "Item", predicate: nil)) == .unsupported)
                let values = Fetch(
                    "Item", sort: [SortKey("number")], selection: .values(["number"]))
                #expect(try code(.fetch(values)) == .unsupported)
                try peer.wait(until: "liveQueries", is: 0)
            }
        }
    }
}
