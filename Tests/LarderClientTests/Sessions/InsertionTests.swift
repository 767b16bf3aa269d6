import LarderModel
import LarderWire
import Testing

@testable import LarderClient

@Suite("Streams of new objects")
struct InsertionTests {
    private static func rows(_ numbers: [Int64]) -> Batch {
        Batch(
            rowCount: numbers.count,
            columns: [
                Column(name: "number", kind: .attribute(.int64), storage: .integers(numbers))
            ])
    }

    /// Serves one stream. `reply` is called with 0 when the stream is opened, and with the number
    /// of each batch from 1. The connection ends when it returns false.
    private func server(
        _ reply: @escaping @Sendable (Peer, UInt64, Int64, Bool) throws -> Bool
    ) throws -> ScriptedServer {
        try ScriptedServer { peer, _ in
            try peer.greet()
            var number: Int64 = 0
            var id: UInt64 = 0
            while let envelope = peer.receive() {
                switch envelope.request {
                case .insertRows:
                    (id, number) = (envelope.id, 0)
                    guard try reply(peer, id, 0, false) else { return }
                case .rows(_, _, let isLast):
                    number += 1
                    guard try reply(peer, id, number, isLast) else { return }
                default: break
                }
            }
        }
    }

    private static func progress(_ number: Int64) -> InsertedRows {
        InsertedRows(rowCount: number * 2, batchCount: number, transaction: number)
    }

    @Test("an insertion has a few batches at most in flight, and counts its rows")
    func window() async throws {
        let server = try server { peer, id, number, isLast in
            // The server replies only when the client has as many batches in flight as allowed.
            guard number % Int64(Limits.unacknowledgedBatchesMax) == 0 || isLast, number > 0 else {
                return true
            }
            try peer.reply(id, .inserted(Self.progress(number), more: !isLast))
            return true
        }
        defer { server.stop() }
        let client = try await StoreClient.connect(to: server.path, options: .longTimeouts())
        for isAsync in [false, true] {
            let stream = try await client.openInsertion(Insertion("Item"))
            for _ in 0..<12 {
                if isAsync {
                    try await stream.send(Self.rows([1, 2]))
                } else {
                    try Self.send(Self.rows([1, 2]), to: stream)
                }
            }
            #expect(stream.progress.batchCount == 8)
            let result = try await stream.finish()
            #expect(result.rowCount == result.batchCount * 2)
        }
        client.close()
    }

    @Test("finishing an insertion waits if the maximum of batches is in flight")
    func windowAtTheEnd() async throws {
        let server = try ScriptedServer { peer, _ in
            try peer.greet()
            var (id, number): (UInt64, Int64) = (0, 0)
            var hasReplied = false
            while let envelope = peer.receive() {
                switch envelope.request {
                case .insertRows: id = envelope.id
                case .rows(_, _, let isLast):
                    number += 1
                    if number > Limits.unacknowledgedBatchesMax { #expect(hasReplied) }
                    if isLast { try peer.reply(id, .inserted(Self.progress(number), more: false)) }
                case .ping:
                    // From here on the client may send another batch.
                    hasReplied = true
                    try peer.reply(id, .inserted(Self.progress(number), more: true))
                    try peer.reply(envelope.id, .pong)
                default: break
                }
            }
        }
        defer { server.stop() }
        let client = try await StoreClient.connect(to: server.path, options: .longTimeouts())
        let stream = try await client.openInsertion(Insertion("Item"))
        for number in 0..<Int64(Limits.unacknowledgedBatchesMax) {
            try await stream.send(Self.rows([number]))
        }
        let end = Task { try await stream.finish() }
        for _ in 0..<1_000 { await Task.yield() }
        try await client.ping()
        let expected = Int64(Limits.unacknowledgedBatchesMax) + 1
        #expect(try await end.value.batchCount == expected)
        client.close()
    }

    private static func send(_ batch: Batch, to stream: InsertionStream) throws {
        try stream.send(batch)
    }

    @Test("the server's error ends an insertion, with the indices of the refused rows")
    func refused() throws {
        let violation = ChangeViolation(.validationFailed, "too much", change: 3)
        let server = try server { peer, id, number, _ in
            if number == 1 { try peer.reply(id, .inserted(Self.progress(1), more: true)) }
            if number == 2 { try peer.reply(id, .failed(LarderError(violation))) }
            return true
        }
        defer { server.stop() }
        let client = try StoreClient.connect(to: server.path, options: .longTimeouts())
        let stream = try client.openInsertion(Insertion("Item"))
        try stream.send(Self.rows([1, 2]))
        try stream.send(Self.rows([3, 4]))
        let error = #expect(throws: LarderError.self) { try stream.settle() }
        #expect(error?.details.map(\.change) == [3])
        #expect(stream.progress.rowCount == 2)
        #expect(throws: LarderError.self) { try stream.send(Self.rows([5])) }
        client.close()
    }

    @Test("the error of an insertion that loses its connection has the number of stored rows")
    func lost() throws {
        let server = try server { peer, id, number, isLast in
            if number == 1 { try peer.reply(id, .inserted(Self.progress(1), more: true)) }
            return number < 2
        }
        defer { server.stop() }
        func error(_ isAtomic: Bool, finishing: Bool) throws -> LarderError? {
            let client = try StoreClient.connect(to: server.path, options: .longTimeouts())
            defer { client.close() }
            let stream = try client.openInsertion(Insertion("Item", isAtomic: isAtomic))
            return #expect(throws: LarderError.self) {
                try stream.send(Self.rows([1, 2]))
                try stream.settle()
                if finishing { _ = try stream.finish() }
                try stream.send(Self.rows([3]))
                try stream.settle()
            }
        }
        let some = try error(false, finishing: false)
        #expect(some?.code == .indeterminate)
        #expect(some?.message.contains("2 rows are stored, and possibly some after") == true)
        let nothing = try error(true, finishing: false)
        #expect(nothing?.code == .connectionFailed)
        #expect(nothing?.message.hasSuffix("no rows are stored") == true)
        #expect(try error(true, finishing: true)?.code == .indeterminate)
    }

    @Test("an insertion that is released is cancelled")
    func released() throws {
        let seen = Recorder<Request>()
        let server = try ScriptedServer { peer, _ in
            try peer.greet()
            while let envelope = peer.receive() {
                seen.append(envelope.request)
                if case .ping = envelope.request { try peer.reply(envelope.id, .pong) }
            }
        }
        defer { server.stop() }
        let client = try StoreClient.connect(to: server.path, options: .longTimeouts())
        _ = try client.openInsertion(Insertion("Item"))
        try client.ping()
        let requests = seen.entries
        #expect(requests.first == .insertRows(Insertion("Item")))
        #expect(requests.dropFirst().first == .cancel(requestID: 2))
        client.close()
    }
}
