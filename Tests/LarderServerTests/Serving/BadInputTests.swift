import FoundationEssentials
import Glibc
import LarderModel
import TestSupport
import Testing

@testable import LarderServer
@testable import LarderWire

extension SocketTests {
    @Suite("Bad input")
    struct BadInputTests {
        private static func frames(_ envelopes: [RequestEnvelope]) throws -> [UInt8] {
            var bytes: [UInt8] = []
            for envelope in envelopes { try WireCodec().encode(envelope, into: &bytes) }
            return bytes
        }

        private static func conversation() throws -> [UInt8] {
            try frames([
                RequestEnvelope(id: 1, request: .hello(Hello(clientName: "torn"))),
                RequestEnvelope(id: 2, request: .insert(1)),
                RequestEnvelope(id: 3, request: .fetch("rows 3")),
            ])
        }

        @Test("a conversation may end after any byte without harm to the server")
        func prefixes() async throws {
            try await RunningServer.run { running in
                let bytes = try Self.conversation()
                for count in 0...bytes.count {
                    let peer = try running.connect()
                    try peer.send(Array(bytes.prefix(count)))
                    peer.close()
                }
                #expect(try running.ready().call(.ping) == .pong)
            }
        }

        @Test("an incomplete frame at the end gets no reply, and the frames before it do")
        func torn() async throws {
            try await RunningServer.run { running in
                let peer = try running.connect()
                try peer.send(Self.conversation().dropLast())
                peer.endOutput()
                for _ in 0..<2 { #expect(try peer.receive()?.reply.errorCode == nil) }
                #expect(try peer.receive() == nil)
            }
        }

        @Test("the frames of a client may arrive byte by byte")
        func byteByByte() async throws {
            try await RunningServer.run { running in
                let peer = try running.connect()
                for byte in try Self.conversation() { try peer.send([byte]) }
                for _ in 0..<3 { #expect(try peer.receive()?.reply.errorCode == nil) }
            }
        }

        @Test("garbage after the handshake gets an error, and ends the connection")
        func garbage() async throws {
            try await RunningServer.run { running in
                let peer = try running.ready()
                try peer.send([0, 0, 0, 4, 0xFF, 0xFF, 0xFF, 0xFF])
                #expect(try peer.receiveUntilClosed() == [.malformedFrame])
                #expect(try running.ready().call(.ping) == .pong)
            }
        }

        @Test("a request before the handshake gets an error, and ends the connection")
        func handshakeRequired() async throws {
            try await RunningServer.run { running in
                let peer = try running.connect()
                try peer.send(.ping)
                #expect(try peer.receiveUntilClosed() == [.handshakeRequired])
            }
        }

        @Test("a query of an unknown entity is an error, and the connection stays open")
        func unknownEntity() async throws {
            try await RunningServer.run { running in
                let peer = try running.ready()
                let query = Query.count(entityName: "Nothing", predicate: nil)
                #expect(try peer.call(.query(try QueryRequest(query)))?.errorCode == .unknownEntity)
                let garbage = QueryRequest(
                    shape: QueryShape(bytes: [0xFF, 0xFF]), parameters: QueryParameters())
                #expect(try peer.call(.query(garbage))?.errorCode != nil)
                #expect(try peer.call(.ping) == .pong)
            }
        }

        @Test("random bytes from a client never stop the server")
        func random() async throws {
            var generator = SeededGenerator.fromEnvironment("random bytes to a server")
            var conversations: [[UInt8]] = []
            for _ in 0..<RandomTesting.iterations(100) {
                var bytes = try Self.conversation()
                for _ in 0..<Int.random(in: 1...8, using: &generator) {
                    let index = Int.random(in: 0..<bytes.count, using: &generator)
                    bytes[index] = UInt8.random(in: 0...255, using: &generator)
                }
                conversations.append(bytes)
            }
            try await RunningServer.run { running in
                for bytes in conversations {
                    let peer = try running.connect()
                    try peer.send(bytes)
                    peer.endOutput()
                    while try peer.receive() != nil {}
                }
                #expect(try running.ready().call(.ping) == .pong)
            }
        }

        @Test("descriptors that a client sends are closed")
        func passedDescriptors() async throws {
            try await RunningServer.run { running in
                let peer = try running.ready()
                var ends: [Int32] = [-1, -1]
                try #require(pipe(&ends) == 0)
                try peer.send(
                    Self.frames([RequestEnvelope(id: 9, request: .schema)]), passing: ends[1])
                close(ends[1])
                #expect(try peer.receive()?.id == 9)
                // The pipe has no writer left, so the server has no copy of the descriptor.
                var byte: UInt8 = 0
                #expect(read(ends[0], &byte, 1) == 0)
                close(ends[0])
            }
        }
    }
}
