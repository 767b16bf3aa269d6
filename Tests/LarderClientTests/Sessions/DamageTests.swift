import LarderModel
import LarderWire
import TestSupport
import Testing

@testable import LarderClient

@Suite("A server that sends malformed bytes")
struct DamageTests {
    /// The first connection gets these bytes as its first reply; later connections are served.
    private func damagingServer(
        _ bytes: @escaping @Sendable (UInt64) throws -> [UInt8]
    ) throws -> ScriptedServer {
        try ScriptedServer { peer, number in
            try peer.greet()
            guard number == 1 else { return try peer.serve() }
            guard let request = peer.receive() else { return }
            peer.send(try bytes(request.id))
        }
    }

    private static func object(_ id: UInt64) throws -> [UInt8] {
        try Peer.frame(id, .batches([.items([5])], more: false))
    }

    @Test("replies that arrive byte by byte are decoded")
    func split() throws {
        let server = try ScriptedServer { peer, _ in
            try peer.greet()
            while let request = peer.receive() {
                for byte in try Self.object(request.id) { peer.send([byte]) }
            }
        }
        defer { server.stop() }
        let client = try StoreClient.connect(to: server.path, options: .longTimeouts())
        for _ in 0..<5 { #expect(try client.object(for: .item(5))?["number"] == 5) }
        client.close()
    }

    @Test("a read is retried if its reply is truncated, at any byte")
    func truncated() throws {
        for length in 0..<(try Self.object(2).count) {
            let server = try damagingServer { Array(try Self.object($0).prefix(length)) }
            let client = try StoreClient.connect(to: server.path, options: .longTimeouts())
            #expect(try client.object(for: .item(5))?["number"] == 5)
            #expect(server.connectionCount == 2)
            client.close()
            server.stop()
        }
    }

    @Test("a write whose reply is truncated is indeterminate")
    func truncatedWrite() throws {
        let server = try damagingServer {
            Array(try Peer.frame($0, .saved(SaveResult())).dropLast())
        }
        defer { server.stop() }
        let client = try StoreClient.connect(to: server.path, options: .longTimeouts())
        #expect(code { _ = try client.insert("Item", [:]) } == .indeterminate)
        client.close()
    }

    @Test(
        "garbage ends the connection with an error, and the next call gets a new connection",
        arguments: [
            [0, 0, 0, 4, 0xFF, 0xFF, 0xFF, 0xFF], [0x7F, 0xFF, 0xFF, 0xFF], [0, 0, 0, 0],
            [0xFF, 0xFF, 0xFF, 0xFF, 1, 2, 3],
        ] as [[UInt8]])
    func garbage(bytes: [UInt8]) async throws {
        let server = try damagingServer { _ in bytes }
        defer { server.stop() }
        let client = try await StoreClient.connect(to: server.path, options: .longTimeouts())
        await inThread {
            let code = code { _ = try client.object(for: .item(1)) }
            #expect([.malformedFrame, .frameTooLong, .malformedMessage].contains(code))
            try client.ping()
        }
        #expect(server.connectionCount == 2)
        client.close()
    }

    @Test("garbage as the reply to a write leaves it indeterminate")
    func garbageToWrite() async throws {
        let server = try damagingServer { _ in [0xFF, 0xFF, 0xFF, 0xFF] }
        defer { server.stop() }
        let client = try await StoreClient.connect(to: server.path, options: .longTimeouts())
        #expect(await asyncCode { _ = try await client.insert("Item", [:]) } == .indeterminate)
        try await client.ping()
        client.close()
    }

    @Test(
        "a reply without a request ends the connection, and the next call gets a new one")
    func unknownRequest() throws {
        let server = try damagingServer { try Self.object($0 + 1_000) }
        defer { server.stop() }
        let client = try StoreClient.connect(to: server.path, options: .longTimeouts())
        #expect(code { _ = try client.object(for: .item(1)) } == .malformedMessage)
        try client.ping()
        client.close()
    }

    @Test("callers get the server's closing error, and the next call gets a new connection")
    func closingError() throws {
        let server = try damagingServer { _ in
            try Peer.frame(0, .failed(LarderError(.resourceExhausted, "too much waits")))
        }
        defer { server.stop() }
        let client = try StoreClient.connect(to: server.path, options: .longTimeouts())
        #expect(code { _ = try client.object(for: .item(1)) } == .resourceExhausted)
        try client.ping()
        client.close()
    }

    @Test("random bytes never trap, and the client reconnects")
    func random() throws {
        var generator = SeededGenerator.fromEnvironment("random bytes to a client")
        for _ in 0..<50 {
            var bytes = try Self.object(2)
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let index = Int.random(in: 0..<bytes.count, using: &generator)
                bytes[index] = UInt8.random(in: 0...255, using: &generator)
            }
            let damaged = bytes
            let server = try damagingServer { _ in damaged }
            let client = try StoreClient.connect(to: server.path, options: .longTimeouts())
            _ = code { _ = try client.object(for: .item(5)) }
            #expect(code { try client.ping() } == nil, "LARDER_SEED=\(generator.seed)")
            client.close()
            server.stop()
        }
    }
}
