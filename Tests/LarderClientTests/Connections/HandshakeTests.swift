import FoundationEssentials
import Glibc
import LarderModel
import LarderWire
import Testing

@testable import LarderClient

@Suite("Connecting and the handshake")
struct HandshakeTests {
    @Test(
        "the handshake gives the server the client's name and the client the server's description")
    func handshake() throws {
        let isGreeted = Flag()
        let server = try ScriptedServer { peer, _ in
            let hello = try peer.greet()
            #expect(hello.clientName == "tester" && hello.schemaVersion == "2.0.0")
            #expect(hello.schemaFingerprint == "fedcba9876543210")
            #expect(hello.protocolVersion == WireProtocol.version)
            isGreeted.raise()
            #expect(peer.receive() == nil)
        }
        defer { server.stop() }
        var options = StoreClient.Options.longTimeouts()
        options.clientName = "tester"
        options.schemaVersion = "2.0.0"
        options.schemaFingerprint = "fedcba9876543210"
        let client = try StoreClient.connect(to: server.path, options: options)
        isGreeted.wait()
        let description = client.server
        #expect(description.name == "scripted")
        #expect(description.storeIdentifier == Welcome.sampleStore)
        #expect(description.schemaVersion == "1.0.0")
        #expect(description.schemaFingerprint == "0123456789abcdef")
        #expect(!description.isReadOnly && description.capabilities == [])
        #expect(description.requestBytesMax == Limits.frameBytesMax)
        #expect(description.requestsInFlightMax == 32)
        client.close()
    }

    @Test("a task connects without blocking its thread")
    func asynchronous() async throws {
        let server = try ScriptedServer { peer, _ in
            try peer.greet()
            while let request = peer.receive() { try peer.reply(request.id, .pong) }
        }
        defer { server.stop() }
        let client = try await StoreClient.connect(to: server.path, options: .longTimeouts())
        try await client.ping()
        client.close()
    }

    @Test(
        "the caller gets the error with which the server refuses the handshake",
        arguments: [0, 1] as [UInt64])
    func refusal(id: UInt64) throws {
        let server = try ScriptedServer { peer, _ in
            _ = peer.receive()
            try peer.reply(id, .failed(LarderError(.schemaMismatch, "another schema")))
        }
        defer { server.stop() }
        #expect(code { _ = try StoreClient.connect(to: server.path) } == .schemaMismatch)
    }

    @Test("a server of another protocol version is refused with both versions")
    func otherVersion() throws {
        let server = try ScriptedServer { peer, _ in
            var welcome = Welcome.sample
            welcome.protocolVersion = 7
            try peer.greet(welcome)
        }
        defer { server.stop() }
        do throws(LarderError) {
            _ = try StoreClient.connect(to: server.path)
            Issue.record("version 7 was accepted")
        } catch {
            #expect(error.code == .unsupportedVersion)
            #expect(error.message.contains("version 7") && error.message.contains("version 1"))
        }
    }

    @Test(
        "a server that replies to the handshake with another message is refused",
        arguments: [
            ReplyEnvelope(id: 1, reply: .pong), ReplyEnvelope(id: 2, reply: .welcome(.sample)),
        ])
    func wrongAnswer(envelope: ReplyEnvelope) throws {
        let server = try ScriptedServer { peer, _ in
            _ = peer.receive()
            try peer.reply(envelope.id, envelope.reply)
        }
        defer { server.stop() }
        #expect(code { _ = try StoreClient.connect(to: server.path) } == .malformedMessage)
    }

    @Test("the caller gets the error with which the server ends the connection after its welcome")
    func closingError() throws {
        let server = try ScriptedServer { peer, _ in
            let hello = try peer.receiveFirst()
            let welcome = try Peer.frame(hello.id, .welcome(.sample))
            let error = LarderError(.unavailable, "the server is stopping")
            // In one piece, so that the client receives both together.
            peer.send(welcome + (try Peer.frame(0, .failed(error))))
        }
        defer { server.stop() }
        #expect(code { _ = try StoreClient.connect(to: server.path) } == .unavailable)
    }

    @Test("a server of another protocol is refused at its first bytes")
    func otherProtocol() throws {
        let server = try ScriptedServer { peer, _ in
            peer.send(Array("SSH-2.0-OpenSSH_9.2p1\r\n".utf8))
            _ = peer.receive()
        }
        defer { server.stop() }
        #expect(code { _ = try StoreClient.connect(to: server.path) } == .frameTooLong)
    }

    @Test("a server that closes during the handshake is a failed connection")
    func closing() throws {
        let server = try ScriptedServer { peer, _ in _ = peer.receive() }
        defer { server.stop() }
        #expect(code { _ = try StoreClient.connect(to: server.path) } == .connectionFailed)
    }

    @Test("a handshake without a reply times out")
    func noReply() throws {
        let server = try ScriptedServer { peer, _ in
            while peer.receive() != nil {}
        }
        defer { server.stop() }
        var options = StoreClient.Options()
        options.connectTimeout = .milliseconds(30)
        #expect(
            code { _ = try StoreClient.connect(to: server.path, options: options) }
                == .connectionFailed)
    }

    @Test("the server survives connections that end before the handshake")
    func endingEarly() throws {
        let server = try ScriptedServer { peer, _ in
            try peer.greet()
            try peer.serve()
        }
        defer { server.stop() }
        for _ in 0..<3 {
            let deadline = MonotonicInstant.after(.seconds(300))
            try Socket.connect(to: server.path, until: deadline, requestTimeout: .seconds(300))
                .shutDown()
        }
        let client = try StoreClient.connect(to: server.path, options: .longTimeouts())
        try client.ping()
        #expect(server.connectionCount == 4)
        client.close()
    }

    @Test("a welcome that arrives byte by byte is decoded")
    func splitWelcome() throws {
        let server = try ScriptedServer { peer, _ in
            let hello = try peer.receiveFirst()
            for byte in try Peer.frame(hello.id, .welcome(.sample)) { peer.send([byte]) }
            while let request = peer.receive() { try peer.reply(request.id, .pong) }
        }
        defer { server.stop() }
        let client = try StoreClient.connect(to: server.path, options: .longTimeouts())
        try client.ping()
        client.close()
    }

    @Test("an adopted socket serves calls, and cannot reconnect")
    func adopted() throws {
        var pair: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
        let peer = Peer(descriptor: pair[1])
        try BackgroundThread.start {
            do {
                try peer.greet()
                if let request = peer.receive() { try peer.reply(request.id, .pong) }
            } catch {
                Issue.record(error)
            }
            peer.close()
        }
        let client = try StoreClient.adopt(connectedSocket: pair[0], options: .longTimeouts())
        try client.ping()
        #expect(code { try client.ping() } == .connectionFailed)
        #expect(code { try client.ping() } == .connectionFailed)
    }

    @Test("a descriptor that is not an open stream socket is refused")
    func adoptedMalformed() throws {
        #expect(code { _ = try StoreClient.adopt(connectedSocket: -1) } == .connectionFailed)
        let file = open("/dev/null", O_RDONLY | O_CLOEXEC)
        #expect(code { _ = try StoreClient.adopt(connectedSocket: file) } == .connectionFailed)
        var pair: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0, &pair) == 0)
        #expect(code { _ = try StoreClient.adopt(connectedSocket: pair[0]) } == .connectionFailed)
        close(pair[1])
    }
}
