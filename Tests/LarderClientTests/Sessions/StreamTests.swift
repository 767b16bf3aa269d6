import LarderModel
import LarderWire
import Testing

@testable import LarderClient

@Suite("Streams of batches")
struct StreamTests {
    private let query = Query.fetch(Fetch("Item"))

    private func servingServer(batchCount: Int64) throws -> ScriptedServer {
        try ScriptedServer { peer, _ in
            try peer.greet()
            try peer.serve(batchCount: batchCount)
        }
    }

    /// Records every request, and serves streams of ten batches.
    private func recordingServer(_ seen: Recorder<Request>) throws -> ScriptedServer {
        try ScriptedServer { peer, _ in
            try peer.greet()
            var query: RequestEnvelope?
            var sent: Int64 = 0
            func send(_ count: Int64) throws {
                for _ in 0..<count where sent < 10 {
                    sent += 1
                    guard let id = query?.id else { return }
                    try peer.reply(id, .batches([.items([sent])], more: sent < 10))
                }
            }
            while let envelope = peer.receive() {
                seen.append(envelope.request)
                switch envelope.request {
                case .query(let request):
                    query = envelope
                    try send(Int64(request.credit))
                case .credit(_, let batches): try send(Int64(batches))
                case .cancel: break
                default: try peer.reply(to: envelope)
                }
            }
        }
    }

    @Test("the batches of a stream come in order, then nil, and nil again")
    func order() throws {
        let server = try servingServer(batchCount: 25)
        defer { server.stop() }
        let client = try StoreClient.connect(to: server.path, options: .longTimeouts())
        let stream = try client.stream(query)
        var numbers: [Int64] = []
        while let batch = try stream.next() { numbers += batch.numbers }
        #expect(numbers == Array(1...250))
        #expect(try stream.next() == nil)
        client.close()
    }

    @Test("a loop in a task reads a stream of a hundred thousand rows")
    func manyRows() async throws {
        let server = try servingServer(batchCount: 10_000)
        defer { server.stop() }
        let client = try await StoreClient.connect(to: server.path, options: .longTimeouts())
        var (count, sum): (Int64, Int64) = (0, 0)
        for try await batch in try await client.stream(query).batches {
            count += Int64(batch.rowCount)
            sum += batch.numbers.reduce(0, +)
        }
        #expect(count == 100_000 && sum == 100_000 * 100_001 / 2)
        client.close()
    }

    @Test("the first batch of a stream without rows is returned, because it has the columns")
    func empty() throws {
        let server = try ScriptedServer { peer, _ in
            try peer.greet()
            while let request = peer.receive() {
                try peer.reply(request.id, .batches([.items([])], more: false))
            }
        }
        defer { server.stop() }
        let client = try StoreClient.connect(to: server.path, options: .longTimeouts())
        let stream = try client.stream(query)
        #expect(try stream.next()?.columns.map(\.name) == ["number"])
        #expect(try stream.next() == nil)
        client.close()
    }

    @Test("other calls proceed between two batches of a stream, in threads and tasks")
    func interleaved() async throws {
        let server = try servingServer(batchCount: 50)
        defer { server.stop() }
        let client = try await StoreClient.connect(to: server.path, options: .longTimeouts())
        await inThread {
            let (first, second) = (try client.stream(query), try client.stream(query))
            var numbers: [Int64] = []
            while let batch = try first.next() {
                numbers += batch.numbers
                #expect(try client.object(for: .item(5))?["number"] == 5)
                #expect(try second.next() == batch)
            }
            #expect(numbers == Array(1...500))
        }
        let stream = try await client.stream(query)
        var count = 0
        while let batch = try await stream.next() {
            count += batch.rowCount
            #expect(try await client.object(for: .item(6))?["number"] == 6)
        }
        #expect(count == 500)
        client.close()
    }

    @Test("a stream grants its window as credit, and then the number of batches taken")
    func window() throws {
        let seen = Recorder<Request>()
        let server = try recordingServer(seen)
        defer { server.stop() }
        let client = try StoreClient.connect(to: server.path, options: .longTimeouts())
        let stream = try client.stream(query)
        try client.ping()
        guard case .query(let request) = seen.entries.first else {
            Issue.record("the query was not sent")
            return
        }
        #expect(request.credit == StreamSource.window)
        #expect(seen.entries.count == 2, "no batch was taken, so no credit is granted")
        _ = try stream.next()
        try client.ping()
        #expect(seen.entries.count == 3)
        _ = try stream.next()
        try client.ping()
        #expect(seen.entries.count == 5)
        #expect(seen.entries.contains { if case .credit(_, 2) = $0 { true } else { false } })
        client.close()
    }

    @Test("cancelling a stream sends a cancellation, and next returns nil")
    func cancel() throws {
        let seen = Recorder<Request>()
        let server = try recordingServer(seen)
        defer { server.stop() }
        let client = try StoreClient.connect(to: server.path, options: .longTimeouts())
        let stream = try client.stream(query)
        _ = try stream.next()
        stream.cancel()
        #expect(try stream.next() == nil)
        stream.cancel()
        try client.ping()
        #expect(seen.entries.filter { if case .cancel = $0 { true } else { false } }.count == 1)
        client.close()
    }

    @Test("a stream of batches that is released is cancelled")
    func released() throws {
        let seen = Recorder<Request>()
        let server = try recordingServer(seen)
        defer { server.stop() }
        let client = try StoreClient.connect(to: server.path, options: .longTimeouts())
        do {
            let stream = try client.stream(query)
            _ = try stream.next()
        }
        try client.ping()
        #expect(seen.entries.contains { if case .cancel = $0 { true } else { false } })
        client.close()
    }

    @Test("leaving a loop over a stream early cancels the stream")
    func leftEarly() async throws {
        let seen = Recorder<Request>()
        let server = try recordingServer(seen)
        defer { server.stop() }
        let client = try await StoreClient.connect(to: server.path, options: .longTimeouts())
        let stream = try await client.stream(query)
        for try await batch in stream.batches where batch.numbers == [2] { break }
        #expect(try await stream.next() == nil)
        try await client.ping()
        #expect(seen.entries.contains { if case .cancel = $0 { true } else { false } })
        client.close()
    }

    @Test("cancelling in another thread wakes the task that waits for a batch")
    func cancelWhileWaiting() async throws {
        let isRequested = Flag()
        let server = try ScriptedServer { peer, _ in
            try peer.greet()
            while peer.receive() != nil { isRequested.raise() }
        }
        defer { server.stop() }
        let client = try await StoreClient.connect(to: server.path, options: .longTimeouts())
        let stream = try await client.stream(query)
        let waiting = Task { try await stream.next() }
        await inThread { isRequested.wait() }
        stream.cancel()
        #expect(try await waiting.value == nil)
        client.close()
    }

    @Test("a stream that is cancelled while its connection is replaced is not opened again")
    func cancelWhileReconnecting() async throws {
        let reconnecting = Flag()
        let cancelled = Flag()
        let server = try ScriptedServer { peer, number in
            if number == 1 {
                try peer.greet()
                _ = peer.receive()
                return
            }
            reconnecting.raise()
            cancelled.wait()
            try peer.greet()
            try peer.serve()
        }
        defer { server.stop() }
        let client = try await StoreClient.connect(to: server.path, options: .longTimeouts())
        let stream = try await client.stream(query)
        let waiting = Task { try await stream.next() }
        await inThread { reconnecting.wait() }
        stream.cancel()
        cancelled.raise()
        #expect(try await waiting.value == nil)
        #expect(try await stream.next() == nil)
        client.close()
    }

    @Test("an error within a stream follows the batches before it, and ends it")
    func failing() throws {
        let server = try ScriptedServer { peer, _ in
            try peer.greet()
            while let request = peer.receive() {
                try peer.reply(request.id, .batches([.items([1])], more: true))
                try peer.reply(request.id, .failed(LarderError(.snapshotExpired, "too late")))
            }
        }
        defer { server.stop() }
        let client = try StoreClient.connect(to: server.path, options: .longTimeouts())
        let stream = try client.stream(query)
        #expect(try stream.next()?.numbers == [1])
        #expect(code { _ = try stream.next() } == .snapshotExpired)
        #expect(try stream.next() == nil)
        client.close()
    }

    @Test("a batch that does not arrive in time ends its stream")
    func timeout() throws {
        let server = try ScriptedServer { peer, _ in
            try peer.greet()
            while let request = peer.receive() {
                guard case .query = request.request else { continue }
                try peer.reply(request.id, .batches([.items([1])], more: true))
            }
        }
        defer { server.stop() }
        let client = try StoreClient.connect(
            to: server.path, options: .longTimeouts(requestTimeout: .milliseconds(500)))
        let stream = try client.stream(query)
        #expect(try stream.next()?.numbers == [1])
        #expect(code { _ = try stream.next() } == .timeout)
        #expect(try stream.next() == nil)
        client.close()
    }

    @Test("a server that exceeds its credit loses the connection")
    func overrun() throws {
        let server = try ScriptedServer { peer, _ in
            try peer.greet()
            guard let request = peer.receive() else { return }
            // In one piece, so that the client cannot take a batch before the last one arrives.
            peer.send(
                try (1...5 as ClosedRange<Int64>).flatMap {
                    try Peer.frame(request.id, .batches([.items([$0])], more: true))
                })
            _ = peer.receive()
        }
        defer { server.stop() }
        let client = try StoreClient.connect(to: server.path, options: .longTimeouts())
        let stream = try client.stream(query)
        for key in 1...4 as ClosedRange<Int64> {
            #expect(try stream.next()?.numbers == [key])
        }
        #expect(code { _ = try stream.next() } == .malformedMessage)
        client.close()
    }

    @Test("a stream more than the server's maximum is refused, and the others continue")
    func tooMany() throws {
        let server = try servingServer(batchCount: 10)
        defer { server.stop() }
        let client = try StoreClient.connect(to: server.path, options: .longTimeouts())
        let streams = try (0..<31).map { _ in try client.stream(query) }
        let refused = try client.stream(query)
        #expect(code { _ = try refused.next() } == .resourceExhausted)
        try client.ping()
        for stream in streams { #expect(try stream.next()?.rowCount == 10) }
        client.close()
    }

    @Test("a query that cannot be encoded is refused before it is sent")
    func unencodable() throws {
        let server = try servingServer(batchCount: 1)
        defer { server.stop() }
        let client = try StoreClient.connect(to: server.path, options: .longTimeouts())
        let deep = (0..<200).reduce(QueryExpression.argument(0)) { tree, _ in .not(tree) }
        let query = Query.count(entityName: "Item", predicate: .tree(deep))
        #expect(code { _ = try client.stream(query) } != nil)
        try client.ping()
        client.close()
    }
}
