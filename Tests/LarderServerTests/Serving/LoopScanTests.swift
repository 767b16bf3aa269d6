import LarderModel
import LarderWire
import Testing

@testable import LarderServer

extension SocketTests {
    @Suite("Scans on an event loop")
    struct LoopScanTests {
        /// The rows of each batch until the last.
        private static func take(_ peer: Peer, id: UInt64) throws -> [Int] {
            var batches: [Int] = []
            while let reply = try peer.receive() {
                #expect(reply.id == id)
                batches.append(try #require(reply.reply.rowCount))
                if !reply.reply.hasMore { return batches }
            }
            throw Peer.TimedOut()
        }

        private static func fetch(_ text: String, _ peer: Peer) throws -> [Int] {
            try take(peer, id: try peer.send(.fetch(text)))
        }

        /// As many rows of 8 bytes as a batch takes on the loop, and what 20,000 of them become.
        private static let batchRows = 4_096
        private static let batches = [4_096, 4_096, 4_096, 4_096, 3_616]

        /// One event loop, on which a scan may take long and each connection counts as alone, and
        /// a pool that has a reader at hand.
        private static func run(
            limits adjust: (inout ServerLimits) -> Void = { _ in },
            _ body: (RunningServer) throws -> Void
        ) async throws {
            try await RunningServer.run(eventLoops: 1) { limits in
                limits.requestsAloneMin = 0
                limits.turnTimeMax = .seconds(60)
                adjust(&limits)
            } _: { running in
                #expect(try running.ready().figure("batchesOnLoop") == 0)
                try body(running)
            }
        }

        @Test("a connection that has the loop to itself has them made there, and not before")
        func alone() async throws {
            try await Self.run {
                $0.requestsAloneMin = 6
            } _: { running in
                let peer = try running.ready()
                for _ in 0..<3 {
                    #expect(try Self.fetch("scan 20000", peer).reduce(0, +) == 20_000)
                }
                #expect(try peer.figure("batchesOnLoop") == 0)
                _ = try peer.call(.schema)
                for _ in 0..<2 { #expect(try Self.fetch("scan 20000", peer) == Self.batches) }
                #expect(try peer.figure("batchesOnLoop") == 10)
                #expect(running.store.records[\.cursorsOpen] == 0)
            }
        }

        @Test("as soon as another connection asks, they go to the pool again")
        func others() async throws {
            try await Self.run {
                $0.requestsAloneMin = 2
            } _: { running in
                let (peer, other) = (try running.ready(), try running.ready())
                #expect(try peer.call(.schema) == .schema(running.schemaText))
                #expect(try Self.fetch("scan 20000", peer) == Self.batches)
                for _ in 0..<5 {
                    #expect(try other.call(.schema) == .schema(running.schemaText))
                    #expect(try Self.fetch("scan 20000", peer).reduce(0, +) == 20_000)
                }
                #expect(try peer.figure("batchesOnLoop") == 5)
            }
        }

        @Test("so they do where the connection has asked for something else")
        func together() async throws {
            try await Self.run { running in
                let peer = try running.ready()
                try peer.send([
                    RequestEnvelope(id: 101, request: try .fetch("scan 20000", credit: 1)),
                    RequestEnvelope(id: 102, request: try .fetch("scan 20000", credit: 1)),
                ])
                for _ in 0..<2 { #expect(try peer.receive()?.reply.hasMore == true) }
                #expect(try peer.figure("batchesOnLoop") == 0)
            }
        }

        @Test("queries that are no scans are the pool's")
        func notScans() async throws {
            try await Self.run { running in
                let peer = try running.ready()
                #expect(try Self.fetch("rows 20000", peer).reduce(0, +) == 20_000)
                #expect(try Self.fetch("heavy", peer) == [1])
                #expect(try peer.figure("batchesOnLoop") == 0)
            }
        }

        @Test("what takes longer than a connection may keep the loop is gone on with by the pool")
        func time() async throws {
            try await Self.run {
                $0.turnTimeMax = .zero
            } _: { running in
                let (peer, other) = (try running.ready(), try running.ready())
                let id = try peer.send(.fetch("scan 1000000"))
                // Others are served long before its end.
                #expect(try other.call(.schema) == .schema(running.schemaText))
                #expect(running.store.records[\.batches] < 31)
                let batches = try Self.take(peer, id: id)
                #expect(batches.first == Self.batchRows && batches.reduce(0, +) == 1_000_000)
                #expect(try peer.figure("batchesOnLoop") == 1)
            }
        }

        @Test("a client that does not read has a bounded number made, and others are served")
        func stalled() async throws {
            try await Self.run { running in
                let (stalled, other) = (try running.ready(), try running.ready())
                let id = try stalled.send(.fetch("scan 10000000"))
                #expect(try other.call(.schema) == .schema(running.schemaText))
                // The socket holds 200 KiB and the channel 512, in all some thirty.
                let made = try #require(try other.figure("batchesOnLoop"))
                #expect((10...60).contains(made))
                #expect(running.store.records[\.batches] < 100)
                #expect(try Self.take(stalled, id: id).reduce(0, +) == 10_000_000)
            }
        }

        @Test("one batch past the credit is not made before more is granted")
        func credit() async throws {
            try await Self.run { running in
                let peer = try running.ready()
                let id = try peer.send(.fetch("scan 20000", credit: 2))
                for _ in 0..<2 { #expect(try peer.receive()?.reply.rowCount == Self.batchRows) }
                let batches = running.store.records[\.batches]
                #expect(try peer.call(.ping) == .pong)
                #expect(running.store.records[\.batches] == batches)
                try peer.send(.credit(requestID: id, batches: 10))
                #expect(try Self.take(peer, id: id).reduce(0, +) == 20_000 - 2 * Self.batchRows)
                #expect(try peer.figure("batchesOnLoop") == 2)
            }
        }

        @Test("a cancelled one ends with that error, and one that is not taken when its time is up")
        func cancel() async throws {
            try await Self.run { running in
                let peer = try running.ready()
                let id = try peer.send(.fetch("scan 20000", credit: 1))
                #expect(try peer.receive()?.reply.hasMore == true)
                try peer.send(.cancel(requestID: id))
                #expect(try peer.receive()?.reply.errorCode == .cancelled)
                try peer.wait(until: "poolReads", is: 1)
                try peer.send(.fetch("scan 20000", credit: 1), timeoutMilliseconds: 300)
                #expect(try peer.receive()?.reply.hasMore == true)
                #expect(try peer.receive()?.reply.errorCode == .snapshotExpired)
                try peer.wait(until: "poolReads", is: 1)
                #expect(try peer.figure("batchesOnLoop") == 2)
                #expect(try Self.fetch("scan 20000", peer) == Self.batches)
                #expect(running.store.records[\.cursorsOpen] == 0)
            }
        }

        @Test("a connection that closes before its answer or within it gives its reader back")
        func close() async throws {
            let running = try RunningServer(eventLoops: 1) { $0.requestsAloneMin = 0 }
            #expect(try running.ready().figure("batchesOnLoop") == 0)
            for credit in [0, 1] as [UInt32] {
                let leaver = try running.ready()
                try leaver.send(.fetch("scan 20000", credit: credit))
                if credit == 1 { #expect(try leaver.receive()?.reply.hasMore == true) }
                leaver.close()
            }
            let peer = try running.ready()
            #expect(try Self.fetch("scan 20000", peer).reduce(0, +) == 20_000)
            await running.server.stop()
            #expect(running.store.records[\.cursorsOpen] == 0)
            #expect(running.store.records[\.readersOpen] == 0)
        }

        @Test("one that finds no reader free waits for it as others do")
        func noReader() async throws {
            try await Self.run {
                $0.readersMax = 1
            } _: { running in
                let (first, second) = (try running.ready(), try running.ready())
                let held = try first.send(.fetch("scan 20000", credit: 1))
                #expect(try first.receive()?.reply.hasMore == true)
                let waiting = try second.send(.fetch("scan 20000"))
                #expect(try second.call(.ping) == .pong)
                try first.send(.cancel(requestID: held))
                #expect(try Self.take(second, id: waiting).reduce(0, +) == 20_000)
                #expect(try second.figure("batchesOnLoop") == 1)
                #expect(running.store.records[\.cursorsOpenMost] == 1)
            }
        }

        @Test("a server that stops meanwhile sends the whole answer first")
        func stop() async throws {
            let running = try RunningServer(eventLoops: 1) { $0.requestsAloneMin = 0 }
            let peer = try running.ready()
            #expect(try peer.figure("batchesOnLoop") == 0)
            let id = try peer.send(.fetch("scan 20000", credit: 1))
            #expect(try peer.receive()?.reply.rowCount == Self.batchRows)
            async let stopped: Void = running.server.stop()
            try peer.send(.credit(requestID: id, batches: 10))
            #expect(try Self.take(peer, id: id).reduce(0, +) == 20_000 - Self.batchRows)
            #expect(try peer.receive()?.reply.errorCode == .unavailable)
            await stopped
            #expect(running.store.records[\.cursorsOpen] == 0)
        }
    }
}
