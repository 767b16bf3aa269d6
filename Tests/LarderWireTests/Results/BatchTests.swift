import LarderModel
import TestSupport
import Testing

@testable import LarderWire

@Suite("Batches are decoded as protobuf-c decodes them")
struct BatchTests {
    /// A batch with a column of each type.
    private static func batch(rowCount: Int) -> Batch {
        let identity = Batch.Identity(
            entityName: "Student", keys: (1...rowCount).map { Int64($0) << 20 },
            versions: (1...rowCount).map { Int64($0) },
            subentities: rowCount == 1
                ? Subentities()
                : Subentities(names: ["Tutor"], indexes: (0..<rowCount).map { UInt32($0 % 2) }))
        let texts: [(AttributeType, String)] = [
            (.string, "Änne"), (.json, "[1]"), (.url, "http://a.b"), (.decimal, "1.5"),
            (.data, "\u{1}"), (.uuid, "0123456789abcdef"),
        ]
        var columns = texts.map { type, text in
            Column(
                name: type.rawValue, kind: .attribute(type),
                storage: .bytes(
                    heap: (0..<rowCount).flatMap { _ in Array(text.utf8) },
                    ends: (1...rowCount).map { UInt32($0 * text.utf8.count) }))
        }
        for type in [.bool, .int16, .int32, .int64] as [AttributeType] {
            columns.append(
                Column(
                    name: type.rawValue, kind: .attribute(type),
                    storage: .integers(Array(repeating: 1, count: rowCount)), nulls: [1]))
        }
        for type in [.float, .double, .date] as [AttributeType] {
            columns.append(
                Column(
                    name: type.rawValue, kind: .attribute(type),
                    storage: .doubles(Array(repeating: 0.5, count: rowCount))))
        }
        columns.append(
            Column(
                name: "tutor", kind: .object(entityName: "Tutor"),
                storage: .integers(Array(repeating: 7, count: rowCount))))
        columns.append(
            Column(
                name: "courses", kind: .objects(entityName: "Course"),
                storage: .lists(
                    keys: (0..<2 * rowCount).map { Int64($0) },
                    ends: (1...rowCount).map { UInt32($0 * 2) })))
        return Batch(rowCount: rowCount, identity: identity, columns: columns)
    }

    /// The bytes of a reply with a batch, without its envelope.
    private static func body(rowCount: Int) throws -> [UInt8] {
        let reply = ReplyEnvelope(id: 1, reply: .batches([batch(rowCount: rowCount)], more: true))
        let frame = try WireTesting.frame(reply)
        let content = frame.span.bytes.extracting(Frame.lengthBytes..<frame.count)
        return try EnvelopeHeader(content).body.array
    }

    private func received(_ bytes: [UInt8]) throws -> EncodedBatches {
        try EncodedBatches(bytes.span.bytes)
    }

    private func frame(_ batches: [Batch]) throws -> [UInt8] {
        try WireTesting.frame(ReplyEnvelope(id: 1, reply: .batches(batches, more: false)))
    }

    private func values(_ records: [Record]) -> [String] {
        records.map { record in
            let values = record.values.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
            return "\(record.identifier) \(record.version) \(values)"
        }
    }

    /// Either it is rejected, as batches and as objects, or it is what protobuf-c makes of it.
    private func compare(_ bytes: [UInt8], _ what: String) throws {
        let received = try received(bytes)
        let records = try? received.records(store: Samples.store)
        guard let batches = try? received.batches() else {
            #expect(records == nil, "\(what)")
            return
        }
        let expected = try #require(ProtobufBatches.batches(bytes), "\(what)")
        // A column may hold a NaN, which equals nothing: then the encoded bytes must be equal.
        if batches != expected { #expect(try frame(batches) == frame(expected), "\(what)") }
        let found = try #require(records, "\(what)")
        let wanted = expected.flatMap { $0.records(store: Samples.store) }
        if found != wanted { #expect(values(found) == values(wanted), "\(what)") }
    }

    @Test("a batch is decoded as protobuf-c decodes it, as rows and as objects", arguments: [1, 3])
    func whole(rowCount: Int) throws {
        let body = try Self.body(rowCount: rowCount)
        let batch = Self.batch(rowCount: rowCount)
        #expect(try received(body).batches() == [batch])
        #expect(ProtobufBatches.batches(body) == [batch])
        #expect(
            try received(body).records(store: Samples.store)
                == batch.records(store: Samples.store))
        #expect(try EncodedBatches.more(in: body.span.bytes))
    }

    @Test("a batch that is cut after any byte is treated as protobuf-c does", arguments: [1, 3])
    func cut(rowCount: Int) throws {
        let body = try Self.body(rowCount: rowCount)
        for length in body.indices { try compare(Array(body[..<length]), "\(length) bytes") }
    }

    @Test("a batch with one flipped bit is treated as protobuf-c does", arguments: [1, 3])
    func flipped(rowCount: Int) throws {
        let body = try Self.body(rowCount: rowCount)
        for offset in stride(from: 0, to: body.count, by: rowCount) {
            for bit in 0..<8 {
                var flipped = body
                flipped[offset] ^= 1 << UInt8(bit)
                try compare(flipped, "bit \(bit) of byte \(offset)")
            }
        }
    }

    @Test("a batch that is damaged at random is treated as protobuf-c does")
    func mutated() throws {
        var generator = SeededGenerator.fromEnvironment("batches")
        let bodies = [try Self.body(rowCount: 1), try Self.body(rowCount: 3)]
        for number in 0..<RandomTesting.iterations(1_000) {
            let mutated = Fuzzing.mutated(
                bodies[number % 2], donor: bodies[1 - number % 2], using: &generator)
            try compare(mutated, "LARDER_SEED=\(generator.seed), number \(number)")
        }
    }

    @Test("an object whose arrays are not packed is decoded to the same object")
    func pieces() throws {
        let identity = ProtoBytes().text(1, "Student").fixed64(2, 5).fixed64(3, 1)
        let number = ProtoBytes().text(1, "n").number(2, 4).bytes(4, []).fixed64(4, 9)
        let text = ProtoBytes().text(1, "s").number(2, 8).text(6, "Bo").fixed32(7, 2)
        let batch = ProtoBytes().number(1, 1).message(2, identity).message(3, number)
            .message(3, text).number(99, 1)
        let body = ProtoBytes().message(1, batch).bytes
        try compare(body, "pieces")
        let records = try received(body).records(store: Samples.store)
        #expect(records.map(\.values) == [["n": 9, "s": "Bo"]])
    }

    @Test("a reply with a long batch is decoded at once")
    func long() throws {
        let body = try Self.body(rowCount: 1_000)
        let batch = Self.batch(rowCount: 1_000)
        #expect(try received(body) == EncodedBatches([batch]))
        #expect(
            try received(body).records(store: Samples.store) == batch.records(store: Samples.store))
        #expect(throws: LarderError.self) { try received(body + [8]) }
    }

    @Test(
        "a batch that was encoded for a cache is sent with the same bytes", arguments: [0, 1, 100])
    func sentAgain(rowCount: Int) throws {
        let batches = rowCount == 0 ? [] : [Self.batch(rowCount: rowCount)]
        let cached = EncodedBatches(encoding: batches)
        let reply = ReplyEnvelope(id: 1, reply: .encodedBatches(cached, more: false))
        #expect(try WireTesting.frame(reply) == frame(batches))
        #expect(try cached.batches() == batches)
    }

    @Test("a decoded batch cannot be sent")
    func sentOn() {
        let reply = Reply.encodedBatches(EncodedBatches([]), more: false)
        #expect(throws: LarderError.self) {
            try WireTesting.frame(ReplyEnvelope(id: 1, reply: reply))
        }
    }

    @Test("a batch with two identities is rejected")
    func twoIdentities() {
        let identity = ProtoBytes().text(1, "Student").fixed64(2, 5).fixed64(3, 1)
        let batch = ProtoBytes().number(1, 1).message(2, identity).message(2, identity)
        let body = ProtoBytes().message(1, batch).bytes
        #expect(throws: LarderError.self) { try received(body).batches() }
        #expect(throws: LarderError.self) { try received(body).records(store: Samples.store) }
    }
}
