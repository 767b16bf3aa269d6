import LarderModel
import LarderWire
import Testing

@testable import LarderServer

extension SocketTests.LiveQueryTests {
    private static let changedObjectsMax = 10_000

    private func items(_ count: Int) -> Request {
        .save(
            ChangeSet(
                (0..<count).map { number in
                    .insert(
                        PersistentIdentifier(temporary: "i\(number)", entityName: "Item"),
                        values: ["number": .int(Int64(number))])
                }))
    }

    private func failure(_ peer: Peer, _ id: UInt64) throws -> LarderError {
        let envelope = try #require(try peer.receive())
        guard envelope.id == id, case .failed(let error) = envelope.reply else {
            throw Unexpected(reply: envelope)
        }
        return error
    }

    @Test(
        "a commit of more objects than the maximum is reported as the whole live result",
        arguments: [0, 1])
    func changedObjects(more: Int) async throws {
        try await RunningServer.run { running in
            let (peer, writer) = (try running.ready(), try running.ready())
            var (id, rows) = try observe(peer)
            let count = Self.changedObjectsMax + more
            #expect(try writer.call(items(count))?.errorCode == nil)
            try receive(peer, id, until: count, into: &rows)
            #expect(rows.changeCount == 1 - more && rows.wholeCount == 1 + more)
            #expect(rows.numbers == (0..<Int64(count)).map { $0 })
            // The next change is reported as one.
            try insert(writer, 7)
            try receive(peer, id, until: count + 1, into: &rows)
            #expect(rows.changeCount == 2 - more)
        }
    }

    @Test("a live query of more objects than the maximum is refused, also if a commit adds one")
    func objectsMax() async throws {
        try await RunningServer.run { limits in
            limits.liveObjectsMax = 5
        } _: { running in
            let (peer, other, writer) = (
                try running.ready(), try running.ready(), try running.ready()
            )
            #expect(try writer.call(items(4))?.errorCode == nil)
            var (id, rows) = try observe(peer)
            let (limited, first) = try observe(other, Self.fetch(limit: 1))
            try insert(writer, 5)
            try receive(peer, id, until: 5, into: &rows)
            try insert(writer, 6)
            let failure = try failure(peer, id)
            #expect(failure.code == .resourceExhausted)
            #expect(failure.hint?.contains("by a limit") == true)
            let again = try peer.send(Self.fetch())
            #expect(try self.failure(peer, again).code == .resourceExhausted)
            // Others continue.
            try insert(writer, -1)
            #expect(first.numbers == [0])
            #expect(try receive(other, limited).newIndexes == [0])
            try writer.wait(until: "liveQueries", is: 1)
        }
    }

    @Test(
        "an observed fetch may have any limit: saves of others continue, and are reported",
        arguments: [Int64.max, 1 << 62, 6_200_000_000_000_000_000, 1 << 31])
    func extremeLimits(limit: Int64) async throws {
        try await RunningServer.run { running in
            let (peer, writer) = (try running.ready(), try running.ready())
            try insert(writer, 1)
            var (id, rows) = try observe(peer, Self.fetch(limit: limit))
            try insert(writer, 2)
            try receive(peer, id, until: 2, into: &rows)
            #expect(try writer.call(items(20))?.errorCode == nil)
            try receive(peer, id, until: 22, into: &rows)
            #expect(rows.wholeCount == 1 && rows.changeCount == 2)
            #expect(try running.ready().call(.ping) == .pong)
        }
    }

    @Test("a live result that is too large is refused to new observers, and others get changes")
    func wholeBytes() async throws {
        try await RunningServer.run { limits in
            limits.frameBytesMax = 4_096
            limits.batchBytesMax = 480
        } _: { running in
            let (peer, other, writer) = (
                try running.ready(), try running.ready(), try running.ready()
            )
            #expect(try writer.call(items(20))?.errorCode == nil)
            var (id, rows) = try observe(peer)
            for number in 20..<400 {
                try insert(writer, Int64(number))
                try receive(peer, id, until: number + 1, into: &rows)
            }
            let joining = try other.send(Self.fetch())
            let failure = try failure(other, joining)
            #expect(failure.code == .resourceExhausted)
            #expect(failure.hint?.contains("by a limit") == true)
            // The observer that has the result still gets each change of it.
            try insert(writer, 400)
            try receive(peer, id, until: 401, into: &rows)
            #expect(rows.numbers == (0...400).map { $0 } && rows.wholeCount == 1)
            #expect(try writer.metric("liveQueries") == 1)
            try peer.send(.cancel(requestID: id))
            #expect(try error(peer, id) == .cancelled)
            try writer.wait(until: "liveQueries", is: 0)
            #expect(try writer.metric("liveQueryMemoryBytes") == 0)
        }
    }

    @Test("observers of a connection that closes all leave, however short the turns are")
    func closing() async throws {
        try await RunningServer.run { limits in
            limits.turnTimeMax = .zero
        } _: { running in
            let (peer, writer) = (try running.ready(), try running.ready())
            for count in 1...100 { _ = try observe(peer, Self.fetch(limit: Int64(count))) }
            try writer.wait(until: "liveQueries", is: 100)
            peer.close()
            try writer.wait(until: "liveQueries", is: 0)
            #expect(try writer.metric("liveQueryMemoryBytes") == 0)
            #expect(try writer.call(.ping) == .pong)
        }
    }

    @Test("a live query without enough memory ends alone, and its memory is returned")
    func memoryOfAnother() async throws {
        try await RunningServer.run { limits in
            limits.liveMemory = SharedLimit(60 << 10, userShare: 0.5)
        } _: { running in
            let (small, large, writer) = (
                try running.ready(), try running.ready(), try running.ready()
            )
            let (limited, _) = try observe(small, Self.fetch(limit: 1))
            var (id, rows) = try observe(large)
            // The result grows by changes until it needs more than half of the memory.
            var failure: LarderError?
            var number: Int64 = 0
            while failure == nil, number < 1_000 {
                number += 1
                try insert(writer, number)
                let envelope = try large.receive()
                switch envelope?.reply {
                case .observed(let reply, _): rows.apply(reply)
                case .failed(let error) where envelope?.id == id: failure = error
                default: throw Unexpected(reply: envelope)
                }
            }
            #expect(failure?.code == .resourceExhausted && failure?.hint != nil)
            #expect(rows.numbers == (1..<number).map { $0 } && number > 20)
            try writer.wait(until: "liveQueries", is: 1)
            #expect(try receive(small, limited).newIndexes == [0])
            try insert(writer, -1)
            #expect(try receive(small, limited).newIndexes == [0])
            // The memory that it has returned can be used again.
            id = try observe(large, Self.fetch(limit: 2)).id
            try large.send(.cancel(requestID: id))
            #expect(try error(large, id) == .cancelled)
            small.close()
            try writer.wait(until: "liveQueries", is: 0)
            #expect(try writer.metric("liveQueryMemoryBytes") == 0)
        }
    }

    @Test("an observer whose history is deleted before its evaluation gets the whole result")
    func deletedHistory() async throws {
        try await RunningServer.run { running in
            let (peer, writer) = (try running.ready(), try running.ready())
            let request = try Self.fetch(interval: 3_600_000)
            var (id, rows) = try observe(peer, request)
            // These wait for the end of the interval.
            for number: Int64 in 1...3 { try insert(writer, number) }
            let deletion = try writer.call(.deleteHistory(.keeping(1)))
            #expect(deletion?.errorCode == nil)
            // The first result of another observer evaluates the query now.
            #expect(try observe(running.ready(), request).rows.numbers == [1, 2, 3])
            try receive(peer, id, until: 3, into: &rows)
            #expect(rows.wholeCount == 2 && rows.changeCount == 0 && rows.numbers == [1, 2, 3])
        }
    }
}
