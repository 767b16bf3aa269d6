import FoundationEssentials
import LarderModel
import LarderWire
import Testing

@testable import LarderClient

@Suite("Reconnection")
struct ReconnectionTests {
    /// The first connection is closed after its first request; later connections are served.
    private func closingOnce(_ later: Recorder<Request> = Recorder()) throws -> ScriptedServer {
        try ScriptedServer { peer, number in
            try peer.greet()
            if number == 1 {
                _ = peer.receive()
                return
            }
            while let envelope = peer.receive() {
                later.append(envelope.request)
                if case .query = envelope.request {
                    try peer.reply(envelope.id, .batches([.items([1, 2])], more: false))
                } else {
                    try peer.reply(to: envelope)
                }
            }
        }
    }

    @Test("a read whose reply was lost is retried")
    func read() throws {
        let server = try closingOnce()
        defer { server.stop() }
        let client = try StoreClient.connect(to: server.path, options: .longTimeouts())
        #expect(try client.object(for: .item(5))?["number"] == 5)
        #expect(server.connectionCount == 2)
        client.close()
    }

    @Test("a task's read whose reply was lost is retried")
    func readInTask() async throws {
        let server = try closingOnce()
        defer { server.stop() }
        let client = try await StoreClient.connect(to: server.path, options: .longTimeouts())
        #expect(try await client.object(for: .item(5))?["number"] == 5)
        #expect(server.connectionCount == 2)
        client.close()
    }

    @Test("a write whose reply was lost is indeterminate, and is not sent again")
    func write() async throws {
        let later = Recorder<Request>()
        let server = try closingOnce(later)
        defer { server.stop() }
        let client = try await StoreClient.connect(to: server.path, options: .longTimeouts())
        await inThread {
            #expect(code { _ = try client.insert("Item", [:]) } == .indeterminate)
            try client.ping()
        }
        #expect(later.entries == [.ping])
        client.close()
    }

    @Test("a task's write whose reply was lost is indeterminate, and is not sent again")
    func writeInTask() async throws {
        let later = Recorder<Request>()
        let server = try closingOnce(later)
        defer { server.stop() }
        let client = try await StoreClient.connect(to: server.path, options: .longTimeouts())
        #expect(await asyncCode { _ = try await client.insert("Item", [:]) } == .indeterminate)
        try await client.ping()
        #expect(later.entries == [.ping])
        client.close()
    }

    @Test("a write with an idempotency key whose reply was lost is sent again unchanged")
    func keyedWrite() async throws {
        let later = Recorder<Request>()
        let server = try closingOnce(later)
        defer { server.stop() }
        let client = try await StoreClient.connect(to: server.path, options: .longTimeouts())
        await inThread {
            let inserted = try client.insert("Item", ["number": 1], idempotencyKey: "k")
            #expect(inserted == .item(1))
        }
        let name = PersistentIdentifier(temporary: "new", entityName: "Item")
        let set = ChangeSet([.insert(name, values: ["number": 1])], idempotencyKey: "k")
        #expect(later.entries == [.save(set)])
        client.close()
    }

    @Test("a task's write with an idempotency key whose reply was lost is sent again")
    func keyedWriteInTask() async throws {
        let later = Recorder<Request>()
        let server = try closingOnce(later)
        defer { server.stop() }
        let client = try await StoreClient.connect(to: server.path, options: .longTimeouts())
        let delete = ChangeSet([.delete(.item(1), ifVersion: nil)])
        #expect(try await client.save(delete, idempotencyKey: "k").deletedCount == 1)
        #expect(later.entries.count == 1)
        client.close()
    }

    @Test("a write with an idempotency key is indeterminate if no server comes back")
    func keyedWriteWithoutServer() async throws {
        let isRequested = Flag()
        let server = try ScriptedServer { peer, _ in
            try peer.greet()
            _ = peer.receive()
            isRequested.raise()
        }
        let client = try await StoreClient.connect(
            to: server.path, options: .longTimeouts(reconnectWait: .milliseconds(200)))
        let stopping = Task {
            await inThread {
                isRequested.wait()
                server.stop()
            }
        }
        await inThread {
            let error = #expect(throws: LarderError.self) {
                try client.update(.item(1), [:], idempotencyKey: "k")
            }
            #expect(error?.code == .indeterminate)
            #expect(error?.hint?.contains("same idempotency key") == true)
        }
        await stopping.value
        client.close()
    }

    @Test("a write that could not be sent is sent over the next connection")
    func unsentWrite() async throws {
        let closed = Flag()
        let server = try ScriptedServer { peer, number in
            try peer.greet()
            if number == 1 {
                peer.close()
                closed.raise()
                return
            }
            try peer.serve()
        }
        defer { server.stop() }
        let client = try await StoreClient.connect(to: server.path, options: .longTimeouts())
        await inThread {
            closed.wait()
            let inserted = try client.insert("Item", [:])
            #expect(inserted == .item(1))
        }
        #expect(server.connectionCount == 2)
        client.close()
    }

    @Test("a request that an unavailable server refused is retried over another connection")
    func unavailable() async throws {
        let server = try ScriptedServer { peer, number in
            try peer.greet()
            if number <= 3 {
                while let request = peer.receive() {
                    try peer.reply(request.id, .failed(LarderError(.unavailable, "stopping")))
                }
                return
            }
            try peer.serve()
        }
        defer { server.stop() }
        let client = try await StoreClient.connect(to: server.path, options: .longTimeouts())
        await inThread {
            let inserted = try client.insert("Item", [:])
            #expect(inserted == .item(1))
        }
        #expect(try await client.update(.item(1), [:]) == 2)
        #expect(server.connectionCount == 4)
        client.close()
    }

    @Test("a write without a reply from a server that shuts down is sent to the next server")
    func stopping() async throws {
        let server = try ScriptedServer { peer, number in
            try peer.greet()
            guard number == 1 else { return try peer.serve() }
            _ = peer.receive()
            try peer.reply(0, .failed(LarderError(.unavailable, "stopping")))
        }
        defer { server.stop() }
        let client = try await StoreClient.connect(to: server.path, options: .longTimeouts())
        await inThread {
            let inserted = try client.insert("Item", [:])
            #expect(inserted == .item(1))
        }
        #expect(server.connectionCount == 2)
        client.close()
    }

    @Test("the wait for an unavailable server ends with the server's error")
    func stillUnavailable() throws {
        let server = try ScriptedServer { peer, _ in
            try peer.greet()
            while let request = peer.receive() {
                try peer.reply(request.id, .failed(LarderError(.unavailable, "stopping")))
            }
        }
        defer { server.stop() }
        let client = try StoreClient.connect(
            to: server.path, options: .longTimeouts(reconnectWait: .milliseconds(100)))
        #expect(code { try client.ping() } == .unavailable)
        client.close()
    }

    @Test("callers in threads and tasks wait for a server that restarts")
    func restart() async throws {
        let serve: ScriptedServer.Script = { peer, _ in
            try peer.greet()
            try peer.serve()
        }
        let first = try ScriptedServer(serve)
        let client = try await StoreClient.connect(to: first.path, options: .longTimeouts())
        try await client.ping()
        first.stop()
        async let threads: Void = inThreads(4) { number in
            let object = try client.object(for: .item(Int64(number + 1)))
            let inserted = try client.insert("Item", [:])
            #expect(object != nil && inserted == .item(1))
        }
        async let tasks: Void = withThrowingTaskGroup(of: Void.self) { group in
            for key in 1...4 as ClosedRange<Int64> {
                group.addTask { _ = try await client.object(for: .item(key)) }
            }
            try await group.waitForAll()
        }
        let second = try ScriptedServer(at: first.socketPath, serve)
        await threads
        try await tasks
        #expect(second.connectionCount == 1)
        client.close()
        second.stop()
    }

    @Test("the wait for a server that does not return ends")
    func noServer() async throws {
        let server = try ScriptedServer { peer, _ in
            try peer.greet()
            try peer.serve()
        }
        let client = try await StoreClient.connect(
            to: server.path, options: .longTimeouts(reconnectWait: .milliseconds(100)))
        server.stop()
        await inThread {
            #expect(code { _ = try client.object(for: .item(1)) } == .connectionFailed)
            #expect(code { _ = try client.fetch("Item") } == .connectionFailed)
        }
        #expect(await asyncCode { try await client.ping() } == .connectionFailed)
        #expect(
            await asyncCode { _ = try await client.stream(.fetch(Fetch("Item"))) }
                == .connectionFailed)
        client.close()
    }

    @Test("a lost connection stays lost if the client does not wait for the server")
    func noWait() throws {
        let server = try closingOnce()
        defer { server.stop() }
        let client = try StoreClient.connect(
            to: server.path, options: .longTimeouts(reconnectWait: .zero))
        #expect(code { _ = try client.object(for: .item(1)) } == .connectionFailed)
        #expect(code { try client.ping() } == .connectionFailed)
        #expect(server.connectionCount == 1)
        client.close()
    }

    @Test("cancelling a task ends its wait for the server")
    func cancelled() async throws {
        let server = try ScriptedServer { peer, _ in
            try peer.greet()
            _ = peer.receive()
        }
        let client = try await StoreClient.connect(to: server.path, options: .longTimeouts())
        server.stop()
        let call = Task { await asyncCode { try await client.ping() } }
        call.cancel()
        #expect(await call.value == .cancelled)
        client.close()
    }

    @Test("closing the client ends the wait for the server")
    func closed() async throws {
        let server = try ScriptedServer { peer, _ in
            try peer.greet()
            _ = peer.receive()
        }
        let client = try await StoreClient.connect(to: server.path, options: .longTimeouts())
        server.stop()
        async let thread: Void = inThread {
            #expect(code { try client.ping() } == .connectionFailed)
        }
        async let task: ErrorCode? = asyncCode { try await client.ping() }
        client.close()
        await thread
        #expect(await task == .connectionFailed)
    }

    @Test("a server that comes back with another store is refused")
    func otherStore() throws {
        let server = try ScriptedServer { peer, number in
            try peer.greet(number == 1 ? .sample : .sample(store: UUID()))
            _ = peer.receive()
        }
        defer { server.stop() }
        let client = try StoreClient.connect(to: server.path, options: .longTimeouts())
        do throws(LarderError) {
            _ = try client.object(for: .item(1))
            Issue.record("another store was accepted")
        } catch {
            #expect(error.code == .connectionFailed)
            #expect(error.message.contains("another store"))
        }
        client.close()
    }

    @Test("a call ends when the new server refuses the handshake")
    func refusedLater() throws {
        let server = try ScriptedServer { peer, number in
            if number == 1 {
                try peer.greet()
                _ = peer.receive()
            } else {
                let hello = try peer.receiveFirst()
                try peer.reply(hello.id, .failed(LarderError(.schemaMismatch, "another schema")))
            }
        }
        defer { server.stop() }
        let client = try StoreClient.connect(to: server.path, options: .longTimeouts())
        #expect(code { _ = try client.object(for: .item(1)) } == .schemaMismatch)
        #expect(server.connectionCount == 2)
        client.close()
    }

    @Test("a query whose result was lost in the middle is run again from the beginning")
    func list() throws {
        let server = try ScriptedServer { peer, number in
            try peer.greet()
            guard let request = peer.receive() else { return }
            try peer.reply(request.id, .batches([.items([1, 2])], more: true))
            if number == 1 { return }
            try peer.reply(request.id, .batches([.items([3])], more: false))
            _ = peer.receive()
        }
        defer { server.stop() }
        let client = try StoreClient.connect(to: server.path, options: .longTimeouts())
        #expect(try client.fetch("Item").compactMap { $0["number"] } == [1, 2, 3])
        #expect(server.connectionCount == 2)
        client.close()
    }

    @Test("a stream is opened again if no batch was taken")
    func streamBeforeItsFirstBatch() throws {
        let server = try closingOnce()
        defer { server.stop() }
        let client = try StoreClient.connect(to: server.path, options: .longTimeouts())
        let stream = try client.stream(.fetch(Fetch("Item")))
        #expect(try stream.next()?.numbers == [1, 2])
        #expect(try stream.next() == nil)
        #expect(server.connectionCount == 2)
        client.close()
    }

    @Test("a stream in progress fails when the connection is lost, and the client continues")
    func streamInProgress() throws {
        let server = try ScriptedServer { peer, number in
            try peer.greet()
            guard number == 1 else { return try peer.serve() }
            guard let request = peer.receive() else { return }
            try peer.reply(request.id, .batches([.items([1])], more: true))
        }
        defer { server.stop() }
        let client = try StoreClient.connect(to: server.path, options: .longTimeouts())
        let stream = try client.stream(.fetch(Fetch("Item")))
        #expect(try stream.next()?.numbers == [1])
        #expect(code { _ = try stream.next() } == .connectionFailed)
        #expect(try stream.next() == nil)
        try client.ping()
        client.close()
    }
}
