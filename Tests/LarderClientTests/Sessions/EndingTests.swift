import LarderModel
import LarderWire
import Testing

@testable import LarderClient

@Suite("Calls that end without a reply")
struct EndingTests {
    /// Replies to pings only, and records every request.
    private func unresponsiveServer(_ seen: Recorder<RequestEnvelope>, isRequested: Flag) throws
        -> ScriptedServer
    {
        try ScriptedServer { peer, _ in
            try peer.greet()
            while let envelope = peer.receive() {
                seen.append(envelope)
                if case .ping = envelope.request {
                    try peer.reply(envelope.id, .pong)
                } else {
                    isRequested.raise()
                }
            }
        }
    }

    private func shortTimeout() -> StoreClient.Options {
        .longTimeouts(requestTimeout: .milliseconds(500))
    }

    @Test("a read without a reply in time is a timeout and is cancelled")
    func readTimeout() throws {
        let seen = Recorder<RequestEnvelope>()
        let server = try unresponsiveServer(seen, isRequested: Flag())
        defer { server.stop() }
        let client = try StoreClient.connect(to: server.path, options: shortTimeout())
        #expect(code { _ = try client.object(for: .item(1)) } == .timeout)
        try client.ping()
        let get = try #require(seen.entries.first)
        #expect((1...500).contains(get.timeoutMilliseconds))
        #expect(seen.entries.map(\.request).contains(.cancel(requestID: get.id)))
        client.close()
    }

    @Test("a write that was sent and has no reply in time is indeterminate")
    func writeTimeout() async throws {
        let server = try unresponsiveServer(Recorder(), isRequested: Flag())
        defer { server.stop() }
        let client = try await StoreClient.connect(to: server.path, options: shortTimeout())
        await inThread {
            #expect(code { _ = try client.insert("Item", [:]) } == .indeterminate)
        }
        #expect(await asyncCode { _ = try await client.insert("Item", [:]) } == .indeterminate)
        client.close()
    }

    @Test("a task's read without a reply in time is a timeout")
    func taskTimeout() async throws {
        let server = try unresponsiveServer(Recorder(), isRequested: Flag())
        defer { server.stop() }
        let client = try await StoreClient.connect(to: server.path, options: shortTimeout())
        #expect(await asyncCode { _ = try await client.object(for: .item(1)) } == .timeout)
        #expect(await asyncCode { _ = try await client.fetch("Item") } == .timeout)
        try await client.ping()
        client.close()
    }

    @Test("threads that wait for a reading thread have their own deadlines")
    func waitingThreadsTimeOut() async throws {
        let server = try unresponsiveServer(Recorder(), isRequested: Flag())
        defer { server.stop() }
        let client = try await StoreClient.connect(to: server.path, options: shortTimeout())
        await inThreads(8) { _ in
            #expect(code { _ = try client.object(for: .item(1)) } == .timeout)
        }
        await inThread { try client.ping() }
        client.close()
    }

    @Test("a late reply to a call that timed out is dropped, and later calls get their own")
    func lateReply() throws {
        let cancelled = Flag()
        let server = try ScriptedServer { peer, _ in
            try peer.greet()
            var late: RequestEnvelope?
            while let envelope = peer.receive() {
                switch envelope.request {
                case .cancel: cancelled.raise()
                case .ping:
                    if let late { try peer.reply(to: late) }
                    try peer.reply(to: envelope)
                default: late = envelope
                }
            }
        }
        defer { server.stop() }
        let client = try StoreClient.connect(to: server.path, options: shortTimeout())
        #expect(code { _ = try client.object(for: .item(1)) } == .timeout)
        cancelled.wait()
        try client.ping()
        try client.ping()
        client.close()
    }

    @Test("cancelling a task ends its call and sends a cancellation")
    func cancellation() async throws {
        let (seen, isRequested) = (Recorder<RequestEnvelope>(), Flag())
        let server = try unresponsiveServer(seen, isRequested: isRequested)
        defer { server.stop() }
        let client = try await StoreClient.connect(to: server.path, options: .longTimeouts())
        let call = Task { await asyncCode { _ = try await client.object(for: .item(1)) } }
        await inThread { isRequested.wait() }
        call.cancel()
        #expect(await call.value == .cancelled)
        try await client.ping()
        let get = try #require(seen.entries.first)
        #expect(seen.entries.map(\.request).contains(.cancel(requestID: get.id)))
        client.close()
    }

    @Test("a cancelled write that was sent is indeterminate")
    func cancelledWrite() async throws {
        let isRequested = Flag()
        let server = try unresponsiveServer(Recorder(), isRequested: isRequested)
        defer { server.stop() }
        let client = try await StoreClient.connect(to: server.path, options: .longTimeouts())
        let call = Task { await asyncCode { _ = try await client.insert("Item", [:]) } }
        await inThread { isRequested.wait() }
        call.cancel()
        #expect(await call.value == .indeterminate)
        client.close()
    }

    @Test("a task that is cancelled before its call does not wait")
    func cancelledBefore() async throws {
        let server = try unresponsiveServer(Recorder(), isRequested: Flag())
        defer { server.stop() }
        let client = try await StoreClient.connect(to: server.path, options: .longTimeouts())
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

    @Test("closing the client ends every waiting call, in threads and tasks")
    func close() async throws {
        let count = 8
        let (arrived, all) = (Recorder<UInt64>(), Flag())
        let server = try ScriptedServer { peer, _ in
            try peer.greet()
            while let envelope = peer.receive() {
                arrived.append(envelope.id)
                if arrived.entries.count == count { all.raise() }
            }
        }
        defer { server.stop() }
        let client = try await StoreClient.connect(to: server.path, options: .longTimeouts())
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
