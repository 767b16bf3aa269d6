import LarderModel
import LarderWire
import TestSupport
import Testing

@testable import LarderServer

extension SocketTests {
    @Suite("Observed queries")
    struct LiveQueryTests {
        struct Unexpected: Error {
            let reply: ReplyEnvelope?
        }

        /// The numbers of the rows, as a client has them.
        struct Rows {
            var numbers: [Int64] = []
            var wholeCount = 0
            var changeCount = 0
            private var incoming: [Int64]?

            mutating func apply(_ reply: ObserveReply) {
                let received = LiveQueryTests.numbers(reply.rows)
                if reply.begins { incoming = [] }
                guard incoming == nil else {
                    incoming? += received
                    guard reply.ends, let whole = incoming else { return }
                    (numbers, incoming) = (whole, nil)
                    wholeCount += 1
                    return
                }
                changeCount += 1
                for (index, number) in zip(reply.newIndexes, received) {
                    numbers.insert(number, at: Int(index))
                }
            }
        }

        static func numbers(_ batch: Batch?) -> [Int64] {
            guard case .integers(let numbers)? = batch?.columns.first?.storage else { return [] }
            return numbers
        }

        static func fetch(
            credit: UInt32 = 0, limit: Int64? = nil, interval: UInt32 = 0
        ) throws -> Request {
            let query = Query.fetch(Fetch("Item", sort: [SortKey("number")]))
            return .observe(
                ObserveRequest(
                    try QueryRequest(query, QueryParameters(limit: limit), credit: credit),
                    intervalMilliseconds: interval))
        }

        /// The next reply to an observer.
        func receive(_ peer: Peer, _ id: UInt64) throws -> ObserveReply {
            let envelope = try peer.receive()
            guard let envelope, envelope.id == id,
                case .observed(let reply, more: true) = envelope.reply
            else { throw Unexpected(reply: envelope) }
            return reply
        }

        /// Receives replies until there are this number of rows.
        func receive(
            _ peer: Peer, _ id: UInt64, until count: Int, into rows: inout Rows
        ) throws {
            while rows.numbers.count < count { rows.apply(try receive(peer, id)) }
        }

        /// Observes all items, and returns when the whole result has been received.
        func observe(
            _ peer: Peer, _ request: Request? = nil
        ) throws -> (id: UInt64, rows: Rows) {
            let id = try peer.send(request ?? Self.fetch())
            var rows = Rows()
            while rows.wholeCount == 0 { rows.apply(try receive(peer, id)) }
            return (id, rows)
        }

        func error(_ peer: Peer, _ id: UInt64) throws -> ErrorCode? {
            let envelope = try #require(try peer.receive())
            #expect(envelope.id == id)
            return envelope.reply.errorCode
        }

        func insert(_ peer: Peer, _ number: Int64) throws {
            #expect(try peer.call(.insert(number))?.errorCode == nil)
        }

        // MARK: - Results

        @Test("an observed query sends the whole result, in several replies if long, then changes")
        func changes() async throws {
            try await RunningServer.run { limits in
                limits.batchBytesMax = 240
            } _: { running in
                let (peer, writer) = (try running.ready(), try running.ready())
                for number: Int64 in 1...25 { try insert(writer, number * 10) }
                let id = try peer.send(Self.fetch())
                let parts = try (0..<3).map { _ in try receive(peer, id) }
                #expect(parts.map(\.begins) == [true, false, false])
                #expect(parts.map(\.ends) == [false, false, true])
                #expect(parts.allSatisfy { $0.position.number == 25 && $0.newIndexes.isEmpty })
                #expect(parts.map { $0.rows?.rowCount } == [10, 10, 5])
                try insert(writer, 15)
                let change = try receive(peer, id)
                #expect(!change.begins && !change.ends && change.position.number == 26)
                #expect(change.newIndexes == [1] && change.oldIndexes == [0])
                #expect(Self.numbers(change.rows) == [15] && change.moved == [false])
            }
        }

        @Test("a live result without rows is whole, and so is one with a limit")
        func bounds() async throws {
            try await RunningServer.run { running in
                let (peer, writer) = (try running.ready(), try running.ready())
                let (_, rows) = try observe(peer)
                #expect(rows.numbers.isEmpty)
                for number: Int64 in [5, 3, 4] { try insert(writer, number) }
                let (id, first) = try observe(running.ready(), Self.fetch(limit: 2))
                #expect(first.numbers == [3, 4] && id == 2)
            }
        }

        @Test("observers of the same query share it, and each gets every change")
        func shared() async throws {
            try await RunningServer.run(eventLoops: 2) { running in
                let peers = try (0..<4).map { _ in try running.ready() }
                let writer = try running.ready()
                var observers = try peers.flatMap { peer in
                    try (0..<40).map { _ in (peer, try observe(peer)) }
                }
                #expect(try writer.metric("liveQueries") == 1)
                for number: Int64 in [3, 1, 2] { try insert(writer, number) }
                for peer in peers {
                    var missing = 40
                    while missing > 0 {
                        let envelope = try #require(try peer.receive())
                        guard case .observed(let reply, more: true) = envelope.reply else {
                            throw Unexpected(reply: envelope)
                        }
                        let index = try #require(
                            observers.firstIndex { $0.0 === peer && $0.1.id == envelope.id })
                        observers[index].1.rows.apply(reply)
                        if observers[index].1.rows.numbers.count == 3 { missing -= 1 }
                    }
                }
                #expect(observers.allSatisfy { $0.1.rows.numbers == [1, 2, 3] })
            }
        }

        @Test("the observed queries of different users are separate")
        func users() async throws {
            try await RunningServer.run { running in
                let (first, second) = (try running.ready(as: 7), try running.ready(as: 8))
                _ = try observe(first)
                _ = try observe(second)
                #expect(try first.metric("liveQueries") == 2)
            }
        }

        @Test("an observed query with an interval reports the commits in between as one change")
        func interval() async throws {
            try await RunningServer.run { running in
                let (peer, writer) = (try running.ready(), try running.ready())
                var (id, rows) = try observe(peer, Self.fetch(interval: 300))
                for number: Int64 in 1...20 { try insert(writer, number) }
                try receive(peer, id, until: 20, into: &rows)
                #expect(rows.numbers == (1...20).map { $0 } && rows.changeCount < 10)
            }
        }

        @Test("an interval does not delay the first result of a later observer")
        func laterObserver() async throws {
            try await RunningServer.run { running in
                let (peer, writer) = (try running.ready(), try running.ready())
                let request = try Self.fetch(interval: 3_600_000)
                _ = try observe(peer, request)
                // From now on its next evaluation is scheduled.
                try insert(writer, 1)
                try insert(writer, 2)
                let later = try running.ready()
                #expect(try observe(later, request).rows.numbers == [1, 2])
            }
        }

        @Test("an observed query that waits for its interval is released with its last observer")
        func leavingInAnInterval() async throws {
            try await RunningServer.run { running in
                let (peer, writer) = (try running.ready(), try running.ready())
                let (id, _) = try observe(peer, Self.fetch(interval: .max))
                try insert(writer, 1)
                // The evaluation is scheduled before this reply.
                _ = try observe(writer)
                #expect(running.store.records[\.itemPlans] > 0)
                try peer.send(.cancel(requestID: id))
                #expect(try error(peer, id) == .cancelled)
                writer.close()
                #expect(eventually { running.store.records[\.itemPlans] == 0 })
                #expect(try peer.call(.ping) == .pong)
            }
        }

        // MARK: - Slow clients

        @Test("a slow observer gets the changes that it has missed, one for each credit")
        func slow() async throws {
            try await RunningServer.run { running in
                let (slow, fast, writer) = (
                    try running.ready(), try running.ready(), try running.ready()
                )
                var (id, rows) = try observe(slow, Self.fetch(credit: 1))
                var (other, seen) = try observe(fast)
                for number: Int64 in 1...100 {
                    try insert(writer, 1_000 - number)
                    try receive(fast, other, until: Int(number), into: &seen)
                }
                // A reply above the credit would arrive before this one.
                #expect(try slow.call(.ping) == .pong)
                for number in 1...100 {
                    try slow.send(.credit(requestID: id, batches: 1))
                    try receive(slow, id, until: number, into: &rows)
                }
                #expect(rows.wholeCount == 1 && rows.changeCount == 100)
                #expect(rows.numbers == seen.numbers && rows.numbers == (900...999).map { $0 })
            }
        }

        @Test("an observer that is too slow gets the whole result again, and then changes")
        func tooSlow() async throws {
            try await RunningServer.run { running in
                let (slow, fast, writer) = (
                    try running.ready(), try running.ready(), try running.ready()
                )
                var (id, rows) = try observe(slow, Self.fetch(credit: 1))
                var (other, seen) = try observe(fast)
                for number: Int64 in 1...300 {
                    try insert(writer, number % 7)
                    try receive(fast, other, until: Int(number), into: &seen)
                }
                try slow.send(.credit(requestID: id, batches: 1))
                try receive(slow, id, until: 300, into: &rows)
                #expect(rows.wholeCount == 2 && rows.changeCount == 0)
                #expect(rows.numbers == seen.numbers)
                try insert(writer, 3)
                #expect(try slow.call(.ping) == .pong)
                try slow.send(.credit(requestID: id, batches: .max))
                try slow.send(.credit(requestID: id, batches: .max))
                try receive(slow, id, until: 301, into: &rows)
                #expect(rows.wholeCount == 2 && rows.changeCount == 1)
                #expect(seen.wholeCount == 1)
            }
        }

        @Test("an observer that does not read ends with the right rows, and does not delay others")
        func stalled() async throws {
            try await RunningServer.run { running in
                let (slow, fast, writer) = (
                    try running.ready(), try running.ready(), try running.ready()
                )
                for number: Int64 in 1...2_000 { try insert(writer, number) }
                // Each observer of one connection gets its own copy of the result.
                let ids = try (0..<30).map { _ in try slow.send(Self.fetch()) }
                var (other, seen) = try observe(fast)
                for number in 2_001...2_200 {
                    try insert(writer, Int64(number))
                    try receive(fast, other, until: number, into: &seen)
                }
                var rows = Dictionary(uniqueKeysWithValues: ids.map { ($0, Rows()) })
                while rows.values.contains(where: { $0.numbers.count < 2_200 }) {
                    let envelope = try #require(try slow.receive())
                    guard case .observed(let reply, more: true) = envelope.reply else {
                        throw Unexpected(reply: envelope)
                    }
                    rows[envelope.id]?.apply(reply)
                }
                #expect(rows.values.allSatisfy { $0.numbers == seen.numbers })
            }
        }

        // MARK: - The end

        @Test("an observed query ends when its last observer is cancelled or disconnects")
        func leaving() async throws {
            try await RunningServer.run { running in
                let (first, second, writer) = (
                    try running.ready(), try running.ready(), try running.ready()
                )
                let (id, _) = try observe(first)
                _ = try observe(first)
                _ = try observe(second)
                #expect(try writer.metric("historyFollowers") == 3)
                try first.send(.cancel(requestID: id))
                #expect(try error(first, id) == .cancelled)
                second.close()
                try writer.wait(until: "historyFollowers", is: 1)
                #expect(try writer.metric("liveQueries") == 1)
                first.close()
                try writer.wait(until: "liveQueries", is: 0)
                #expect(try writer.metric("historyFollowers") == 0)
                #expect(try writer.metric("liveQueryMemoryBytes") == 0)
                try insert(writer, 1)
                #expect(try observe(writer).rows.numbers == [1])
            }
        }

        @Test("an observer that joins while the last one leaves misses no change")
        func joiningWhileLeaving() async throws {
            try await RunningServer.run(eventLoops: 2) { running in
                let peers = [try running.ready(), try running.ready()]
                let writer = try running.ready()
                var ids = [try observe(peers[0]).id, 0]
                for number in 1...400 {
                    let (leaving, joining) = (peers[(number + 1) % 2], peers[number % 2])
                    try leaving.send(.cancel(requestID: ids[(number + 1) % 2]))
                    var (id, rows) = try observe(joining)
                    ids[number % 2] = id
                    #expect(try error(leaving, ids[(number + 1) % 2]) == .cancelled)
                    try insert(writer, Int64(number))
                    try receive(joining, id, until: number, into: &rows)
                }
                #expect(try writer.metric("liveQueries") == 1)
            }
        }

        @Test(
            "one observer above a user's maximum is refused, counted with the history's followers")
        func observersMax() async throws {
            try await RunningServer.run { limits in
                limits.followers = SharedLimit(4, userShare: 0.5)
            } _: { running in
                let (first, second) = (try running.ready(), try running.ready())
                let (id, _) = try observe(first)
                let history = try second.send(
                    .history(HistoryRequest(HistoryFetch(), follows: true)))
                #expect(try second.receive()?.id == history)
                #expect(try second.call(Self.fetch())?.errorCode == .resourceExhausted)
                _ = try observe(try running.ready(as: 4_242))
                try first.send(.cancel(requestID: id))
                #expect(try error(first, id) == .cancelled)
                _ = try observe(second)
                #expect(try first.call(Self.fetch())?.errorCode == .resourceExhausted)
            }
        }

        @Test("a user whose observed queries need too much memory gets that error")
        func memory() async throws {
            try await RunningServer.run { limits in
                limits.liveMemory = SharedLimit(40 << 10, userShare: 0.5)
            } _: { running in
                let peer = try running.ready()
                _ = try observe(peer)
                _ = try observe(peer, Self.fetch(limit: 1))
                #expect(try peer.call(Self.fetch(limit: 2))?.errorCode == .resourceExhausted)
                try peer.wait(until: "liveQueries", is: 2)
                let other = try running.ready(as: 4_242)
                _ = try observe(other)
                #expect(try other.metric("historyFollowers") == 3)
            }
        }

        /// The observed count of 500 items, and after each of some inserts.
        private func counts(_ running: RunningServer, changes: Int64) throws -> [[Int64]] {
            let (peer, writer) = (try running.ready(), try running.ready())
            for number: Int64 in 1...500 { try insert(writer, number) }
            let request = ObserveRequest(
                try QueryRequest(.count(entityName: "Item", predicate: nil)))
            let id = try peer.send(.observe(request))
            var counts = [Self.numbers(try receive(peer, id).rows)]
            for number in 1...changes {
                try insert(writer, number)
                counts.append(Self.numbers(try receive(peer, id).rows))
            }
            return counts
        }

        @Test("an observed count reads all items for its first result, and later only changed ones")
        func counts() async throws {
            try await RunningServer.run { running in
                let counts = try self.counts(running, changes: 20)
                #expect(counts == (500...520).map { [$0] })
                #expect(running.store.records[\.itemsRead] == 500 + 501 + 19)
            }
        }

        @Test("an observed count whose items need too much memory is read again after each change")
        func countsWithoutMemory() async throws {
            try await RunningServer.run { limits in
                limits.liveMemory = SharedLimit(40 << 10, userShare: 0.5)
            } _: { running in
                let counts = try self.counts(running, changes: 3)
                #expect(counts == (500...503).map { [$0] })
                #expect(running.store.records[\.itemsRead] == 500 + 501 + 502 + 503)
            }
        }

        @Test("a query that cannot be observed is refused, and is not counted")
        func refused() async throws {
            try await RunningServer.run { running in
                let peer = try running.ready()
                func code(
                    _ query: Query, _ parameters: QueryParameters = QueryParameters()
                ) throws -> ErrorCode? {
                    let request = ObserveRequest(try QueryRequest(query, parameters))
                    return try peer.call(.observe(request))?.errorCode
                }
                let items = Query.fetch(Fetch("Item"))
                #expect(try code(items, QueryParameters(offset: 1)) == .unsupported)
                #expect(try code(items, QueryParameters(after: [1])) == .unsupported)
                #expect(try code(.fetch(Fetch("Item", prefetch: ["a"]))) == .unsupported)
                #expect(try code(.fetch(Fetch("Nothing"))) == .unknownEntity)
                #expect(
                    try code(.fetch(Fetch("Item", where: .format("rows 1"))))
                        == .malformedPredicate)
                try peer.wait(until: "historyFollowers", is: 0)
                try peer.wait(until: "liveQueries", is: 0)
            }
        }

        @Test("a server that stops ends its observers with UNAVAILABLE")
        func stop() async throws {
            let running = try RunningServer()
            let peer = try running.ready()
            let ids = try (0..<3).map { _ in try observe(peer).id }
            await running.server.stop()
            var ended: [UInt64] = []
            while let envelope = try peer.receive() {
                #expect(envelope.reply.errorCode == .unavailable)
                ended.append(envelope.id)
            }
            #expect(ended.last == 0 && Set(ended.dropLast()) == Set(ids))
            #expect(running.store.records[\.pinned] == 0)
            #expect(running.store.records[\.readersOpen] == 0)
        }

        @Test("a client that ends its input ends its observers")
        func inputEnded() async throws {
            try await RunningServer.run { running in
                let peer = try running.ready()
                let (id, _) = try observe(peer)
                peer.endOutput()
                #expect(try error(peer, id) == .cancelled)
                #expect(try peer.receive() == nil)
                try running.ready().wait(until: "liveQueries", is: 0)
            }
        }
    }
}
