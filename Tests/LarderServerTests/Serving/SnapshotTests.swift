import LarderModel
import LarderWire
import Testing

@testable import LarderServer

extension SocketTests {
    @Suite("Snapshots that clients open")
    struct SnapshotTests {
        private struct Unexpected: Error {
            let reply: ReplyEnvelope?
        }

        /// Opens a snapshot, and returns its id and its position.
        private func open(_ peer: Peer) throws -> (id: UInt64, number: Int64) {
            let id = try peer.send(.openSnapshot)
            let envelope = try peer.receive()
            guard let envelope, envelope.id == id,
                case .snapshotOpened(let position) = envelope.reply
            else { throw Unexpected(reply: envelope) }
            return (id, position.number)
        }

        private func error(_ peer: Peer, _ id: UInt64) throws -> ErrorCode? {
            let envelope = try #require(try peer.receive())
            #expect(envelope.id == id)
            return envelope.reply.errorCode
        }

        /// Inserts an item.
        private func insert(_ peer: Peer, _ number: Int64) throws -> PersistentIdentifier {
            guard case .saved(let result)? = try peer.call(.insert(number)) else {
                throw Unexpected(reply: nil)
            }
            return result.inserted[0]
        }

        /// The numbers of all items.
        private func numbers(_ reply: Reply?) -> [Int64]? {
            guard case .batches(let batches, more: false)? = reply else { return nil }
            return batches.flatMap { batch -> [Int64] in
                if case .integers(let numbers)? = batch.columns.first?.storage {
                    numbers
                } else {
                    []
                }
            }
        }

        private static func all() throws -> Request {
            .query(try QueryRequest(.fetch(Fetch("Item"))))
        }

        // MARK: - Reads

        @Test(
            "all kinds of reads see the state of a snapshot's opening, and other reads the latest")
        func reads() async throws {
            try await RunningServer.run { running in
                let (peer, writer) = (try running.ready(), try running.ready())
                _ = try insert(writer, 1)
                let (id, number) = try open(peer)
                #expect(number == 1)
                let second = try insert(writer, 2)
                let query = try Self.all()
                #expect(numbers(try peer.call(query, in: id)) == [1])
                #expect(numbers(try peer.call(query)) == [1, 2])
                let get = Request.get([second], properties: nil)
                #expect(numbers(try peer.call(get, in: id)) == [])
                #expect(numbers(try peer.call(get)) == [2])
                let history = Request.history(HistoryRequest(HistoryFetch()))
                for (snapshot, last) in [(id, 1), (0, 2)] as [(UInt64, Int64)] {
                    guard
                        case .history(let reply, more: false)? = try peer.call(
                            history, in: snapshot)
                    else { throw Unexpected(reply: nil) }
                    #expect(reply.position.number == last)
                }
            }
        }

        @Test("a get in a snapshot is not replied to from the reply cache")
        func replyCache() async throws {
            try await RunningServer.run { running in
                let (peer, writer) = (try running.ready(), try running.ready())
                let item = try insert(writer, 1)
                running.store.records.state.withLock { $0.stamp = 1 }
                let get = Request.get([item], properties: ["number"])
                let (id, _) = try open(peer)
                running.store.records.state.withLock { state in
                    state.numbers[1] = 9
                    state.stamp = 2
                }
                for _ in 0..<5 {
                    #expect(numbers(try peer.call(get)) == [9])
                    #expect(numbers(try peer.call(get, in: id)) == [1])
                }
            }
        }

        @Test("a read with an id that is not an open snapshot fails, and the connection stays open")
        func unknown() async throws {
            try await RunningServer.run { running in
                let (peer, other) = (try running.ready(), try running.ready())
                let (id, _) = try open(peer)
                let history = Request.history(HistoryRequest(HistoryFetch()))
                for request in [try Self.all(), .get([], properties: nil), history] {
                    #expect(try peer.call(request, in: id + 100)?.errorCode == .snapshotExpired)
                    // It belongs to its connection.
                    #expect(try other.call(request, in: id)?.errorCode == .snapshotExpired)
                }
                let following = try peer.send(
                    .history(HistoryRequest(HistoryFetch(), follows: true)))
                #expect(try peer.receive()?.id == following)
                #expect(try peer.call(.ping, in: id)?.errorCode == .malformedMessage)
                let inFollower = try peer.call(try Self.all(), in: following)
                #expect(inFollower?.errorCode == .snapshotExpired)
                #expect(numbers(try peer.call(try Self.all(), in: id)) == [])
            }
        }

        @Test("reads in a snapshot wait for each other, also for a stream that waits for credit")
        func oneAfterTheOther() async throws {
            try await RunningServer.run { running in
                let peer = try running.ready()
                let (id, _) = try open(peer)
                let stream = try peer.send(.fetch("rows 100000", credit: 1), in: id)
                #expect(try peer.receive()?.id == stream)
                let waiting = try (0..<3).map { _ in try peer.send(Self.all(), in: id) }
                // A read outside of the snapshot does not wait.
                #expect(numbers(try peer.call(try Self.all())) == [])
                #expect(running.store.records[\.cursorsOpen] == 1)
                try peer.send(.credit(requestID: stream, batches: .max))
                var ended: [UInt64] = []
                while ended.count < 4 {
                    let envelope = try #require(try peer.receive())
                    if !envelope.reply.hasMore { ended.append(envelope.id) }
                }
                #expect(ended == [stream] + waiting)
                #expect(running.store.records[\.cursorsOpen] == 0)
            }
        }

        @Test("a cancelled read in a snapshot lets the next one read, and the snapshot stays open")
        func cancelledRead() async throws {
            try await RunningServer.run { running in
                let peer = try running.ready()
                let (id, _) = try open(peer)
                let endless = try peer.send(.fetch("endless"), in: id)
                let stream = try peer.send(.fetch("rows 100000", credit: 1), in: id)
                let waiting = try peer.send(Self.all(), in: id)
                try peer.send(.cancel(requestID: endless))
                #expect(try error(peer, endless) == .cancelled)
                #expect(try peer.receive()?.id == stream)
                try peer.send(.cancel(requestID: stream))
                #expect(try error(peer, stream) == .cancelled)
                #expect(try peer.receive()?.id == waiting)
                #expect(numbers(try peer.call(try Self.all(), in: id)) == [])
                #expect(try peer.metric("poolReads") == 2)
            }
        }

        @Test("requests may name a snapshot before the reply that it is open")
        func pipelined() async throws {
            try await RunningServer.run { running in
                let peer = try running.ready()
                let id = try peer.send(.openSnapshot)
                let reads = try (0..<3).map { _ in try peer.send(Self.all(), in: id) }
                let ids = try (0..<4).map { _ in try peer.receive()?.id }
                #expect(ids == [id] + reads)
            }
        }

        // MARK: - The end

        @Test("a cancellation ends a snapshot, and releases its reader")
        func cancel() async throws {
            try await RunningServer.run { running in
                let peer = try running.ready()
                let (id, _) = try open(peer)
                // The read of the metrics is one, too.
                #expect(try peer.metric("poolReads") == 2)
                #expect(running.store.records[\.pinned] == 1)
                try peer.send(.cancel(requestID: id))
                #expect(try error(peer, id) == .cancelled)
                #expect(try peer.call(try Self.all(), in: id)?.errorCode == .snapshotExpired)
                try peer.wait(until: "poolReads", is: 1)
                #expect(running.store.records[\.pinned] == 0)
                // Its id is free.
                let again = RequestEnvelope(id: id, request: .openSnapshot)
                try peer.send([again])
                let opened = try #require(try peer.receive())
                #expect(opened.id == id && opened.reply.errorCode == nil)
            }
        }

        @Test("the end of a snapshot ends the reads that use it or wait for it")
        func readsAtTheEnd() async throws {
            try await RunningServer.run { running in
                let peer = try running.ready()
                let (id, _) = try open(peer)
                let endless = try peer.send(.fetch("endless"), in: id)
                let waiting = [
                    try peer.send(Self.all(), in: id),
                    try peer.send(.get([], properties: nil), in: id),
                    try peer.send(.history(HistoryRequest(HistoryFetch())), in: id),
                ]
                try peer.send(.cancel(requestID: id))
                var codes: [UInt64: ErrorCode?] = [:]
                for _ in 0..<5 {
                    let envelope = try #require(try peer.receive())
                    codes[envelope.id] = envelope.reply.errorCode
                }
                var expected: [UInt64: ErrorCode?] = [id: .cancelled, endless: .snapshotExpired]
                for read in waiting { expected[read] = .snapshotExpired }
                #expect(codes == expected)
                try peer.wait(until: "poolReads", is: 1)
                #expect(running.store.records[\.pinned] == 0)
            }
        }

        @Test("a connection that closes releases its snapshot, also while it is read")
        func closed() async throws {
            try await RunningServer.run { running in
                let other = try running.ready()
                for isReading in [false, true] {
                    let peer = try running.ready()
                    let (id, _) = try open(peer)
                    if isReading {
                        try peer.send(.fetch("endless"), in: id)
                        try peer.send(Self.all(), in: id)
                    }
                    #expect(running.store.records[\.pinned] == 1)
                    peer.close()
                    try other.wait(until: "poolReads", is: 1)
                    #expect(running.store.records[\.pinned] == 0)
                }
            }
        }

        @Test("a connection that closes before its snapshot is open leaves no reader behind")
        func closedWhileOpening() async throws {
            let running = try RunningServer { limits in
                limits.readers = SharedLimit(1, userShare: 1)
            }
            let (first, second) = (try running.ready(), try running.ready())
            _ = try open(first)
            try second.send(.openSnapshot)
            #expect(try second.call(.schema) == .schema(running.schemaText))
            second.close()
            first.close()
            let third = try running.ready()
            _ = try open(third)
            await running.server.stop()
            #expect(running.store.records[\.pinned] == 0)
            #expect(running.store.records[\.readersOpen] == 0)
        }

        @Test("a snapshot ends when its time is over: the client's, or at most the server's")
        func time() async throws {
            try await RunningServer.run { limits in
                limits.readTimeMax = .milliseconds(40)
            } _: { running in
                let peer = try running.ready()
                for timeout: UInt32 in [0, 20, 600_000] {
                    // The time may be over before the snapshot is open.
                    var first: ReplyEnvelope
                    repeat {
                        try peer.send(.openSnapshot, timeoutMilliseconds: timeout)
                        first = try #require(try peer.receive())
                    } while first.reply.errorCode == .snapshotExpired
                    #expect(first.reply.errorCode == nil)
                    #expect(try error(peer, first.id) == .snapshotExpired)
                    try peer.wait(until: "poolReads", is: 1)
                }
                #expect(running.store.records[\.pinned] == 0)
            }
        }

        @Test("one snapshot more than a connection's readers waits, and fails if none is free")
        func readers() async throws {
            try await RunningServer.run { limits in
                limits.readersPerConnectionMax = 2
                limits.readerWaitTimeMax = .milliseconds(20)
            } _: { running in
                let peer = try running.ready()
                let first = try open(peer)
                _ = try open(peer)
                #expect(try peer.call(.openSnapshot)?.errorCode == .timeout)
                try peer.send(.cancel(requestID: first.id))
                #expect(try error(peer, first.id) == .cancelled)
                // The second snapshot, and the request for this metric.
                try running.ready().wait(until: "poolReads", is: 2)
                _ = try open(peer)
            }
        }

        @Test("a stop of the server, and the end of a client's input, end a snapshot")
        func stop() async throws {
            let running = try RunningServer()
            let (peer, ending) = (try running.ready(), try running.ready())
            let (id, other) = (try open(peer).id, try open(ending).id)
            ending.endOutput()
            #expect(try error(ending, other) == .snapshotExpired)
            #expect(try ending.receive() == nil)
            await running.server.stop()
            #expect(try error(peer, id) == .unavailable)
            #expect(try error(peer, 0) == .unavailable)
            #expect(running.store.records[\.pinned] == 0)
            #expect(running.store.records[\.readersOpen] == 0)
        }
    }
}
