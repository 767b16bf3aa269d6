import LarderModel
import TestSupport
import Testing

@testable import LarderWire

@Suite("A get that is looked at before it is decoded")
struct EncodedGetTests {
    private static let object = PersistentIdentifier(
        store: Samples.store, entityName: "Student", key: 7)

    private func frame(_ request: Request, id: UInt64 = 9) throws -> [UInt8] {
        let envelope = RequestEnvelope(id: id, timeoutMilliseconds: 500, request: request)
        return Array(try WireTesting.frame(envelope).dropFirst(Frame.lengthBytes))
    }

    /// The id and the body.
    private func get(_ frame: [UInt8]) -> (id: UInt64, body: [UInt8])? {
        frame.withUnsafeBytes { bytes in EncodedGet(bytes).map { ($0.id, Array($0.body)) } }
    }

    @Test("has the same body whatever its id, and another one for another object")
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

    @Test("is none of another request, of the id 0, or where it is long")
    func others() throws {
        #expect(get(try frame(.ping)) == nil)
        #expect(get(try frame(.credit(requestID: 1, batches: 1))) == nil)
        #expect(get(ProtoBytes.envelope(id: 0, 11, ProtoBytes().bytes(1, []))) == nil)
        let many = Array(repeating: Self.object, count: 100)
        #expect(get(try frame(.get(many, properties: nil))) == nil)
        #expect(get([]) == nil)
    }

    @Test("damaged at random, it is none, or it is decoded or refused as before")
    func damaged() throws {
        var random = SeededGenerator.fromEnvironment("damaged gets")
        let whole = try frame(.get([Self.object], properties: ["name", "score"]))
        for _ in 0..<RandomTesting.iterations() {
            let bytes = Fuzzing.mutated(whole, donor: whole, using: &random)
            guard let found = get(bytes) else { continue }
            let header = try bytes.withUnsafeBytes { try EnvelopeHeader($0) }
            #expect(header.id == found.id && header.isGet, "seed \(random.seed)")
        }
    }
}
