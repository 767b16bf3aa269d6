import Glibc
import LarderModel
import TestSupport
import Testing

@testable import LarderServer
@testable import LarderWire

extension SocketTests {
    @Suite("The statistics of queries")
    struct QueryStatisticsTests {
        private func statistics(
            _ peer: Peer, resetting: Bool = false
        ) throws -> QueryStatistics {
            guard
                case .queryStatistics(let list)? = try peer.call(
                    .queryStatistics(reset: resetting))
            else { throw LarderError(.malformedMessage, "no statistics") }
            return list
        }

        private func statistic(_ query: String, _ peer: Peer) throws -> QueryStatistic? {
            try statistics(peer).statistics.first { $0.query == query }
        }

        @Test("queries of all connections are counted by their shape, and gets by their properties")
        func counting() async throws {
            try await RunningServer.run(eventLoops: 2) { running in
                let peers = [try running.ready(as: 1), try running.ready(as: 2)]
                for peer in peers {
                    for _ in 0..<3 { _ = try peer.call(.fetch("rows 5")) }
                    _ = try peer.call(.fetch("heavy 2"))
                    _ = try peer.call(.get([running.store.identifier(1)], properties: nil))
                    _ = try peer.call(.get([running.store.identifier(1)], properties: ["number"]))
                }
                let list = try statistics(peers[0])
                #expect(list.evictedCount == 0)
                func row(_ query: String) throws -> QueryStatistic {
                    try #require(list.statistics.first { $0.query == query })
                }
                let rows = try row("fetch where rows %@")
                #expect(rows.callCount == 6 && rows.rowCount == 30 && rows.errorCount == 0)
                #expect(rows.entityName == "Item" && rows.cachedReplyCount == 0)
                #expect(rows.seconds > 0 && rows.percentile99Seconds >= rows.medianSeconds)
                let heavy = try row("fetch where heavy %@")
                #expect(heavy.callCount == 2 && heavy.rowCount == 2)
                #expect(try row("get").callCount == 2)
                #expect(try row("get number").callCount == 2)
                let seconds = list.statistics.map(\.seconds)
                #expect(seconds == seconds.sorted(by: >))
            }
        }

        @Test("a query that fails is counted as an error, and one that cannot be planned is not")
        func errors() async throws {
            try await RunningServer.run { running in
                let peer = try running.ready()
                _ = try peer.call(.fetch("fails"))
                _ = try peer.call(.fetch("fails"))
                let unreadable = QueryRequest(
                    shape: QueryShape(bytes: [1]), parameters: QueryParameters())
                #expect(try peer.call(.query(unreadable))?.errorCode != nil)
                let list = try statistics(peer).statistics
                #expect(list.map(\.query) == ["fetch where fails"])
                #expect(list.map(\.callCount) == [2] && list.map(\.errorCount) == [2])
            }
        }

        @Test("a reply from the cache is a call with one row, and is counted as cached")
        func cached() async throws {
            try await RunningServer.run { running in
                running.store.records.state.withLock { $0.stamp = 1 }
                let peer = try running.ready()
                _ = try peer.call(.insert(7))
                for _ in 0..<5 {
                    _ = try peer.call(.get([running.store.identifier(1)], properties: nil))
                }
                let row = try #require(try statistic("get", peer))
                #expect(row.callCount == 5 && row.rowCount == 5)
                #expect(row.cachedReplyCount == 3)
            }
        }

        @Test("a query that its client cancels is an error with the rows that were read")
        func cancelled() async throws {
            try await RunningServer.run { running in
                let peer = try running.ready()
                let id = try peer.send(.fetch("rows 100000", credit: 1))
                #expect(try peer.receive()?.reply.errorCode == nil)
                try peer.send(.cancel(requestID: id))
                #expect(try peer.receive()?.reply.errorCode == .cancelled)
                let row = try #require(try statistic("fetch where rows %@", peer))
                #expect(row.callCount == 1 && row.errorCount == 1)
                #expect(row.rowCount > 0 && row.rowCount < 100_000)
            }
        }

        @Test("root and the user of the server reset the statistics, and other users do not")
        func reset() async throws {
            try await RunningServer.run { running in
                let other = try running.ready(as: 7)
                _ = try other.call(.fetch("rows 1"))
                let refused = try other.call(.queryStatistics(reset: true))
                #expect(refused?.errorCode == .permissionDenied)
                for user in [0, geteuid()] {
                    let peer = try running.ready(as: user)
                    _ = try other.call(.fetch("rows 1"))
                    let before = try statistics(peer, resetting: true)
                    #expect(!before.statistics.isEmpty)
                    let after = try statistics(peer)
                    #expect(after.statistics.isEmpty)
                    #expect(after.since > before.since)
                }
            }
        }

        @Test("the number and the memory of shapes are limited, and are metrics")
        func limits() async throws {
            try await RunningServer.run(eventLoops: 1) { limits in
                limits.queryShapesMax = 3
            } _: { running in
                let peer = try running.ready()
                for number in 0..<5 { _ = try peer.call(.fetch("rows \(number)")) }
                #expect(try peer.metric("queryShapes") == 3)
                #expect(try peer.metric("queryShapesEvicted") == 2)
                let bytes = try #require(try peer.metric("queryShapeBytes"))
                #expect(bytes > 2_000 && bytes < 6_000)
                // They are the same query but for a literal.
                let row = try #require(try statistics(peer).statistics.first)
                #expect(row.query == "fetch where rows %@" && row.callCount == 3)
            }
        }
    }
}
