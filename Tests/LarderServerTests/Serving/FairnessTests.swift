import LarderModel
import LarderWire
import Testing

@testable import LarderServer

extension SocketTests {
    @Suite("Several users of a server")
    struct FairnessTests {
        private static let endless = Request.save(
            ChangeSet([
                .deleteAll(ObjectSelection("Item", where: .format("endless")))
            ]))

        @Test("a user's connections without a handshake leave room for those of other users")
        func handshakes() async throws {
            try await RunningServer.run { limits in
                limits.handshakes = SharedLimit(4, userShare: 0.5)
            } _: { running in
                let silent = try (0..<2).map { _ in try running.connect(as: 1) }
                #expect(try running.connect(as: 1).receiveUntilClosed() == [.resourceExhausted])
                #expect(try running.ready(as: 2).call(.schema) == .schema(running.schemaText))
                for peer in silent { try peer.shakeHands() }
                #expect(try running.ready(as: 1).call(.schema) == .schema(running.schemaText))
            }
        }

        @Test("a user's waiting writes leave memory and slots for those of other users")
        func waitingWrites() async throws {
            let gate = Gate()
            try await RunningServer.run(.init(writes: gate)) { limits in
                limits.writesQueued = SharedLimit(4, userShare: 0.5)
            } _: { running in
                let (greedy, other) = (try running.ready(as: 1), try running.ready(as: 2))
                try greedy.send(.insert(1))
                gate.waitForArrival()
                for number in 2...3 as ClosedRange<Int64> { try greedy.send(.insert(number)) }
                #expect(try greedy.call(.insert(4))?.errorCode == .resourceExhausted)
                try other.send(.insert(5))
                #expect(try other.call(.schema) == .schema(running.schemaText))
                gate.open()
                #expect(try other.receive()?.reply.errorCode == nil)
                for _ in 1...3 { #expect(try greedy.receive()?.reply.errorCode == nil) }
            }
        }

        @Test("a user's held results leave readers for the reads of other users")
        func heldStreams() async throws {
            try await RunningServer.run { limits in
                limits.readers = SharedLimit(4, userShare: 0.5)
                limits.readerWaitTimeMax = .milliseconds(20)
            } _: { running in
                let held = try (0..<2).map { _ in try running.ready(as: 1) }
                for peer in held {
                    #expect(try peer.call(.fetch("rows 100000", credit: 1))?.hasMore == true)
                }
                #expect(
                    try running.ready(as: 1).call(.fetch("rows 100000"))?.errorCode == .timeout)
                #expect(try running.ready(as: 2).call(.fetch("heavy"))?.rowCount == 1)
            }
        }

        @Test("reads of one user whose arguments take much memory run one after the other")
        func memoryOfReads() async throws {
            try await RunningServer.run { limits in
                // The memory of one short request is above the share, and below the total.
                limits.readMemory = SharedLimit(4_000, userShare: 0.5)
                limits.readerWaitTimeMax = .milliseconds(20)
            } _: { running in
                let held = try running.ready(as: 1)
                #expect(try held.call(.fetch("rows 100000", credit: 1))?.hasMore == true)
                #expect(
                    try running.ready(as: 1).call(.fetch("rows 100000"))?.errorCode == .timeout)
                #expect(try running.ready(as: 2).call(.fetch("heavy"))?.rowCount == 1)
                held.close()
                try running.ready(as: 2).wait(until: "poolReads", is: 1)
                #expect(try running.ready(as: 1).call(.fetch("heavy"))?.rowCount == 1)
            }
        }

        @Test("a long write is stopped for another user's save, and refused when its time is up")
        func longWrite() async throws {
            try await RunningServer.run { limits in
                limits.writerTimeMax = .milliseconds(1)
                limits.expiryInterval = .milliseconds(1)
            } _: { running in
                let (greedy, other) = (try running.ready(as: 1), try running.ready(as: 2))
                try greedy.send(Self.endless, timeoutMilliseconds: 500)
                try other.wait(until: "longWrites", isAtLeast: 1)
                #expect(try other.call(.insert(1))?.errorCode == nil)
                guard case .failed(let error)? = try greedy.receive()?.reply else {
                    Issue.record("not refused")
                    return
                }
                #expect(error.code == .timeout)
                #expect(running.store.records[\.numbers] == [1: 1])
            }
        }

        @Test("a long write ends at its deadline, and the writes that wait for it at theirs")
        func deadlines() async throws {
            try await RunningServer.run { limits in
                limits.expiryInterval = .milliseconds(1)
            } _: { running in
                let peer = try running.ready()
                let long = try peer.send(Self.endless, timeoutMilliseconds: 2_000)
                let ping = try peer.send(.ping, timeoutMilliseconds: 10)
                let save = try peer.send(.insert(1), timeoutMilliseconds: 10)
                let replies = try (0..<3).map { _ in try peer.receive() }
                #expect(Set(replies.dropLast().map { $0?.id }) == [ping, save])
                #expect(replies.last??.id == long)
                #expect(replies.allSatisfy { $0?.reply.errorCode == .timeout })
                #expect(running.store.records[\.numbers].isEmpty)
            }
        }
    }
}
