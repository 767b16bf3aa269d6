import LarderModel
import LarderWire
import Testing

@testable import LarderServer

extension SocketTests {
    @Suite("Frames that are too long for an event loop")
    struct LongFrameTests {
        /// A change set whose frame is decoded on a thread of the pool.
        private static func long(_ number: Int64) -> Request {
            .save(
                ChangeSet(
                    (0..<2_000).map { index in
                        .insert(
                            PersistentIdentifier(temporary: "\(index)", entityName: "Item"),
                            values: ["number": .int(number)])
                    }))
        }

        @Test("the requests of a connection keep their order, also those in long frames")
        func order() async throws {
            try await RunningServer.run { running in
                let peer = try running.ready()
                for number in 1...5 as ClosedRange<Int64> {
                    try peer.send(Self.long(number))
                    try peer.send(.insert(-number))
                }
                for _ in 1...10 { #expect(try peer.receive()?.reply.errorCode == nil) }
                let numbers = running.store.records[\.numbers]
                #expect((1...5).map { numbers[$0 * 2_001] } == [-1, -2, -3, -4, -5])
            }
        }

        @Test("a malformed long frame gets its error, and the connection stays open")
        func malformed() async throws {
            try await RunningServer.run { running in
                let peer = try running.ready()
                var frame: [UInt8] = []
                try WireCodec().encode(
                    RequestEnvelope(id: 1, request: Self.long(1)), into: &frame)
                let end = (frame.count - 100)..<frame.count
                frame.replaceSubrange(end, with: repeatElement(0xFF, count: 100))
                try peer.send(frame)
                let reply = try peer.receive()
                #expect(reply?.id == 1 && reply?.reply.errorCode == .malformedMessage)
                #expect(try peer.call(.ping) == .pong)
            }
        }

        @Test("a query in a long frame is planned and read in the pool")
        func query() async throws {
            try await RunningServer.run { limits in
                limits.loopReadBytesMax = 20
            } _: { running in
                let peer = try running.ready()
                #expect(try peer.call(.fetch("rows 3"))?.rowCount == 3)
                #expect(try peer.metric("inlineReads") == 0)
            }
        }

        @Test("a connection that closes while its long frame is decoded is released")
        func closed() async throws {
            try await RunningServer.run { running in
                let other = try running.ready()
                for number in 1...20 as ClosedRange<Int64> {
                    let peer = try running.ready()
                    try peer.send(Self.long(number))
                    peer.close()
                }
                try other.wait(until: "connections", is: 1)
                try other.wait(until: "requestMemoryBytes", is: 0)
            }
        }

        @Test("a long reply is encoded in the pool, and has the same bytes")
        func reply() async throws {
            try await RunningServer.run { limits in
                limits.loopReplyBytesMax = 100
            } _: { running in
                let peer = try running.ready()
                guard case .saved(let result)? = try peer.call(Self.long(1)) else {
                    Issue.record("not saved")
                    return
                }
                #expect(result.inserted.count == 2_000)
                #expect(try peer.call(.fetch("rows 1000"))?.rowCount == 1_000)
            }
        }
    }
}
