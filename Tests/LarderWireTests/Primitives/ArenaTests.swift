import LarderModel
import Testing

@testable import LarderWire

@Suite("A frame cannot take much more memory than its own length")
struct ArenaTests {
    private func rejection(_ field: UInt64, _ body: ProtoBytes) -> WireFailure? {
        WireTesting.rejection(content: ProtoBytes.envelope(field, body))
    }

    private func expectExhausted(
        _ field: UInt64, _ body: ProtoBytes, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let rejected = rejection(field, body)
        #expect(rejected?.error.code == .resourceExhausted, sourceLocation: sourceLocation)
        #expect(rejected?.requestID == 9, sourceLocation: sourceLocation)
        #expect(rejected?.isFatal == false, sourceLocation: sourceLocation)
    }

    @Test("a million empty messages of two bytes each are rejected")
    func emptyMessages() {
        let changes = Array(repeating: [0x0a, 0x00] as [UInt8], count: 1_000_000).flatMap { $0 }
        // The first one is rejected, before memory is allocated for the others.
        #expect(rejection(14, ProtoBytes().raw(changes))?.error.code == .malformedMessage)
        let findings = Array(repeating: [0x0a, 0x00] as [UInt8], count: 1_000_000).flatMap { $0 }
        let reply = ProtoBytes.envelope(38, ProtoBytes().raw(findings))
        #expect(WireTesting.rejectionOfReply(content: reply)?.error.code == .resourceExhausted)
        let values = Array(repeating: [0x12, 0x00] as [UInt8], count: 1_000_000).flatMap { $0 }
        expectExhausted(12, ProtoBytes().raw(values))
    }

    @Test("a singular field that occurs many times is rejected before it grows")
    func repeatedSingleField() {
        let names = ProtoBytes().message(2, ProtoBytes().text(1, "a")).bytes
        let body = Array(repeating: names, count: 20_000).flatMap { $0 }
        expectExhausted(11, ProtoBytes().raw(body))
    }

    @Test("a million unknown fields are rejected")
    func unknownFields() {
        let fields = Array(repeating: [0x7a, 0x00] as [UInt8], count: 1_000_000).flatMap { $0 }
        expectExhausted(17, ProtoBytes().raw(fields))
    }

    @Test("the densest change set that a client would send is accepted")
    func denseChanges() throws {
        let changes = (0..<50_000).map { index in
            Change.insert(
                PersistentIdentifier(temporary: "\(index)", entityName: "E"),
                values: ["a": 1, "b": nil, "c": true])
        }
        let envelope = RequestEnvelope(id: 1, request: .save(ChangeSet(changes)))
        #expect(try WireTesting.request(try WireTesting.frame(envelope)) == envelope)
    }

    @Test("4,096 arguments of the smallest kind are accepted")
    func denseArguments() throws {
        let arguments = [QueryArgument](repeating: nil, count: Limits.argumentsMax)
        let query = QueryRequest(
            shape: QueryShape(bytes: []), parameters: QueryParameters(arguments: arguments))
        let envelope = RequestEnvelope(id: 1, request: .query(query))
        #expect(try WireTesting.request(try WireTesting.frame(envelope)) == envelope)
    }

    @Test("an arena fails beyond its bound, and works again after a reset")
    func bound() {
        let arena = Arena()
        arena.reset(bytesMax: 1_000)
        #expect(arena.allocate(900) != nil)
        #expect(arena.allocate(200) == nil)
        #expect(arena.isExhausted)
        #expect(arena.allocate(64) != nil)
        #expect(arena.allocate(.max) == nil)
        #expect(arena.allocate(-1) == nil)
        arena.reset(bytesMax: 1_000)
        #expect(!arena.isExhausted)
        #expect(arena.allocate(1_000 - 8) != nil)
    }

    @Test("allocations in an arena are aligned and do not overlap")
    func layout() throws {
        let arena = Arena()
        var ends: [UInt: UInt] = [:]
        for size in [1, 15, 16, 17, 0, 4_000, 20_000, 3_000_000, 8] {
            let memory: UnsafeMutableRawPointer = try #require(arena.allocate(size))
            let start = UInt(bitPattern: memory)
            #expect(start % 16 == 0)
            for (other, end) in ends { #expect(start >= end || start + UInt(size) <= other) }
            ends[start] = start + UInt(size)
        }
    }

    @Test("the memory bound of a message depends on its length, within a minimum and a maximum")
    func bounds() {
        #expect(Arena.bytesMax(forBodyOf: 0) == 1 << 20)
        #expect(Arena.bytesMax(forBodyOf: 1 << 20) == 33 << 20)
        #expect(Arena.bytesMax(forBodyOf: Limits.frameBytesMax) == 96 << 20)
    }
}
