import FoundationEssentials
import Glibc
import LarderModel
import LarderWire
import Testing

@testable import LarderServer

extension SocketTests {
    @Suite("Insert streams")
    struct InsertStreamTests {
        @Test("each batch of an insert stream is a transaction with its own reply")
        func batchByBatch() async throws {
            try await RunningServer.run { running in
                let peer = try running.ready()
                let id = try peer.send(.insertRows(Insertion("Item", wantsIdentifiers: true)))
                try peer.sendRows(id, [1, 2, 3])
                try peer.sendRows(id, [4], isLast: true)
                let first = try peer.receiveInserted(id)
                #expect(first.more && first.rows.rowCount == 3 && first.rows.batchCount == 1)
                #expect(first.rows.keys == [KeyRange(first: 1, count: 3)])
                let last = try peer.receiveInserted(id)
                #expect(!last.more && last.rows.rowCount == 4 && last.rows.batchCount == 2)
                #expect(last.rows.keys == [KeyRange(first: 4, count: 1)])
                #expect(running.store.records[\.insertions] == [3, 1])
                #expect(running.store.records[\.sources].last?.clientName == "test")
            }
        }

        @Test("an atomic insert stream stores nothing before the last rows, then everything")
        func atomic() async throws {
            try await RunningServer.run { running in
                let peer = try running.ready()
                let id = try peer.send(.insertRows(Insertion("Item", isAtomic: true)))
                for part in 0..<20 {
                    try peer.sendRows(id, Array(Int64(part * 100)..<Int64(part * 100 + 100)))
                    let progress = try peer.receiveInserted(id)
                    #expect(progress.more && progress.rows.rowCount == Int64(part * 100 + 100))
                }
                #expect(running.store.records[\.insertions] == [])
                try peer.sendRows(id, nil, isLast: true)
                let last = try peer.receiveInserted(id)
                #expect(!last.more && last.rows.rowCount == 2_000 && last.rows.batchCount == 21)
                #expect(running.store.records[\.insertions] == [2_000])
                let stored = running.store.records[\.numbers]
                #expect(stored.keys.sorted().map { stored[$0] } == (0..<2_000).map { Int64($0) })
                try peer.wait(until: "spooledBytes", is: 0)
            }
        }

        @Test("the batches after an invalid one are dropped, and the connection stays open")
        func badBatch() async throws {
            try await RunningServer.run { running in
                let peer = try running.ready()
                let id = try peer.send(.insertRows(Insertion("Item")))
                try peer.sendRows(id, [1, 2])
                try peer.sendRows(id, [3, -4])
                try peer.sendRows(id, [5])
                #expect(try peer.receiveInserted(id).rows.rowCount == 2)
                let reply = try #require(try peer.receive())
                guard case .failed(let error) = reply.reply else {
                    Issue.record("\(reply)")
                    return
                }
                #expect(reply.id == id && error.code == .validationFailed)
                #expect(error.details.map(\.change) == [3])
                try peer.sendRows(id, [6], isLast: true)
                #expect(try peer.call(.ping) == .pong)
                #expect(running.store.records[\.insertions] == [2])
            }
        }

        @Test("columns of rows that are not in the schema are refused when they arrive")
        func badColumns() async throws {
            try await RunningServer.run { running in
                let peer = try running.ready()
                #expect(
                    try peer.call(.insertRows(Insertion("Nothing")))?.errorCode == .unknownEntity)
                for isAtomic in [false, true] {
                    let insertion = Insertion("Item", isAtomic: isAtomic)
                    let wrong = try peer.send(.insertRows(insertion))
                    let text = Column(
                        name: "number", kind: .attribute(.string),
                        storage: .bytes(heap: [97], ends: [1]))
                    let batch = Batch(rowCount: 1, columns: [text])
                    try peer.send(.rows(requestID: wrong, batch, isLast: false))
                    #expect(try peer.receive()?.reply.errorCode == .wrongType)
                    let unknown = try peer.send(.insertRows(insertion))
                    try peer.sendRows(unknown, [1], name: "nothing")
                    #expect(try peer.receive()?.reply.errorCode == .unknownProperty)
                    let late = try peer.send(.insertRows(insertion))
                    try peer.sendRows(late, [1], isLast: true)
                    #expect(try !peer.receiveInserted(late).more)
                }
                #expect(running.store.records[\.insertions] == [1, 1])
            }
        }

        @Test("too many unprocessed batches end an insert stream")
        func ahead() async throws {
            let gate = Gate()
            try await RunningServer.run(FakeStore.Options(writes: gate)) { running in
                let peer = try running.ready()
                let id = try peer.send(.insertRows(Insertion("Item")))
                for number in 0...Limits.unacknowledgedBatchesMax {
                    try peer.sendRows(id, [Int64(number)])
                }
                #expect(try peer.call(.schema) == .schema(running.schemaText))
                gate.open()
                #expect(try peer.receiveInserted(id).rows.rowCount == 1)
                #expect(try peer.receive()?.reply.errorCode == .resourceExhausted)
                #expect(running.store.records[\.insertions] == [1])
                #expect(try peer.call(.insert(9))?.errorCode == nil)
            }
        }

        @Test("two insert streams of one connection are separate")
        func twoStreams() async throws {
            try await RunningServer.run { running in
                let peer = try running.ready()
                let one = try peer.send(.insertRows(Insertion("Item", isAtomic: true)))
                let two = try peer.send(.insertRows(Insertion("Item", isAtomic: true)))
                try peer.sendRows(one, [1])
                _ = try peer.receiveInserted(one)
                try peer.sendRows(two, [2, 2])
                _ = try peer.receiveInserted(two)
                try peer.sendRows(one, [1, 1], isLast: true)
                #expect(try peer.receiveInserted(one).rows.rowCount == 3)
                try peer.send(.cancel(requestID: two))
                #expect(try peer.receive()?.reply.errorCode == .cancelled)
                #expect(running.store.records[\.insertions] == [3])
                #expect(Set(running.store.records[\.numbers].values) == [1])
            }
        }

        @Test("a client that disconnects or ends its output leaves nothing of an atomic stream")
        func vanishing() async throws {
            try await RunningServer.run { running in
                let (first, second) = (try running.ready(), try running.ready())
                for peer in [first, second] {
                    let id = try peer.send(.insertRows(Insertion("Item", isAtomic: true)))
                    try peer.sendRows(id, [1])
                    _ = try peer.receiveInserted(id)
                }
                first.close()
                second.endOutput()
                #expect(try second.receive()?.reply.errorCode == .malformedMessage)
                let witness = try running.ready()
                try witness.wait(until: "atomicStreams", is: 0)
                try witness.wait(until: "spooledBytes", is: 0)
                #expect(running.store.records[\.insertions] == [])
            }
        }

        @Test("an insert stream without its last rows ends after its time")
        func time() async throws {
            try await RunningServer.run { limits in
                limits.atomicStreamTimeMax = .milliseconds(60)
            } _: { running in
                let peer = try running.ready()
                try peer.send(.insertRows(Insertion("Item", isAtomic: true)))
                #expect(try peer.receive()?.reply.errorCode == .timeout)
                try peer.send(.insertRows(Insertion("Item")), timeoutMilliseconds: 30)
                #expect(try peer.receive()?.reply.errorCode == .timeout)
                let unbound = try peer.send(.insertRows(Insertion("Item")))
                try peer.sendRows(unbound, [1], isLast: true)
                #expect(try !peer.receiveInserted(unbound).more)
            }
        }

        @Test("one byte above the spool quota is refused, and so is one atomic stream more")
        func spoolLimits() async throws {
            try await RunningServer.run { limits in
                limits.spoolBytes = SharedLimit(1_000, userShare: 1)
                limits.atomicStreams = SharedLimit(1, userShare: 1)
            } _: { running in
                let peer = try running.ready()
                let id = try peer.send(.insertRows(Insertion("Item", isAtomic: true)))
                #expect(
                    try peer.call(.insertRows(Insertion("Item", isAtomic: true)))?.errorCode
                        == .resourceExhausted)
                try peer.sendRows(id, Array(repeating: 1, count: 100))
                #expect(try peer.receiveInserted(id).rows.rowCount == 100)
                try peer.sendRows(id, Array(repeating: 1, count: 100))
                #expect(try peer.receive()?.reply.errorCode == .resourceExhausted)
                try peer.wait(until: "atomicStreams", is: 0)
                let next = try peer.send(.insertRows(Insertion("Item", isAtomic: true)))
                try peer.sendRows(next, Array(repeating: 1, count: 100), isLast: true)
                #expect(try !peer.receiveInserted(next).more)
            }
        }

        @Test("a missing spool folder is a storage error")
        func noFolder() async throws {
            try await RunningServer.run(spoolFolder: "/nowhere") { running in
                let peer = try running.ready()
                #expect(
                    try peer.call(.insertRows(Insertion("Item", isAtomic: true)))?.errorCode
                        == .storageFailed)
            }
        }

        @Test("a stream for which no spool file can be made leaves the slot to later ones")
        func noFolderTakesNoPlace() async throws {
            try await RunningServer.run(spoolFolder: "/nowhere") { limits in
                limits.atomicStreams = SharedLimit(1, userShare: 1)
            } _: { running in
                let peer = try running.ready()
                let codes = try (0..<2).map { _ in
                    try peer.call(.insertRows(Insertion("Item", isAtomic: true)))?.errorCode
                }
                #expect(codes == [.storageFailed, .storageFailed])
            }
        }

        @Test("a server of a read-only store refuses insert streams")
        func readOnly() async throws {
            try await RunningServer.run(FakeStore.Options(isReadOnly: true)) { running in
                let peer = try running.ready()
                #expect(try peer.call(.insertRows(Insertion("Item")))?.errorCode == .readOnly)
            }
        }

        @Test("a save that waits for a long insert stream is rejected at its deadline")
        func waitingSave() async throws {
            let gate = Gate()
            try await RunningServer.run(FakeStore.Options(writes: gate)) { limits in
                limits.expiryInterval = .milliseconds(5)
            } _: { running in
                let (peer, other) = (try running.ready(), try running.ready())
                let id = try peer.send(.insertRows(Insertion("Item", isAtomic: true)))
                try peer.sendRows(id, [1], isLast: true)
                gate.waitForArrival()
                let reply = try other.call(.insert(2), timeoutMilliseconds: 20)
                #expect(reply?.errorCode == .timeout)
                gate.open()
                #expect(try !peer.receiveInserted(id).more)
                #expect(running.store.records[\.insertions] == [1])
                #expect(running.store.records[\.groups] == [])
            }
        }

        @Test("an atomic stream sends progress while it is stored, and can be cancelled")
        func progressAndCancel() async throws {
            let gate = Gate()
            try await RunningServer.run(FakeStore.Options(writes: gate)) { limits in
                limits.progressInterval = .milliseconds(5)
            } _: { running in
                let peer = try running.ready()
                let id = try peer.send(.insertRows(Insertion("Item", isAtomic: true)))
                try peer.sendRows(id, [1], isLast: true)
                for _ in 0..<3 { #expect(try peer.receiveInserted(id).more) }
                try peer.send(.cancel(requestID: id))
                // The reply to this request shows that the cancellation has arrived.
                try peer.send(.schema)
                while case .inserted? = try peer.receive()?.reply {}
                gate.open()
                var reply = try peer.receive()?.reply
                while case .inserted(_, more: true)? = reply { reply = try peer.receive()?.reply }
                #expect(reply?.errorCode == .cancelled)
                #expect(running.store.records[\.insertions] == [])
            }
        }

        @Test("a stopping server ends insert streams whose last rows have not arrived")
        func stopping() async throws {
            let running = try RunningServer()
            let peer = try running.ready()
            let id = try peer.send(.insertRows(Insertion("Item")))
            try peer.sendRows(id, [1])
            _ = try peer.receiveInserted(id)
            async let stopped: Void = running.server.stop()
            #expect(try peer.receiveUntilClosed().first == .unavailable)
            await stopped
        }
    }
}

extension Peer {
    /// Sends rows of a stream of items; nil sends a message without rows.
    func sendRows(
        _ id: UInt64, _ numbers: [Int64]?, name: String = "number", isLast: Bool = false
    ) throws {
        let batch = numbers.map { numbers in
            Batch(
                rowCount: numbers.count,
                columns: [
                    Column(name: name, kind: .attribute(.int64), storage: .integers(numbers))
                ])
        }
        try send(.rows(requestID: id, batch, isLast: isLast))
    }

    fileprivate func receiveInserted(_ id: UInt64) throws -> (rows: InsertedRows, more: Bool) {
        let envelope = try #require(try receive())
        guard case .inserted(let rows, let more) = envelope.reply else {
            Issue.record("\(envelope)")
            throw TimedOut(waitingFor: "reply to the rows")
        }
        #expect(envelope.id == id)
        return (rows, more)
    }
}
