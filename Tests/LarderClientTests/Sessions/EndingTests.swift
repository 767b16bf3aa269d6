import LarderModel
import LarderWire
import Testing

@testable import LarderClient

@Suite("Calls that end without their answer")
struct EndingTests {
    /// Answers nothing but pings; notes what it was asked.
    private func silentServer(_ seen: Journal<RequestEnvelope>, asked: Flag) throws
        -> ScriptedServer
    {
        try ScriptedServer { peer, _ in
            try peer.greet()
            while let envelope = peer.receive() {
                seen.note(envelope)
                if case .ping = envelope.request {
                    try peer.answer(envelope.id, .pong)
                } else {
                    asked.raise()
                }
            }
        }
    }

    private func impatient() -> StoreClient.Options {
        .patient(requestTimeout: .milliseconds(500))
    }

    @Test("a read that is not answered in time is a timeout; the server is told both")
    func readTimeout() throws {
        let seen = Journal<RequestEnvelope>()
        let server = try silentServer(seen, asked: Flag())
        defer { server.stop() }
        let client = try StoreClient.connect(to: server.path, options: impatient())
        #expect(code { _ = try client.object(for: .item(1)) } == .timeout)
        try client.ping()
        let get = try #require(seen.entries.first)
        #expect((1...500).contains(get.timeoutMilliseconds))
        #expect(seen.entries.map(\.request).contains(.cancel(requestID: get.id)))
        client.close()
    }

    @Test("a write that was sent and is not answered in time is indeterminate")
    func writeTimeout() async throws {
        let server = try silentServer(Journal(), asked: Flag())
        defer { server.stop() }
        let client = try await StoreClient.connect(to: server.path, options: impatient())
        await inThread {
            #expect(code { _ = try client.insert("Item", [:]) } == .indeterminate)
        }
        #expect(await asyncCode { _ = try await client.insert("Item", [:]) } == .indeterminate)
        client.close()
    }

    @Test("a task's read that is not answered in time is a timeout")
    func taskTimeout() async throws {
        let server = try silentServer(Journal(), asked: Flag())
        defer { server.stop() }
        let client = try await StoreClient.connect(to: server.path, options: impatient())
        #expect(await asyncCode { _ = try await client.object(for: .item(1)) } == .timeout)
        #expect(await asyncCode { _ = try await client.fetch("Item") } == .timeout)
        try await client.ping()
        client.close()
    }

    @Test("threads that follow a reader keep their own deadlines")
    func followersTimeOut() async throws {
        let server = try silentServer(Journal(), asked: Flag())
        defer { server.stop() }
        let client = try await StoreClient.connect(to: server.path, options: impatient())
        await inThreads(8) { _ in
            #expect(code { _ = try client.object(for: .item(1)) } == .timeout)
        }
        await inThread { try client.ping() }
        client.close()
    }

    @Test("a reply that comes too late is dropped, and later calls get theirs")
    func lateReply() throws {
        let cancelled = Flag()
        let server = try ScriptedServer { peer, _ in
            try peer.greet()
            var late: RequestEnvelope?
            while let envelope = peer.receive() {
                switch envelope.request {
                case .cancel: cancelled.raise()
                case .ping:
                    if let late { try peer.answer(late) }
                    try peer.answer(envelope)
                default: late = envelope
                }
            }
        }
        defer { server.stop() }
        let client = try StoreClient.connect(to: server.path, options: impatient())
        #expect(code { _ = try client.object(for: .item(1)) } == .timeout)
        cancelled.wait()
        try client.ping()
        try client.ping()
        client.close()
    }

    @Test("cancelling a task ends its call, and the server is told")
    func cancellation() async throws {
        let (seen, asked) = (Journal<RequestEnvelope>(), Flag())
        let server = try silentServer(seen, asked: asked)
        defer { server.stop() }
        let client = try await StoreClient.connect(to: server.path, options: .patient())
        let call = Task { await asyncCode { _ = try await client.object(for: .item(1)) } }
        await inThread { asked.wait() }
        call.cancel()
        #expect(await call.value == .cancelled)
        try await client.ping()
        let get = try #require(seen.entries.first)
        #expect(seen.entries.map(\.request).contains(.cancel(requestID: get.id)))
        client.close()
    }

    @Test("cancelling a write that was sent is indeterminate")
    func cancelledWrite() async throws {
        let asked = Flag()
        let server = try silentServer(Journal(), asked: asked)
        defer { server.stop() }
        let client = try await StoreClient.connect(to: server.path, options: .patient())
        let call = Task { await asyncCode { _ = try await client.insert("Item", [:]) } }
        await inThread { asked.wait() }
        call.cancel()
        #expect(await call.value == .indeterminate)
        client.close()
    }

    @Test("a task that was cancelled before its call does not wait")
    func cancelledBefore() async throws {
        let server = try silentServer(Journal(), asked: Flag())
        defer { server.stop() }
        let client = try await StoreClient.connect(to: server.path, options: .patient())
        let (started, go) = (Flag(), Flag())
        let call = Task {
            started.raise()
            await inThread { go.wait() }
            return await asyncCode { _ = try await client.object(for: .item(1)) }
        }
        await inThread { started.wait() }
        call.cancel()
        go.raise()
        #expect(await call.value == .cancelled)
        client.close()
    }

    @Test("closing the client ends every call that waits, in threads and tasks")
    func close() async throws {
        let count = 8
        let (arrived, all) = (Journal<UInt64>(), Flag())
        let server = try ScriptedServer { peer, _ in
            try peer.greet()
            while let envelope = peer.receive() {
                arrived.note(envelope.id)
                if arrived.entries.count == count { all.raise() }
            }
        }
        defer { server.stop() }
        let client = try await StoreClient.connect(to: server.path, options: .patient())
        async let threads: Void = inThreads(4) { number in
            let code = code {
                if number < 2 {
                    _ = try client.object(for: .item(1))
                } else {
                    _ = try client.insert("Item", [:])
                }
            }
            #expect(code == (number < 2 ? .connectionFailed : .indeterminate))
        }
        async let tasks: Void = withTaskGroup { group in
            for number in 0..<4 {
                group.addTask {
                    let code = await asyncCode {
                        if number < 2 {
                            _ = try await client.object(for: .item(1))
                        } else {
                            try await client.delete(.item(1))
                        }
                    }
                    #expect(code == (number < 2 ? .connectionFailed : .indeterminate))
                }
            }
        }
        await inThread { all.wait() }
        client.close()
        _ = await (threads, tasks)
        #expect(await asyncCode { try await client.ping() } == .connectionFailed)
        await inThread { #expect(code { try client.ping() } == .connectionFailed) }
    }
}
