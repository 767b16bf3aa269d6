import LarderModel
import LarderWire
import Testing

@testable import LarderServer

extension SocketTests {
    @Suite("The history, read and followed")
    struct HistoryTests {
        private struct Unexpected: Error {
            let reply: ReplyEnvelope?
        }

        /// The next reply to a request for the history.
        private func receive(
            _ peer: Peer, _ id: UInt64
        ) throws -> (history: HistoryReply, more: Bool) {
            let envelope = try peer.receive()
            guard let envelope, envelope.id == id,
                case .history(let reply, let more) = envelope.reply
            else { throw Unexpected(reply: envelope) }
            return (reply, more)
        }

        /// The numbers of the next transactions of a stream that continues.
        private func take(
            _ count: Int, _ peer: Peer, _ id: UInt64, granting: UInt32 = 0
        ) throws -> [Int64] {
            var numbers: [Int64] = []
            while numbers.count < count {
                let (reply, more) = try receive(peer, id)
                #expect(more)
                numbers += reply.transactions.map(\.id)
                if let last = numbers.last { #expect(reply.position.number >= last) }
                if granting > 0 { try peer.send(.credit(requestID: id, batches: granting)) }
            }
            return numbers
        }

        /// Follows the history from now on, and returns when the stream is current.
        private func follow(
            _ peer: Peer, _ filter: HistoryFilter = HistoryFilter(), credit: UInt32 = 0
        ) throws -> UInt64 {
            let request = HistoryRequest(
                HistoryFetch(where: filter), startsNow: true, credit: credit, follows: true)
            let id = try peer.send(.history(request))
            let (reply, more) = try receive(peer, id)
            #expect(reply.isCurrent && more && reply.transactions.isEmpty)
            return id
        }

        private func error(_ peer: Peer, _ id: UInt64) throws -> ErrorCode? {
            let envelope = try #require(try peer.receive())
            #expect(envelope.id == id)
            return envelope.reply.errorCode
        }

        private func insert(_ peer: Peer, _ count: Int, author: String = "") throws {
            let item = PersistentIdentifier(temporary: "a", entityName: "Item")
            let set = ChangeSet([.insert(item, values: ["number": 1])], author: author)
            for _ in 0..<count { #expect(try peer.call(.save(set))?.errorCode == nil) }
        }

        // MARK: - Once

        @Test("the history is sent in pages, with the position after each")
        func pages() async throws {
            try await RunningServer.run { limits in
                limits.batchBytesMax = 640
            } _: { running in
                let peer = try running.ready()
                try insert(peer, 25)
                let id = try peer.send(.history(HistoryRequest(HistoryFetch())))
                var sizes: [Int] = []
                var numbers: [Int64] = []
                var isLast = false
                while !isLast {
                    let (reply, more) = try receive(peer, id)
                    sizes.append(reply.transactions.count)
                    numbers += reply.transactions.map(\.id)
                    #expect(reply.position.number == numbers.last && reply.isCurrent == !more)
                    isLast = !more
                }
                #expect(sizes == [10, 10, 5] && numbers == (1...25).map { $0 })
                #expect(try peer.call(.ping) == .pong)
            }
        }

        @Test("a request for the history ends at its limit, and an unknown entity is refused")
        func bounds() async throws {
            try await RunningServer.run { running in
                let peer = try running.ready()
                try insert(peer, 5)
                for limit in [0, 2] {
                    let request = HistoryRequest(HistoryFetch(limit: limit))
                    let (reply, more) = try receive(peer, try peer.send(.history(request)))
                    #expect(reply.transactions.count == limit && !more)
                    #expect(reply.position.number == Int64(limit))
                }
                let unknown = HistoryFetch(where: HistoryFilter(entities: ["Nothing"]))
                for follows in [false, true] {
                    let request = HistoryRequest(unknown, follows: follows)
                    #expect(try peer.call(.history(request))?.errorCode == .unknownEntity)
                }
                try peer.wait(until: "historyFollowers", is: 0)
            }
        }

        // MARK: - Following

        @Test("a follower gets the existing history, and then each commit, without a gap")
        func following() async throws {
            try await RunningServer.run { running in
                let (peer, writer) = (try running.ready(), try running.ready())
                try insert(writer, 3)
                let request = HistoryRequest(HistoryFetch(), follows: true)
                let id = try peer.send(.history(request))
                #expect(try take(3, peer, id) == [1, 2, 3])
                for number: Int64 in 4...50 {
                    try insert(writer, 1)
                    #expect(try take(1, peer, id) == [number])
                }
                let rows = try writer.send(.insertRows(Insertion("Item")))
                try writer.sendRows(rows, [1, 2], isLast: true)
                #expect(try take(1, peer, id) == [51])
            }
        }

        @Test("a commit is acknowledged first, and then followers on all event loops get it once")
        func acknowledgedFirst() async throws {
            try await RunningServer.run(eventLoops: 2) { running in
                let writer = try running.ready()
                let others = try (0..<4).map { _ in try running.ready() }
                let own = try follow(writer)
                let ids = try others.map { try follow($0) }
                for number: Int64 in 1...30 {
                    // Fails if the event arrives before the reply.
                    try insert(writer, 1)
                    #expect(try take(1, writer, own) == [number])
                    for (peer, id) in zip(others, ids) {
                        #expect(try take(1, peer, id) == [number])
                    }
                }
            }
        }

        @Test("followers are not requests in flight, and leave room for others")
        func notInFlight() async throws {
            try await RunningServer.run { limits in
                limits.requestsInFlightMax = 2
            } _: { running in
                let peer = try running.ready()
                let ids = try (0..<20).map { _ in try follow(peer) }
                try peer.send(.insert(1))
                var (saved, notified) = (0, Set<UInt64>())
                for _ in 0...20 {
                    let envelope = try #require(try peer.receive())
                    if case .saved = envelope.reply {
                        saved += 1
                    } else {
                        notified.insert(envelope.id)
                    }
                }
                #expect(saved == 1 && notified == Set(ids))
            }
        }

        @Test("each of many followers on an event loop gets each commit")
        func manyFollowers() async throws {
            try await RunningServer.run(eventLoops: 1) { running in
                let peers = try (0..<4).map { _ in try running.ready() }
                let ids = try peers.map { peer in try (0..<60).map { _ in try follow(peer) } }
                let writer = try running.ready()
                try insert(writer, 2)
                for (peer, ids) in zip(peers, ids) {
                    var numbers: [UInt64: [Int64]] = [:]
                    while numbers.values.map(\.count).reduce(0, +) < 120 {
                        let envelope = try #require(try peer.receive())
                        guard case .history(let reply, true) = envelope.reply else {
                            throw Unexpected(reply: envelope)
                        }
                        numbers[envelope.id, default: []] += reply.transactions.map(\.id)
                    }
                    #expect(numbers == Dictionary(uniqueKeysWithValues: ids.map { ($0, [1, 2]) }))
                }
            }
        }

        @Test("one follower above a user's maximum is refused, until another has ended")
        func followersMax() async throws {
            try await RunningServer.run { limits in
                limits.followers = SharedLimit(4, userShare: 0.5)
            } _: { running in
                let (first, second) = (try running.ready(), try running.ready())
                let id = try follow(first)
                _ = try follow(second)
                let request = HistoryRequest(HistoryFetch(), startsNow: true, follows: true)
                #expect(try first.call(.history(request))?.errorCode == .resourceExhausted)
                #expect(try second.call(.history(request))?.errorCode == .resourceExhausted)
                _ = try follow(try running.ready(as: 4_242))
                try first.send(.cancel(requestID: id))
                #expect(try error(first, id) == .cancelled)
                _ = try follow(first)
                // A connection that closes takes its followers with it.
                second.close()
                try first.wait(until: "historyFollowers", is: 1)
                _ = try follow(first)
            }
        }

        @Test("a follower gets no reply above its credit, and misses nothing when more is granted")
        func credit() async throws {
            try await RunningServer.run { running in
                let (peer, writer) = (try running.ready(), try running.ready())
                let id = try follow(peer, credit: 2)
                try insert(writer, 1)
                #expect(try take(1, peer, id) == [1])
                try insert(writer, 5)
                // A reply above the credit would arrive before this one.
                #expect(try peer.call(.ping) == .pong)
                try peer.send(.credit(requestID: id, batches: 1))
                #expect(try take(5, peer, id) == [2, 3, 4, 5, 6])
                try insert(writer, 1)
                #expect(try peer.call(.ping) == .pong)
                try peer.send(.credit(requestID: id, batches: .max))
                try peer.send(.credit(requestID: id, batches: .max))
                #expect(try take(1, peer, id) == [7])
                try insert(writer, 1)
                #expect(try take(1, peer, id) == [8])
            }
        }

        @Test("the stream of a client that does not read falls behind, and misses nothing")
        func slowClient() async throws {
            try await RunningServer.run { running in
                let (slow, fast, writer) = (
                    try running.ready(), try running.ready(), try running.ready()
                )
                let id = try follow(slow)
                let other = try follow(fast)
                // The sockets and the channel hold less than these replies.
                let author = String(repeating: "a", count: Limits.authorBytesMax)
                for number: Int64 in 1...6_000 {
                    try insert(writer, 1, author: author)
                    #expect(try take(1, fast, other) == [number])
                }
                let pages = running.store.records[\.history.poolPages]
                #expect(try take(6_000, slow, id) == (1...6_000).map { $0 })
                #expect(running.store.records[\.history.poolPages] > pages)
                try insert(writer, 1)
                #expect(try take(1, slow, id) == [6_001])
            }
        }

        @Test("a cancelled follower ends with the error CANCELLED")
        func cancel() async throws {
            try await RunningServer.run { running in
                let (peer, writer) = (try running.ready(), try running.ready())
                let id = try follow(peer)
                try peer.send(.cancel(requestID: id))
                #expect(try error(peer, id) == .cancelled)
                try insert(writer, 1)
                #expect(try peer.call(.ping) == .pong)
                try peer.wait(until: "historyFollowers", is: 0)
            }
        }

        @Test("a follower gets its position, also if it is sent nothing else")
        func passedOver() async throws {
            try await RunningServer.run { running in
                let (peer, writer) = (try running.ready(), try running.ready())
                let id = try follow(peer, HistoryFilter(authors: ["nobody"]))
                try insert(writer, 1_500)
                let (reply, more) = try receive(peer, id)
                #expect(more && reply.transactions.isEmpty && reply.isCurrent)
                #expect((1_000...1_500).contains(reply.position.number))
            }
        }

        // MARK: - The end

        @Test("a server that stops ends its followers with UNAVAILABLE, then the connection")
        func stop() async throws {
            let running = try RunningServer()
            let peer = try running.ready()
            let ids = try (0..<3).map { _ in try follow(peer) }
            await running.server.stop()
            var ended: [UInt64] = []
            while let envelope = try peer.receive() {
                #expect(envelope.reply.errorCode == .unavailable)
                ended.append(envelope.id)
            }
            #expect(ended.last == 0 && Set(ended.dropLast()) == Set(ids))
        }

        @Test("a client that ends its input ends its followers")
        func inputEnded() async throws {
            try await RunningServer.run { running in
                let peer = try running.ready()
                let id = try follow(peer)
                peer.endOutput()
                #expect(try error(peer, id) == .cancelled)
                #expect(try peer.receive() == nil)
                try running.ready().wait(until: "historyFollowers", is: 0)
            }
        }

        // MARK: - Deleting

        @Test("a deletion from the history takes several steps, between which others write")
        func deletion() async throws {
            let gate = Gate()
            try await RunningServer.run(.init(deletions: gate)) { limits in
                limits.historyDeletionRowsMax = 3
            } _: { running in
                let (peer, writer) = (try running.ready(), try running.ready())
                try insert(writer, 10)
                let id = try peer.send(.deleteHistory(.keeping(2)))
                gate.waitForArrival()
                try writer.send(.insert(1))
                gate.open()
                #expect(try writer.receive()?.reply.errorCode == nil)
                #expect(try peer.receive() == ReplyEnvelope(id: id, reply: .historyDeleted(8)))
                #expect(running.store.records[\.history.transactions].map(\.id) == [9, 10, 11])
                let token = HistoryToken(
                    store: running.store.storeDescription.identifier, epoch: 0, number: 7)
                let request = HistoryRequest(HistoryFetch(after: token), follows: true)
                #expect(try peer.call(.history(request))?.errorCode == .tokenExpired)
            }
        }

        @Test("a read-only store refuses to delete its history")
        func readOnly() async throws {
            try await RunningServer.run(.init(isReadOnly: true)) { running in
                let peer = try running.ready()
                #expect(try peer.call(.deleteHistory(.keeping(1)))?.errorCode == .readOnly)
            }
        }
    }
}
