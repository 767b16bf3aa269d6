import LarderModel
import TestSupport
import Testing

@testable import LarderWire

@Suite("The frame of a get, before it is decoded")
struct GetFrameTests {
    private static let object = PersistentIdentifier(
        store: Samples.store, entityName: "Student", key: 7)

    private func frame(_ request: Request, id: UInt64 = 9) throws -> [UInt8] {
        let envelope = RequestEnvelope(id: id, timeoutMilliseconds: 500, request: request)
        return Array(try WireTesting.frame(envelope).dropFirst(Frame.lengthBytes))
    }

    /// The id and the body.
    private func get(_ frame: [UInt8]) -> (id: UInt64, body: [UInt8])? {
        guard let get = GetFrame(frame.span.bytes) else { return nil }
        return (get.id, get.body.array)
    }

    @Test("the body of a get frame depends on the object and the properties, not on the id")
    func body() throws {
        let request = Request.get([Self.object], properties: ["name"])
        let first = try #require(get(try frame(request)))
        let second = try #require(get(try frame(request, id: 10_000)))
        #expect(first.id == 9 && second.id == 10_000)
        #expect(first.body == second.body)
        let other = PersistentIdentifier(store: Samples.store, entityName: "Student", key: 8)
        #expect(get(try frame(.get([other], properties: ["name"])))?.body != first.body)
        #expect(get(try frame(.get([Self.object], properties: ["n"])))?.body != first.body)
        #expect(get(try frame(.get([Self.object], properties: nil)))?.body != first.body)
    }

    @Test("frames of other requests, of the id 0, and long frames are not read as get frames")
    func others() throws {
        #expect(get(try frame(.ping)) == nil)
        #expect(get(try frame(.credit(requestID: 1, batches: 1))) == nil)
        #expect(get(ProtoBytes.envelope(id: 0, 11, ProtoBytes().bytes(1, []))) == nil)
        let many = Array(repeating: Self.object, count: 100)
        #expect(get(try frame(.get(many, properties: nil))) == nil)
        #expect(get([]) == nil)
    }

    @Test("a get in a snapshot is not read as a get frame, so that no older reply is cached")
    func snapshot() throws {
        let request = Request.get([Self.object], properties: ["name"])
        for snapshot: UInt64 in [1, .max] {
            let envelope = RequestEnvelope(id: 9, snapshot: snapshot, request: request)
            let frame = Array(try WireTesting.frame(envelope).dropFirst(Frame.lengthBytes))
            #expect(get(frame) == nil)
        }
        // Wherever the field is, and also if its last value is the only one that is not 0.
        let latest = try frame(request)
        #expect(get(latest) != nil)
        #expect(get(latest + ProtoBytes().number(3, 0).bytes) != nil)
        #expect(get(latest + ProtoBytes().number(3, 1).bytes) == nil)
        #expect(get(latest + ProtoBytes().number(3, 0).number(3, 1).bytes) == nil)
        #expect(get(latest + ProtoBytes().text(3, "1").bytes) == nil)
    }

    @Test("a get with an id for the log is the same request as one without")
    func trace() throws {
        let request = Request.get([Self.object], properties: ["name"])
        let plain = try #require(get(try frame(request)))
        let envelope = RequestEnvelope(id: 9, trace: "t", request: request)
        let traced = Array(try WireTesting.frame(envelope).dropFirst(Frame.lengthBytes))
        #expect(get(traced)?.body == plain.body)
    }

    @Test("a damaged get frame is not read, or has the id of its envelope")
    func damaged() throws {
        var random = SeededGenerator.fromEnvironment("damaged gets")
        let whole = try frame(.get([Self.object], properties: ["name", "score"]))
        for _ in 0..<RandomTesting.iterations() {
            let bytes = Fuzzing.mutated(whole, donor: whole, using: &random)
            guard let found = get(bytes) else { continue }
            let header = try EnvelopeHeader(bytes.span.bytes)
            let (id, isGet, snapshot) = (header.id, header.isGet, header.snapshot)
            #expect(id == found.id && isGet && snapshot == 0, "seed \(random.seed)")
        }
    }
}
