import FoundationEssentials
import LarderModel
import LarderWire
import Synchronization
import Testing

@testable import LarderClient

@Suite("Saves in parts")
struct SaveInPartsTests {
    private static let welcome = Welcome.sample(capabilities: [WireProtocol.savesInParts])

    /// More than 16 MiB.
    private static let set = ChangeSet(
        (0..<9).map { number in
            .insert(
                PersistentIdentifier(temporary: "n\(number)", entityName: "Item"),
                values: ["data": .data(Data(repeating: UInt8(number), count: 2 << 20))])
        })

    private static func identifiers(_ keys: ClosedRange<Int64>) -> [PersistentIdentifier] {
        keys.map {
            PersistentIdentifier(store: Welcome.sampleStore, entityName: "Item", key: $0)
        }
    }

    /// Serves saves in parts. `end` gets the number of the connection, from 1, and whether the part
    /// is the last one; the connection ends if it returns false.
    private func server(
        _ end: @escaping @Sendable (Peer, UInt64, Int, Bool) throws -> Bool = { _, _, _, _ in true }
    ) throws -> ScriptedServer {
        try ScriptedServer { peer, connection in
            try peer.greet(Self.welcome)
            var (id, count, content): (UInt64, Int64, [UInt8]) = (0, 0, [])
            while let envelope = peer.receive() {
                switch envelope.request {
                case .saveInParts: (id, count, content) = (envelope.id, 0, [])
                case .savePart(_, let bytes, let isLast):
                    count += 1
                    content += bytes
                    guard try end(peer, id, connection, isLast) else { return }
                    guard isLast else {
                        try peer.reply(id, .savedPart(SaveResult(), partCount: count))
                        continue
                    }
                    var part = SaveResult()
                    part.inserted = Self.identifiers(1...4)
                    try peer.reply(id, .savedPart(part, partCount: count))
                    part = SaveResult(transaction: 7)
                    part.inserted = Self.identifiers(5...9)
                    try peer.reply(id, .saved(part))
                    Self.received.withLock { $0[peer.identity] = content }
                case .save: try peer.reply(envelope.id, .saved(SaveResult()))
                default: break
                }
            }
        }
    }

    /// The encoded sets by connection.
    private static let received = Mutex<[ObjectIdentifier: [UInt8]]>([:])

    @Test("a long change set is sent in parts, and its result is joined")
    func long() async throws {
        let server = try server()
        defer { server.stop() }
        let client = try await StoreClient.connect(to: server.path, options: .longTimeouts())
        for isAsync in [false, true] {
            let result =
                isAsync ? try await client.save(Self.set) : try Self.save(Self.set, client)
            #expect(result.inserted == Self.identifiers(1...9) && result.transaction == 7)
        }
        client.close()
        let sets = Self.received.withLock { Array($0.values) }
        var parts = ChangeSetParts(Self.set)
        var expected: [UInt8] = []
        while let part = try parts.next() { expected += part.content }
        #expect(sets.contains(expected))
    }

    private static func save(_ set: ChangeSet, _ client: StoreClient) throws -> SaveResult {
        try client.save(set)
    }

    @Test("a short change set is one message, and so is a long one for an earlier server")
    func short() throws {
        let server = try server { _, _, _, _ in
            Issue.record("a short set was sent in parts")
            return true
        }
        defer { server.stop() }
        let client = try StoreClient.connect(to: server.path, options: .longTimeouts())
        let short = ChangeSet(Array(Self.set.changes.prefix(1)))
        #expect(try client.save(short) == SaveResult())
        client.close()
        let earlier = try ScriptedServer { peer, _ in
            try peer.greet()
            while peer.receive() != nil {}
        }
        defer { earlier.stop() }
        let other = try StoreClient.connect(to: earlier.path, options: .longTimeouts())
        let error = #expect(throws: LarderError.self) { _ = try other.save(Self.set) }
        #expect(error?.code == .frameTooLong)
        other.close()
    }

    @Test("a save in parts is repeated over a new connection if it was not begun, or has a key")
    func repetition() throws {
        // The first connection ends before the last part, the second after it.
        let server = try server { _, _, connection, isLast in
            connection > 2 || isLast != (connection == 2)
        }
        defer { server.stop() }
        let client = try StoreClient.connect(to: server.path, options: .longTimeouts())
        let error = #expect(throws: LarderError.self) { _ = try client.save(Self.set) }
        #expect(error?.code == .indeterminate && server.connectionCount == 2)
        client.close()
        let again = try self.server { _, _, connection, isLast in
            connection > 2 || isLast != (connection == 2)
        }
        defer { again.stop() }
        let other = try StoreClient.connect(to: again.path, options: .longTimeouts())
        let result = try other.save(Self.set, idempotencyKey: "k")
        #expect(result.inserted.count == 9 && again.connectionCount == 3)
        other.close()
    }

    @Test("the server's error ends a save in parts, with the index of the refused change")
    func refusal() throws {
        let server = try server { peer, id, _, isLast in
            guard !isLast else { return true }
            let violation = ChangeViolation(.validationFailed, "too much", change: 3)
            try peer.reply(id, .failed(LarderError(violation)))
            return true
        }
        defer { server.stop() }
        let client = try StoreClient.connect(to: server.path, options: .longTimeouts())
        let error = #expect(throws: LarderError.self) { _ = try client.save(Self.set) }
        #expect(error?.details.map(\.change) == [3])
        client.close()
    }
}

extension Peer {
    fileprivate var identity: ObjectIdentifier { ObjectIdentifier(self) }
}
