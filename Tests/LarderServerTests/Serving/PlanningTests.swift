import LarderModel
import LarderWire
import Testing

@testable import LarderServer

extension SocketTests {
    @Suite("Planning on an event loop")
    struct PlanningTests {
        private static func shapeBytes(of text: String) throws -> Int {
            guard case .query(let request) = try Request.fetch(text) else { return 0 }
            return request.shape.byteCount
        }

        @Test("a query one byte longer than an event loop plans is planned and read on the pool")
        func shapeBytesMax() async throws {
            let (short, long) = ("rows 3", "rows 33")
            let maximum = try Self.shapeBytes(of: short)
            #expect(try Self.shapeBytes(of: long) == maximum + 1)
            try await RunningServer.run(eventLoops: 1) { limits in
                limits.loopShapeBytesMax = maximum
            } _: { running in
                let peer = try running.ready()
                #expect(try peer.call(.fetch(long))?.rowCount == 33)
                #expect(try peer.metric("planCacheMisses") == 0)
                #expect(try peer.metric("inlineReads") == 0)
                #expect(try peer.call(.fetch(short))?.rowCount == 3)
                #expect(try peer.metric("planCacheMisses") == 1)
                #expect(try peer.metric("inlineReads") == 1)
            }
        }

        @Test("the memory of the plan of a query is charged to its user until the query has ended")
        func planMemory() async throws {
            let gate = Gate()
            try await RunningServer.run(
                FakeStore.Options(slowReads: gate), eventLoops: 1
            ) { limits in
                limits.loopShapeBytesMax = 0
            } _: { running in
                let peer = try running.ready()
                let other = try running.ready()
                let text = "slow" + String(repeating: " x", count: 1_000)
                try peer.send(.fetch(text))
                try other.wait(
                    until: "requestMemoryBytes", isAtLeast: Int64(text.utf8.count) * 32)
                gate.open()
                #expect(try peer.receive()?.reply.errorCode == nil)
                try other.wait(until: "requestMemoryBytes", is: 0)
            }
        }

        @Test("the plans of one user take a bounded memory, and leave those of others in the cache")
        func cachedPlans() async throws {
            try await RunningServer.run(eventLoops: 1) { limits in
                limits.planMemory = SharedLimit(20_000, userShare: 0.5)
            } _: { running in
                let other = try running.ready(as: 2)
                #expect(try other.call(.fetch("rows 1"))?.rowCount == 1)
                let peer = try running.ready(as: 1)
                for number in 0..<500 {
                    #expect(try peer.call(.fetch("rows 1 word\(number)"))?.rowCount == 1)
                }
                #expect(try peer.metric("planCacheBytes") ?? .max <= 20_000)
                let hits = try peer.metric("planCacheHits")
                #expect(try other.call(.fetch("rows 1"))?.rowCount == 1)
                #expect(try peer.metric("planCacheHits") == hits.map { $0 + 1 })
            }
        }
    }
}
