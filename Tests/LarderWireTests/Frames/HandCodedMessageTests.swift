import LarderModel
import TestSupport
import Testing

@testable import LarderWire

@Suite("Messages that are coded by hand are coded as protobuf-c codes them")
struct HandCodedMessageTests {
    /// The body of an envelope, and the number of its field.
    private struct Body {
        let field: UInt32
        let bytes: [UInt8]
    }

    /// The samples of messages that are coded by hand.
    private static func bodies() throws -> [Body] {
        let frames =
            try Samples.requests().map {
                try WireTesting.frame(RequestEnvelope(id: 1, request: $0.request))
            } + Samples.replies.map { try WireTesting.frame(ReplyEnvelope(id: 1, reply: $0.reply)) }
        return try frames.map(body).filter { ProtobufOracle.repacked($0.field, $0.bytes) != nil }
    }

    private static func body(_ frame: [UInt8]) throws -> Body {
        let content = frame.span.bytes.extracting(Frame.lengthBytes..<frame.count)
        let header = try EnvelopeHeader(content)
        return Body(field: header.bodyNumber, bytes: header.body.array)
    }

    private func content(_ field: UInt32, _ bytes: [UInt8]) -> [UInt8] {
        ProtoBytes.envelope(UInt64(field), ProtoBytes().raw(bytes))
    }

    /// Either the body is rejected, or it is what protobuf-c makes of it.
    ///
    /// - Returns: whether it was decoded.
    @discardableResult
    private func compare(_ field: UInt32, _ bytes: [UInt8], _ what: String) throws -> Bool {
        let content = content(field, bytes)
        if field < 30 {
            guard let found = try? WireTesting.request(content: content).request else {
                return false
            }
            let wanted = ProtobufOracle.request(field, bytes)
            // A column may hold a NaN, which equals nothing: then the encoded bytes must be equal.
            if found != wanted {
                #expect(try request(found) == wanted.map(request), "\(what): \(bytes)")
            }
        } else {
            guard let found = try? WireTesting.reply(content: content).reply else { return false }
            let wanted = ProtobufOracle.reply(field, bytes)
            if found != wanted {
                #expect(try reply(found) == wanted.map(reply), "\(what): \(bytes)")
            }
        }
        return true
    }

    private func request(_ request: Request) throws -> [UInt8] {
        try WireTesting.frame(RequestEnvelope(id: 1, request: request))
    }

    private func reply(_ reply: Reply) throws -> [UInt8] {
        try WireTesting.frame(ReplyEnvelope(id: 1, reply: reply))
    }

    @Test("a message coded by hand is decoded and encoded as protobuf-c does")
    func whole() throws {
        let bodies = try Self.bodies()
        let fields: Set<UInt32> = [
            11, 12, 13, 14, 22, 23, 24, 27, 31, 32, 35, 37, 40, 43, 44,
        ]
        #expect(Set(bodies.map(\.field)) == fields)
        for body in bodies {
            #expect(try compare(body.field, body.bytes, "whole"))
            #expect(ProtobufOracle.repacked(body.field, body.bytes) == body.bytes)
        }
    }

    @Test("a message coded by hand that is cut after any byte is treated as protobuf-c does")
    func cut() throws {
        for body in try Self.bodies() {
            for length in body.bytes.indices {
                try compare(body.field, Array(body.bytes[..<length]), "\(length) bytes")
            }
        }
    }

    @Test("a message coded by hand with one flipped bit is treated as protobuf-c does")
    func flipped() throws {
        for body in try Self.bodies() {
            for offset in body.bytes.indices {
                var flipped = body.bytes
                flipped[offset] ^= 1 << UInt8(offset % 8)
                try compare(body.field, flipped, "byte \(offset)")
            }
        }
    }

    @Test("a message coded by hand that is damaged at random is treated as protobuf-c does")
    func damaged() throws {
        var generator = SeededGenerator.fromEnvironment("hand-coded messages")
        let bodies = try Self.bodies()
        var decodedCount = 0
        for number in 0..<RandomTesting.iterations(2_000) {
            guard let body = bodies.randomElement(using: &generator) else { return }
            let donor = bodies.filter { $0.field == body.field }.randomElement(using: &generator)
            let damaged = Fuzzing.mutated(
                body.bytes, donor: donor?.bytes ?? [], using: &generator)
            let what = "LARDER_SEED=\(generator.seed), number \(number)"
            if try compare(body.field, damaged, what) { decodedCount += 1 }
        }
        #expect(decodedCount > 0)
    }
}
