import LarderModel
import LarderWire
import NIOPosix
import Testing

@testable import LarderServer

extension SocketTests {
    @Suite("Saves on an event loop")
    struct InlineSaveTests {
        private static func insert(_ numbers: ClosedRange<Int64>, _ peer: Peer) throws {
            for number in numbers { #expect(try peer.call(.insert(number))?.errorCode == nil) }
        }

        /// Inserts until one was saved on the loop: the thread releases the writer after its reply.
        private static func insertUntilOnLoop(_ peer: Peer) throws {
            let before = try peer.metric("inlineSaves")
            for number in 101...1_100 as ClosedRange<Int64> {
                try insert(number...number, peer)
                if try peer.metric("inlineSaves") != before { return }
            }
            throw Peer.TimedOut()
        }

        @Test("saves run on the loop after a number of consecutive requests, and not before")
        func alone() async throws {
            try await RunningServer.run(eventLoops: 1) { limits in
                limits.consecutiveRequestsMin = 4
            } _: { running in
                let peer = try running.ready()
                try Self.insert(1...3, peer)
                #expect(try peer.metric("inlineSaves") == 0)
                try Self.insertUntilOnLoop(peer)
                try Self.insert(4...9, peer)
                #expect(try peer.metric("inlineSaves") == 7)
                let count = Int64(running.store.records[\.numbers].count)
                #expect(try peer.metric("saves") == count)
                #expect(try peer.metric("saveGroups") == count)
            }
        }

        @Test("another connection on the loop moves saves to the thread, also without requests")
        func others() async throws {
            try await RunningServer.run(eventLoops: 1) { limits in
                limits.consecutiveRequestsMin = 0
            } _: { running in
                let peer = try running.ready()
                try Self.insert(1...3, peer)
                #expect(try peer.metric("inlineSaves") == 3)
                let other = try running.ready()
                try Self.insert(4...13, peer)
                #expect(try peer.metric("inlineSaves") == 3)
                #expect(try peer.metric("saves") == 13)
                other.close()
                try peer.wait(until: "connections", is: 1)
                try Self.insertUntilOnLoop(peer)
            }
        }

        @Test("saves that arrive together are a group of the thread")
        func together() async throws {
            let gate = Gate()
            try await RunningServer.run(.init(writes: gate), eventLoops: 1) { limits in
                limits.consecutiveRequestsMin = 0
            } _: { running in
                let peer = try running.ready()
                try peer.send((1...6).map { RequestEnvelope(id: $0, request: .insert(Int64($0))) })
                gate.open()
                for id in 1...6 as ClosedRange<UInt64> {
                    let reply = try #require(try peer.receive())
                    #expect(reply.id == id && reply.reply.errorCode == nil)
                }
                #expect(try peer.metric("inlineSaves") == 0)
            }
        }

        @Test("a save that another loop receives at that time is executed by the thread afterwards")
        func order() async throws {
            let gate = Gate()
            try await RunningServer.run(.init(writes: gate), eventLoops: 2) { limits in
                limits.consecutiveRequestsMin = 0
            } _: { running in
                let (first, second) = (try running.ready(), try running.ready())
                try first.send(.insert(1))
                gate.waitForArrival()
                try second.send(.insert(2))
                // The second loop has queued the save when it replies to a later request.
                #expect(try second.call(.schema) == .schema(running.schemaText))
                gate.open()
                #expect(try first.receive()?.reply.errorCode == nil)
                #expect(try second.receive()?.reply.errorCode == nil)
                #expect(running.store.records[\.numbers] == [1: 1, 2: 2])
                #expect(try first.metric("inlineSaves") == 1)
            }
        }

        @Test("a save that exceeds its budget is executed once, by the thread")
        func tooLong() async throws {
            try await RunningServer.run(.init(isTooLongForLoop: true), eventLoops: 1) { limits in
                limits.consecutiveRequestsMin = 0
            } _: { running in
                let peer = try running.ready()
                try Self.insert(1...3, peer)
                #expect(running.store.records[\.numbers] == [1: 1, 2: 2, 3: 3])
                #expect(try peer.metric("inlineSaves") == 0)
            }
        }

        @Test("a save with a predicate or with many bytes is never executed on the loop")
        func long() async throws {
            try await RunningServer.run(eventLoops: 1) { limits in
                limits.consecutiveRequestsMin = 0
            } _: { running in
                let peer = try running.ready()
                let all = ChangeSet([.deleteAll(ObjectSelection("Item"))])
                #expect(try peer.call(.save(all))?.errorCode == .invalidChangeSet)
                let many = ChangeSet(
                    (1...1_000).map { number in
                        .insert(
                            PersistentIdentifier(temporary: "\(number)", entityName: "Item"),
                            values: ["number": .int(number)])
                    })
                #expect(try peer.call(.save(many))?.errorCode == nil)
                #expect(try peer.metric("inlineSaves") == 0)
                try Self.insertUntilOnLoop(peer)
            }
        }

        @Test("maintenance after a save on the loop is performed by the thread")
        func maintenance() async throws {
            try await RunningServer.run(.init(needsMaintenance: true), eventLoops: 1) { limits in
                limits.consecutiveRequestsMin = 0
            } _: { running in
                let peer = try running.ready()
                try Self.insert(1...1, peer)
                #expect(try peer.call(.ping) == .pong)
                #expect(running.store.records[\.maintenances] == 1)
                #expect(try peer.metric("inlineSaves") == 1)
            }
        }

        @Test("a server that stops during a save replies to it before it closes the writer")
        func stop() async throws {
            let gate = Gate()
            let running = try RunningServer(.init(writes: gate), eventLoops: 1) {
                $0.consecutiveRequestsMin = 0
            }
            let peer = try running.ready()
            try peer.send(.insert(1))
            gate.waitForArrival()
            async let stopped: Void = running.server.stop()
            gate.open()
            #expect(try peer.receive()?.reply.errorCode == nil)
            #expect(try peer.receive()?.reply.errorCode == .unavailable)
            await stopped
            #expect(running.store.records[\.numbers] == [1: 1])
            #expect(running.store.records[\.writerIsClosed])
        }

        @Test("a queue that is closed during a save closes its writer after that save")
        func close() async throws {
            let gate = Gate()
            let store = try FakeStore(.init(writes: gate))
            let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
            let queue = WriteQueue(
                writer: try store.makeWriter(),
                readers: ReaderPool(backend: store, limits: ServerLimits()),
                limits: ServerLimits(), eventLoop: group.next())
            guard case .save(let set) = Request.insert(1) else { return }
            let saved = group.next().submit {
                queue.saveInline(SaveRequest(set), for: 1, frameBytes: 50) != nil
            }
            gate.waitForArrival()
            let closed = group.next().makePromise(of: Void.self)
            queue.close { closed.succeed() }
            #expect(!store.records[\.writerIsClosed])
            #expect(queue.saveInline(SaveRequest(set), for: 1, frameBytes: 50) == nil)
            gate.open()
            #expect(try await saved.get())
            try await closed.futureResult.get()
            #expect(store.records[\.writerIsClosed])
            #expect(store.records[\.numbers] == [1: 1])
            try await group.shutdownGracefully()
        }
    }
}
