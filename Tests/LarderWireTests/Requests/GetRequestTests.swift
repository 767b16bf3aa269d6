import LarderModel
import TestSupport
import Testing

@testable import LarderWire

@Suite("Get requests are decoded as protobuf-c decodes them")
struct GetRequestTests {
    private static let requests: [Request] = [
        .get([identifier(1, of: "Student")], properties: ["name", "birthYear", "score"]),
        .get([identifier(1, of: "Student")], properties: ["name", "birthYear", "scoro"]),
        .get([identifier(1, of: "Studenz")], properties: ["name"]),
        .get([identifier(.max, of: "A"), identifier(2, of: "Ünï")], properties: []),
        .get((1...40).map { identifier($0, of: "Student") }, properties: nil),
        .get([PersistentIdentifier(temporary: "new", entityName: "Student")], properties: nil),
        .get([], properties: ["name"]),
    ]

    private static func identifier(_ key: Int64, of entityName: String) -> PersistentIdentifier {
        PersistentIdentifier(store: Samples.store, entityName: entityName, key: key)
    }

    private static func body(_ request: Request) throws -> [UInt8] {
        let frame = try WireTesting.frame(RequestEnvelope(id: 1, request: request))
        let content = frame.span.bytes.extracting(Frame.lengthBytes..<frame.count)
        return try EnvelopeHeader(content).body.array
    }

    /// As protobuf-c decodes it; nil if it is rejected.
    private func expected(_ bytes: [UInt8]) -> Request? { ProtobufOracle.request(11, bytes) }

    private func decoded(_ bytes: [UInt8]) throws -> Request {
        try .get(decoding: bytes.span.bytes)
    }

    /// Either the body is rejected, or it is what protobuf-c makes of it.
    private func compare(_ bytes: [UInt8], _ what: String) {
        guard let found = try? decoded(bytes) else { return }
        #expect(found == expected(bytes), "\(what)")
    }

    @Test("a get request is decoded as protobuf-c decodes it")
    func whole() throws {
        for request in Self.requests {
            let body = try Self.body(request)
            #expect(try decoded(body) == request)
            #expect(expected(body) == request)
        }
    }

    @Test("a get request that is cut, or has a flipped bit, is treated as protobuf-c does")
    func damaged() throws {
        for request in Self.requests {
            let body = try Self.body(request)
            for offset in body.indices {
                compare(Array(body[..<offset]), "\(offset) bytes of \(request)")
                for bit in 0..<8 {
                    var flipped = body
                    flipped[offset] ^= 1 << UInt8(bit)
                    compare(flipped, "bit \(bit) of byte \(offset) of \(request)")
                }
            }
        }
    }

    @Test("a get request that is damaged at random is treated as protobuf-c does")
    func mutated() throws {
        var generator = SeededGenerator.fromEnvironment("gets")
        let bodies = try Self.requests.map(Self.body)
        for number in 0..<RandomTesting.iterations(1_000) {
            let mutated = Fuzzing.mutated(
                bodies[number % bodies.count], donor: bodies[(number + 1) % bodies.count],
                using: &generator)
            compare(mutated, "LARDER_SEED=\(generator.seed), number \(number)")
        }
    }

    @Test("the names of several lists in a get are one list, and unknown fields are ignored")
    func pieces() throws {
        let identifier = ProtoBytes().text(2, "Student").number(9, 4).number(3, 5)
            .bytes(1, Array(repeating: 7, count: 16)).number(3, 6)
        let body = ProtoBytes().message(2, ProtoBytes().text(1, "a").text(7, "x"))
            .message(1, identifier).fixed64(30, 1).message(2, ProtoBytes())
            .message(2, ProtoBytes().text(1, "b").text(1, "a")).bytes
        guard case .get(let identifiers, let properties) = try decoded(body) else {
            Issue.record("not a get")
            return
        }
        #expect(identifiers.map(\.permanentKey) == [6])
        #expect(properties == ["a", "b", "a"])
        #expect(expected(body) == .get(identifiers, properties: properties))
    }

    @Test("a get with a known field of the wrong type, or with too many names, is rejected")
    func refused() throws {
        let name = ProtoBytes().text(1, "a")
        let half = (0...Limits.propertiesMax / 2).reduce(ProtoBytes()) { list, _ in
            list.text(1, "a")
        }
        let bodies: [(ProtoBytes, ErrorCode)] = [
            (ProtoBytes().number(1, 1), .malformedMessage),
            (ProtoBytes().fixed64(2, 1), .malformedMessage),
            (ProtoBytes().message(2, ProtoBytes().number(1, 1)), .malformedMessage),
            (ProtoBytes().message(1, ProtoBytes().text(3, "1")), .malformedMessage),
            (ProtoBytes().message(1, name.number(2, 1)), .malformedMessage),
            (ProtoBytes().message(2, half).message(2, half), .resourceExhausted),
        ]
        for (body, code) in bodies {
            let error = #expect(throws: LarderError.self) { try decoded(body.bytes) }
            #expect(error?.code == code, "\(body.bytes.prefix(40))")
            #expect(expected(body.bytes) == nil)
        }
    }
}
