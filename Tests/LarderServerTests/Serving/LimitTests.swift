import LarderModel
import LarderWire
import Testing

@testable import LarderServer

extension SocketTests {
    @Suite("Limits of a server")
    struct LimitTests {
        @Test("one connection above the maximum is refused, and accepted after another has closed")
        func connections() async throws {
            try await RunningServer.run { limits in
                limits.connections = SharedLimit(2, userShare: 1)
            } _: { running in
                let first = try running.ready()
                let second = try running.ready()
                #expect(try running.connect().receiveUntilClosed() == [.resourceExhausted])
                first.close()
                // A refused peer may find its socket closed before it has sent anything.
                var isWelcome = false
                while !isWelcome {
                    if case .welcome? = try? running.connect().shakeHands() { isWelcome = true }
                }
                #expect(try second.call(.ping) == .pong)
            }
        }

        @Test("one connection above the maximum of a user is refused")
        func connectionsPerUser() async throws {
            try await RunningServer.run { limits in
                limits.connections.userShare = 1 / 1_024
            } _: { running in
                let peer = try running.ready()
                #expect(try running.connect().receiveUntilClosed() == [.resourceExhausted])
                #expect(try peer.call(.ping) == .pong)
            }
        }

        @Test("one connection without a handshake above the maximum is refused")
        func handshakesPending() async throws {
            try await RunningServer.run { limits in
                limits.handshakes = SharedLimit(2, userShare: 0.5)
            } _: { running in
                let pending = try running.connect()
                #expect(try running.connect().receiveUntilClosed() == [.resourceExhausted])
                try pending.shakeHands()
                let ready = try running.ready()
                #expect(try ready.call(.ping) == .pong)
            }
        }

        @Test("a client that sends no handshake in time is disconnected")
        func handshakeTime() async throws {
            try await RunningServer.run { limits in
                limits.handshakeTimeMax = .milliseconds(10)
            } _: { running in
                let peer = try running.connect()
                // The time may be over already.
                try? peer.send([0, 0])
                #expect(try peer.receiveUntilClosed() == [.handshakeRequired])
            }
        }

        @Test("a frame one byte too long ends the connection before its bytes have arrived")
        func frames() async throws {
            try await RunningServer.run { limits in
                limits.frameBytesMax = 100
            } _: { running in
                let peer = try running.ready()
                try peer.send([0, 0, 0, 101])
                #expect(try peer.receiveUntilClosed() == [.frameTooLong])
                let new = try running.connect()
                try new.send([0, 1, 0, 1])
                #expect(try new.receiveUntilClosed() == [.frameTooLong])
                for length in [[0x80, 0, 0, 0], [0xFF, 0xFF, 0xFF, 0xFF]] as [[UInt8]] {
                    let peer = try running.connect()
                    try peer.send(length)
                    #expect(try peer.receiveUntilClosed() == [.frameTooLong])
                }
            }
        }

        @Test("a frame without content is malformed")
        func emptyFrame() async throws {
            try await RunningServer.run { running in
                let peer = try running.connect()
                try peer.send([0, 0, 0, 0])
                #expect(try peer.receiveUntilClosed().count == 1)
            }
        }

        @Test("replies above the hard maximum that a client does not read end its connection")
        func queuedBytes() async throws {
            try await RunningServer.run { limits in
                limits.queuedBytesSoftMax = 64 << 10
                limits.queuedBytesMax = 100 << 10
            } _: { running in
                let peer = try running.ready()
                try peer.send(.fetch("rows 10000000"))
                try Self.waitForCursors(running)
                #expect(try peer.receiveUntilClosed() == [.resourceExhausted])
            }
        }

        @Test("replies that stay above the soft maximum for too long end the connection")
        func queuedBytesSoft() async throws {
            try await RunningServer.run { limits in
                limits.queuedBytesSoftMax = 64 << 10
                limits.queuedBytesSoftTimeMax = .milliseconds(10)
            } _: { running in
                let peer = try running.ready()
                try peer.send(.fetch("rows 10000000"))
                try Self.waitForCursors(running)
                #expect(try peer.receiveUntilClosed() == [.resourceExhausted])
            }
        }

        @Test("a client that never reads its closing error is disconnected anyway")
        func closingError() async throws {
            try await RunningServer.run { limits in
                limits.queuedBytesSoftMax = 64 << 10
                limits.queuedBytesMax = 100 << 10
                limits.closingTimeMax = .milliseconds(10)
            } _: { running in
                let peer = try running.ready()
                try peer.send(.fetch("rows 10000000"))
                _ = try Self.soleConnection(running)
                #expect(try peer.receiveUntilClosed().isEmpty)
            }
        }

        /// A new connection, after the server has closed all others.
        private static func soleConnection(_ running: RunningServer) throws -> Peer {
            let peer = try running.ready()
            try peer.wait(until: "connections", is: 1)
            return peer
        }

        /// Returns when the stream that was started has ended, which another connection sees. The
        /// first batch is the attempt of the event loop, which finds that the result is long.
        private static func waitForCursors(_ running: RunningServer) throws {
            let other = try running.ready()
            while running.store.records[\.batches] < 2
                || running.store.records[\.cursorsOpen] > 0
            {
                _ = try other.call(.schema)
            }
        }

        @Test("replies above a user's maximum end the connection that adds to them")
        func queuedBytesPerUser() async throws {
            try await RunningServer.run { limits in
                limits.queuedBytesSoftMax = 64 << 10
                limits.memory = SharedLimit(100 << 10, userShare: 1)
            } _: { running in
                let peer = try running.ready()
                try peer.send(.fetch("rows 10000000"))
                try Self.waitForCursors(running)
                #expect(try peer.receiveUntilClosed() == [.resourceExhausted])
            }
        }

        @Test("an incomplete frame above a user's maximum ends its connection and frees its bytes")
        func inputBytesPerUser() async throws {
            try await RunningServer.run { limits in
                limits.memory = SharedLimit(300 << 10, userShare: 1)
            } _: { running in
                let part = [0, 16, 0, 0] + [UInt8](repeating: 0, count: 200 << 10)
                let first = try running.ready()
                try first.send(part)
                let other = try running.ready()
                // The length is not kept.
                try other.wait(until: "requestMemoryBytes", is: Int64(part.count - 4))
                let second = try running.ready()
                try second.send(part)
                #expect(try second.receiveUntilClosed() == [.resourceExhausted])
                first.close()
                try other.wait(until: "requestMemoryBytes", is: 0)
            }
        }

        @Test("a write above a user's maximum is refused, and the connection stays open")
        func writeBytesPerUser() async throws {
            try await RunningServer.run { limits in
                limits.memory = SharedLimit(10, userShare: 1)
            } _: { running in
                let peer = try running.ready()
                #expect(try peer.call(.insert(1))?.errorCode == .resourceExhausted)
                #expect(try peer.call(.ping) == .pong)
                #expect(running.store.records[\.numbers].isEmpty)
            }
        }

        @Test("a write above the queue's maximum is refused, and the others are executed")
        func writesQueued() async throws {
            let gate = Gate()
            try await RunningServer.run(.init(writes: gate)) { limits in
                limits.writesQueued = SharedLimit(1, userShare: 1)
            } _: { running in
                let peer = try running.ready()
                try peer.send(.insert(1))
                gate.waitForArrival()
                try peer.send(.insert(2))
                #expect(try peer.call(.insert(3))?.errorCode == .resourceExhausted)
                gate.open()
                for _ in 0..<2 { #expect(try peer.receive()?.reply.errorCode == nil) }
                #expect(running.store.records[\.numbers].count == 2)
            }
        }

        @Test("a group of writes has its maximum of sets and of bytes", arguments: [true, false])
        func writeGroup(byCount: Bool) async throws {
            let gate = Gate()
            try await RunningServer.run(.init(writes: gate)) { limits in
                if byCount { limits.writeGroupMax = 2 } else { limits.writeGroupBytesMax = 70 }
            } _: { running in
                let peer = try running.ready()
                try peer.send(.insert(0))
                gate.waitForArrival()
                for number in 1...4 as ClosedRange<Int64> { try peer.send(.insert(number)) }
                #expect(try peer.call(.schema) == .schema(running.schemaText))
                gate.open()
                for _ in 0...4 { #expect(try peer.receive()?.reply.errorCode == nil) }
                #expect(running.store.records[\.groups] == [1, 2, 2])
            }
        }

        @Test("few descriptors allow few connections, but at least the minimum")
        func descriptors() {
            let limits = ServerLimits()
            #expect(limits.connectionsMax(descriptorLimit: 1_024) == 704)
            #expect(limits.connectionsMax(descriptorLimit: 64) == 16)
            #expect(limits.connectionsMax(descriptorLimit: .max) == 1_024)
            let many = ServerLimits(eventLoopCount: 64)
            #expect(many.connectionsMax(descriptorLimit: 1_024) == 332)
        }

        @Test(
            "the caches of all event loops together are bounded, and each has a useful size",
            arguments: [1, 2, 8, 16, 64, 256])
        func caches(of eventLoops: Int) {
            let limits = ServerLimits(eventLoopCount: eventLoops)
            #expect(limits.eventLoopCount == eventLoops)
            for bytes in [
                limits.loopReaderCacheBytes, limits.planMemory.total, limits.replyCacheBytesMax,
            ] {
                #expect(bytes >= 1 << 20)
                #expect(bytes * eventLoops <= max(128, eventLoops) << 20)
            }
            #expect(limits.pooledReaderCacheBytes * limits.readers.total <= 512 << 20)
            #expect(limits.readsRunning.total > eventLoops)
            #expect(limits.readsStarted.total >= limits.readsRunning.total)
        }

        @Test("two event loops have the sizes of a server on a small machine")
        func smallMachine() {
            let limits = ServerLimits()
            #expect(limits.eventLoopCount == 2)
            #expect(limits.loopReaderCacheBytes == 16 << 20)
            #expect(limits.planMemory.total == 8 << 20)
            #expect(limits.readers.total == 32 && limits.pooledReaderCacheBytes == 4 << 20)
            #expect(limits.readsRunning.total == 3 && limits.readsStarted.total == 16)
            #expect(ServerLimits(eventLoopCount: 0).eventLoopCount == 1)
        }

        @Test("a read that needs more time than an event loop may use moves to the pool")
        func inlineTime() async throws {
            try await RunningServer.run { limits in
                limits.inlineTimeMax = .milliseconds(1)
            } _: { running in
                let peer = try running.ready()
                #expect(try peer.call(.fetch("long"))?.rowCount == 1)
                #expect(try peer.metric("inlineReads") == 0)
            }
        }

        @Test("a frame of the maximum length is accepted, before the handshake and after it")
        func longestFrames() async throws {
            try await RunningServer.run { running in
                let peer = try running.connect()
                let hello = try Self.frame(
                    .hello(Hello(clientName: "test")), byteCount: Limits.handshakeFrameBytesMax)
                try peer.send(hello)
                guard case .welcome? = try peer.receive()?.reply else {
                    Issue.record("no welcome")
                    return
                }
                try peer.send(Self.frame(.ping, byteCount: Limits.frameBytesMax))
                #expect(try peer.receive()?.reply == .pong)
                try peer.send([1, 0, 0, 1])
                #expect(try peer.receiveUntilClosed() == [.frameTooLong])
            }
        }

        /// A frame with this content length. The rest is a field that no version of the protocol
        /// has, number 9 of the envelope.
        private static func frame(_ request: Request, byteCount: Int) throws -> [UInt8] {
            var frame: [UInt8] = []
            try WireCodec().encode(RequestEnvelope(id: 1, request: request), into: &frame)
            var tail: [UInt8] = [9 << 3 | 2]
            // Always four bytes of length, which are enough for more than 16 MiB.
            let length = byteCount - (frame.count - 4) - tail.count - 4
            for index in 0..<4 {
                tail.append(UInt8(length >> (7 * index) & 0x7F) | (index < 3 ? 0x80 : 0))
            }
            frame += tail + [UInt8](repeating: 0, count: length)
            frame.replaceSubrange(
                0..<4, with: (0..<4).map { UInt8(byteCount >> (24 - 8 * $0) & 0xFF) })
            return frame
        }

        @Test("64 connections without a handshake are accepted, and the next is refused")
        func handshakesPendingByDefault() async throws {
            try await RunningServer.run { limits in
                limits.handshakeTimeMax = .seconds(60)
            } _: { running in
                let pending = try (0..<64).map { _ in try running.connect() }
                #expect(try running.connect().receiveUntilClosed() == [.resourceExhausted])
                for peer in pending { try peer.shakeHands() }
                #expect(try running.ready().call(.ping) == .pong)
            }
        }

        @Test("every request gets its reply, however short the turns on the event loop are")
        func turns() async throws {
            try await RunningServer.run { limits in
                limits.turnTimeMax = .zero
            } _: { running in
                let peer = try running.ready()
                let requests = (1...100).map { RequestEnvelope(id: $0, request: .schema) }
                try peer.send(requests)
                for id in 1...100 as ClosedRange<UInt64> { #expect(try peer.receive()?.id == id) }
            }
        }

        @Test("the defaults of the server's limits are the documented ones")
        func defaults() {
            let limits = ServerLimits()
            #expect(limits.connections == SharedLimit(1_024, userShare: 0.25))
            #expect(limits.handshakeTimeMax == .seconds(5))
            #expect(limits.handshakes == SharedLimit(128, userShare: 0.5))
            #expect(limits.frameBytesMax == 16 << 20)
            #expect(limits.handshakeFrameBytesMax == 64 << 10)
            #expect(limits.requestsInFlightMax == 32)
            #expect(limits.queuedBytesMax == 32 << 20)
            #expect(limits.queuedBytesSoftMax == 2 << 20)
            #expect(limits.queuedBytesSoftTimeMax == .seconds(30))
            #expect(limits.memory == SharedLimit(128 << 20, userShare: 0.5))
            #expect(limits.readTimeMax == .seconds(30))
        }
    }
}
