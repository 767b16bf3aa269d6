import LarderModel
import LarderWire
import Testing

@testable import LarderServer

extension SocketTests {
    @Suite("Saves in parts")
    struct SaveInPartsTests {
        private static func set(_ numbers: [Int64], author: String = "Ann") -> ChangeSet {
            ChangeSet(
                numbers.map { number in
                    .insert(
                        PersistentIdentifier(temporary: "n\(number)", entityName: "Item"),
                        values: ["number": .int(number)])
                }, author: author)
        }

        private static func bytes(_ numbers: [Int64]) throws -> [UInt8] {
            var parts = ChangeSetParts(set(numbers))
            return try parts.next()?.content ?? []
        }

        @Test("a save in parts stores nothing before the last part, then everything")
        func parts() async throws {
            try await RunningServer.run { running in
                let peer = try running.ready()
                let id = try peer.send(.saveInParts)
                let bytes = try Self.bytes(Array(1...100))
                let middle = bytes.count / 2
                try peer.send(.savePart(requestID: id, Array(bytes[..<middle]), isLast: false))
                #expect(try peer.receiveSaved(id)?.partCount == 1)
                #expect(running.store.records[\.numbers].isEmpty)
                try peer.send(.savePart(requestID: id, Array(bytes[middle...]), isLast: true))
                let result = try #require(try peer.receiveSaved(id)?.result)
                #expect(result.inserted.map(\.permanentKey) == Array(1...100))
                let stored = running.store.records[\.numbers]
                #expect(stored.keys.sorted().map { stored[$0] } == (1...100).map { Int64($0) })
                try peer.wait(until: "spooledBytes", is: 0)
                try peer.wait(until: "atomicStreams", is: 0)
            }
        }

        @Test("the result of a save of many objects arrives in several replies")
        func longResult() async throws {
            try await RunningServer.run { running in
                let peer = try running.ready()
                let id = try peer.send(.saveInParts)
                var parts = ChangeSetParts(Self.set(Array(1...150_001)))
                var (keys, replyCount): ([Int64], Int) = ([], 0)
                while let part = try parts.next() {
                    try peer.send(.savePart(requestID: id, part.content, isLast: part.isLast))
                    while true {
                        let reply = try #require(try peer.receiveSaved(id))
                        keys += reply.result.inserted.compactMap(\.permanentKey)
                        replyCount += reply.result.inserted.isEmpty ? 0 : 1
                        if !part.isLast || !reply.more { break }
                    }
                }
                #expect(keys == Array(1...150_001) && replyCount == 2)
            }
        }

        @Test("messages of another kind of stream are errors, and the connection stays open")
        func otherKind() async throws {
            try await RunningServer.run { running in
                let peer = try running.ready()
                let save = try peer.send(.saveInParts)
                try peer.sendRows(save, [1])
                #expect(try peer.receive()?.reply.errorCode == .malformedMessage)
                let rows = try peer.send(.insertRows(Insertion("Item")))
                try peer.send(.savePart(requestID: rows, [1], isLast: true))
                #expect(try peer.receive()?.reply.errorCode == .malformedMessage)
                try peer.send(.savePart(requestID: 77, [1], isLast: true))
                #expect(try peer.call(.ping) == .pong)
            }
        }

        @Test("parts that are no change set are an error, and nothing is stored")
        func noChangeSet() async throws {
            try await RunningServer.run { running in
                let peer = try running.ready()
                for content: [UInt8] in [[0xFF], [10, 5, 1], Array(repeating: 0xFF, count: 99)] {
                    let id = try peer.send(.saveInParts)
                    try peer.send(.savePart(requestID: id, content, isLast: true))
                    #expect(try peer.receive()?.reply.errorCode == .malformedMessage)
                }
                let empty = try peer.send(.saveInParts)
                try peer.send(.savePart(requestID: empty, [], isLast: true))
                #expect(try peer.receiveSaved(empty)?.result.inserted == [])
                #expect(running.store.records[\.numbers].isEmpty)
            }
        }

        @Test("a save in parts ends with its connection, its time, its quota and a cancellation")
        func ends() async throws {
            try await RunningServer.run { limits in
                limits.spoolBytes = SharedLimit(1_000, userShare: 1)
                limits.atomicStreams = SharedLimit(1, userShare: 1)
            } _: { running in
                let peer = try running.ready()
                let long = try peer.send(.saveInParts)
                #expect(try peer.call(.saveInParts)?.errorCode == .resourceExhausted)
                try peer.send(
                    .savePart(
                        requestID: long, Array(repeating: 1, count: 1_001), isLast: false))
                #expect(try peer.receive()?.reply.errorCode == .resourceExhausted)
                // The next one takes the only slot.
                try peer.wait(until: "atomicStreams", is: 0)
                let cancelled = try peer.send(.saveInParts)
                try peer.send(.cancel(requestID: cancelled))
                #expect(try peer.receive()?.reply.errorCode == .cancelled)
                try peer.wait(until: "atomicStreams", is: 0)
                try peer.send(.saveInParts, timeoutMilliseconds: 30)
                #expect(try peer.receive()?.reply.errorCode == .timeout)
                try peer.wait(until: "atomicStreams", is: 0)
                let open = try peer.send(.saveInParts)
                try peer.send(
                    .savePart(requestID: open, try Self.bytes([1]), isLast: false))
                _ = try peer.receiveSaved(open)
                peer.endOutput()
                #expect(try peer.receive()?.reply.errorCode == .malformedMessage)
                let witness = try running.ready()
                try witness.wait(until: "atomicStreams", is: 0)
                try witness.wait(until: "spooledBytes", is: 0)
                #expect(running.store.records[\.numbers].isEmpty)
            }
        }
    }
}

extension Peer {
    fileprivate func receiveSaved(
        _ id: UInt64
    ) throws -> (result: SaveResult, partCount: Int64, more: Bool)? {
        let envelope = try #require(try receive())
        #expect(envelope.id == id)
        switch envelope.reply {
        case .saved(let result): return (result, 0, false)
        case .savedPart(let result, let count): return (result, count, true)
        default:
            Issue.record("\(envelope)")
            return nil
        }
    }
}
