import LarderModel
import LarderWire
import Testing

@Suite("Messages keep their content through the wire")
struct RoundTripTests {
    @Test("each request comes back as it was sent")
    func requests() throws {
        for (name, request) in try Samples.requests() {
            let envelope = RequestEnvelope(id: 5, timeoutMilliseconds: 1_500, request: request)
            let frame = try WireTesting.frame(envelope)
            #expect(try WireTesting.request(frame) == envelope, "\(name)")
        }
    }

    @Test("each reply comes back as it was sent")
    func replies() throws {
        for (name, reply) in Samples.replies {
            let envelope = ReplyEnvelope(id: .max, reply: reply)
            let frame = try WireTesting.frame(envelope)
            #expect(try WireTesting.reply(frame) == envelope, "\(name)")
        }
    }

    @Test("each error code comes back as it was sent")
    func errorCodes() throws {
        for code in ErrorCode.allCases {
            let envelope = ReplyEnvelope(id: 0, reply: .failed(LarderError(code, "so it is")))
            #expect(try WireTesting.reply(try WireTesting.frame(envelope)) == envelope)
        }
    }

    @Test("each query comes back as it was encoded")
    func queries() throws {
        for (name, query) in Samples.queries {
            let encoded = try QueryCoding.encode(query, QueryParameters())
            #expect(try QueryCoding.decode(encoded.shape) == query, "\(name)")
            #expect(encoded.parameters == QueryParameters(), "\(name)")
        }
    }

    @Test("one codec serves message after message")
    func oneCodec() throws {
        let codec = WireCodec()
        for _ in 0..<3 {
            for (_, reply) in Samples.replies {
                let envelope = ReplyEnvelope(id: 2, reply: reply)
                var bytes: [UInt8] = [1, 2, 3]
                try codec.encode(envelope, into: &bytes)
                let content = Array(bytes.dropFirst(3 + Frame.lengthBytes))
                let decoded = try content.withUnsafeBytes { try codec.decodeReply($0) }
                #expect(decoded == envelope)
                #expect(bytes.prefix(3) == [1, 2, 3])
            }
        }
    }
}
