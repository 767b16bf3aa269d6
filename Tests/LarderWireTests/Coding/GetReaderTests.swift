import CLarderProto
import LarderModel
import TestSupport
import Testing

@testable import LarderWire

@Suite("Reads by identifier are read as protobuf-c reads them")
struct GetReaderTests {
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
        return try frame.dropFirst(Frame.lengthBytes).withUnsafeBytes {
            Array(try EnvelopeHeader($0).body)
        }
    }

    /// What protobuf-c and the checks of each field make of a body; nil if they refuse it.
    private func expected(_ bytes: [UInt8]) -> Request? {
        guard let wire = larder__v1__get_request__unpack(nil, bytes.count, bytes) else {
            return nil
        }
        defer { larder__v1__get_request__free_unpacked(wire, nil) }
        let items = UnsafeBufferPointer(
            start: wire.pointee.identifiers, count: wire.pointee.n_identifiers)
        let identifiers = items.compactMap { $0 }.compactMap {
            try? PersistentIdentifier($0.pointee)
        }
        guard identifiers.count == items.count else { return nil }
        guard let list = wire.pointee.properties?.pointee else {
            return .get(identifiers, properties: nil)
        }
        let properties = try? MessageReader.texts(
            list.names, list.n_names, "names", maximum: Limits.propertiesMax,
            bytesMax: Limits.nameBytesMax)
        return properties.map { .get(identifiers, properties: $0) }
    }

    private func read(_ bytes: [UInt8], _ reader: inout GetReader) throws -> Request {
        try bytes.withUnsafeBytes { try reader.request($0) }
    }

    /// Either it is refused, or it is what protobuf-c makes of it.
    private func compare(_ bytes: [UInt8], _ reader: inout GetReader, _ what: String) {
        guard let found = try? read(bytes, &reader) else { return }
        #expect(found == expected(bytes), "\(what)")
    }

    @Test("one after the other by one reader, whatever it keeps of the last")
    func whole() throws {
        var reader = GetReader()
        for _ in 0..<3 {
            for request in Self.requests + Self.requests.reversed() {
                let body = try Self.body(request)
                #expect(try read(body, &reader) == request)
                #expect(expected(body) == request)
            }
        }
    }

    @Test("cut after each byte, and with each bit of each byte flipped")
    func damaged() throws {
        var reader = GetReader()
        for request in Self.requests {
            let body = try Self.body(request)
            for place in body.indices {
                compare(Array(body[..<place]), &reader, "\(place) bytes of \(request)")
                for bit in 0..<8 {
                    var flipped = body
                    flipped[place] ^= 1 << UInt8(bit)
                    compare(flipped, &reader, "bit \(bit) of byte \(place) of \(request)")
                }
            }
        }
    }

    @Test("damaged at random")
    func mutated() throws {
        var generator = SeededGenerator.fromEnvironment("gets")
        let bodies = try Self.requests.map(Self.body)
        var reader = GetReader()
        for number in 0..<RandomTesting.iterations(4_000) {
            let mutated = Fuzzing.mutated(
                bodies[number % bodies.count], donor: bodies[(number + 1) % bodies.count],
                using: &generator)
            compare(mutated, &reader, "LARDER_SEED=\(generator.seed), number \(number)")
        }
    }

    @Test("names that come in several lists are one list, and unknown fields are passed over")
    func pieces() throws {
        let identifier = ProtoBytes().text(2, "Student").number(9, 4).number(3, 5)
            .bytes(1, Array(repeating: 7, count: 16)).number(3, 6)
        let body = ProtoBytes().message(2, ProtoBytes().text(1, "a").text(7, "x"))
            .message(1, identifier).fixed64(30, 1).message(2, ProtoBytes())
            .message(2, ProtoBytes().text(1, "b").text(1, "a")).bytes
        var reader = GetReader()
        guard case .get(let identifiers, let properties) = try read(body, &reader) else {
            Issue.record("no get")
            return
        }
        #expect(identifiers.map(\.permanentKey) == [6])
        #expect(properties == ["a", "b", "a"])
        #expect(expected(body) == .get(identifiers, properties: properties))
    }

    @Test("a known field of another form is refused, and so are names past the limit in all lists")
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
        var reader = GetReader()
        for (body, code) in bodies {
            let error = #expect(throws: LarderError.self) { try read(body.bytes, &reader) }
            #expect(error?.code == code, "\(body.bytes.prefix(40))")
            #expect(expected(body.bytes) == nil)
        }
    }
}
