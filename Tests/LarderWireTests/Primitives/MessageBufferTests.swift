import LarderModel
import LarderWire
import Testing

@Suite("A buffer in which messages are written")
struct MessageBufferTests {
    @Test(
        "nested messages of any length are encoded with their lengths",
        arguments: [0, 1, 100, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152])
    func lengths(count: Int) throws {
        for more in 0..<(count < 20_000 ? 40 : 1) {
            let text = String(repeating: "a", count: max(count - more, 0))
            let name = PersistentIdentifier(temporary: "t", entityName: "Student")
            let set = ChangeSet([.insert(name, values: ["name": .string(text)])])
            let value = ProtoBytes().text(7, text)
            let change = ProtoBytes().number(1, 1)
                .message(2, ProtoBytes().text(2, "Student").text(4, "t"))
                .message(4, ProtoBytes().text(1, "name").message(2, value))
            let expected = ProtoBytes.envelope(id: 1, 14, ProtoBytes().message(1, change))
            let frame = try WireTesting.frame(RequestEnvelope(id: 1, request: .save(set)))
            #expect(Array(frame.dropFirst(Frame.lengthBytes)) == expected, "\(count - more)")
        }
    }

    @Test("a codec writes a short message after a long one, and after one that it rejected")
    func oneAfterAnother() throws {
        let codec = WireCodec()
        let name = PersistentIdentifier(temporary: "t", entityName: "Student")
        func frame(_ value: Value) throws -> [UInt8] {
            let set = ChangeSet([.insert(name, values: ["name": value])])
            var bytes: [UInt8] = []
            try codec.encode(RequestEnvelope(id: 1, request: .save(set)), into: &bytes)
            return bytes
        }
        let short = try frame("Ann")
        _ = try frame(.string(String(repeating: "a", count: 3_000_000)))
        #expect(try frame("Ann") == short)
        #expect(throws: LarderError.self) { try frame(.double(.nan)) }
        #expect(try frame("Ann") == short)
    }

    @Test("the numbers of a save reply are decoded, packed or not")
    func pieces() throws {
        let body = ProtoBytes().number(2, 5).bytes(2, [6, 0x80, 1]).number(4, 3).bytes(4, [1, 2])
            .number(99, 1).number(3, 2).number(5, 9).bytes(7, [0, 5]).number(7, 8)
        let reply = try WireTesting.reply(content: ProtoBytes.envelope(32, body)).reply
        #expect(
            reply
                == .saved(
                    SaveResult(
                        updatedVersions: [5, 6, 128], deletedCount: 2, merged: [3, 1, 2],
                        transaction: 9, upserted: [0, 5, 8])))
    }

    @Test("a save reply with wrong fields is rejected")
    func refused() {
        let temporary = ProtoBytes().text(2, "Student")
        let cases: [(String, ProtoBytes, ErrorCode)] = [
            ("half a number", ProtoBytes().bytes(2, [0x80]), .malformedMessage),
            ("a text for a number", ProtoBytes().text(3, "a"), .malformedMessage),
            ("half an index", ProtoBytes().bytes(7, [0x80]), .malformedMessage),
            ("a number for an object", ProtoBytes().number(1, 1), .malformedMessage),
            ("eight bytes for a version", ProtoBytes().fixed64(2, 1), .malformedMessage),
            ("an object without a key", ProtoBytes().message(1, temporary), .malformedIdentifier),
        ]
        for (what, body, code) in cases {
            let rejection = WireTesting.rejectionOfReply(content: ProtoBytes.envelope(32, body))
            #expect(rejection?.error.code == code, "\(what)")
        }
    }
}
