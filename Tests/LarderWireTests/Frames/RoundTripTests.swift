import LarderModel
import LarderWire
import Testing

@Suite("Messages are decoded as they were encoded")
struct RoundTripTests {
    @Test("each request is decoded as it was encoded")
    func requests() throws {
        for (name, request) in try Samples.requests() {
            let envelope = RequestEnvelope(id: 5, timeoutMilliseconds: 1_500, request: request)
            let frame = try WireTesting.frame(envelope)
            #expect(try WireTesting.request(frame) == envelope, "\(name)")
        }
    }

    @Test("a request in a snapshot is decoded with the snapshot's id")
    func snapshot() throws {
        for snapshot: UInt64 in [1, 127, 128, .max] {
            for (name, request) in try Samples.requests() {
                let envelope = RequestEnvelope(id: 5, snapshot: snapshot, request: request)
                let frame = try WireTesting.frame(envelope)
                #expect(try WireTesting.request(frame) == envelope, "\(name)")
            }
        }
    }

    @Test("a request keeps the id that its client gave it for the log, up to 128 bytes")
    func traces() throws {
        for (name, request) in try Samples.requests() {
            for trace in ["a", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"] {
                let envelope = RequestEnvelope(id: 5, trace: trace, request: request)
                let frame = try WireTesting.frame(envelope)
                #expect(try WireTesting.request(frame) == envelope, "\(name)")
            }
        }
        let longest = RequestEnvelope(
            id: 5, trace: String(repeating: "~", count: 128), request: .ping)
        #expect(try WireTesting.request(try WireTesting.frame(longest)) == longest)
    }

    /// Whether the reply cache may look for the reply before the frame is decoded.
    private static func isReadAtOnce(_ frame: [UInt8]) -> Bool {
        guard let get = GetFrame(frame.span.bytes) else { return false }
        return get.id > 0
    }

    @Test("an id for the log that is too long or not printable ASCII is refused with a sentence")
    func wrongTraces() throws {
        let cases = [
            (String(repeating: "a", count: 129), "has 129 bytes; at most 128 are allowed"),
            ("a b", "printable ASCII"), ("a\n", "printable ASCII"), ("\u{7F}", "printable ASCII"),
            ("\0", "printable ASCII"), ("é", "printable ASCII"),
        ]
        for (trace, part) in cases {
            for request in [Request.ping, .get([Samples.ann], properties: nil)] {
                let envelope = RequestEnvelope(id: 5, trace: trace, request: request)
                let frame = Array(
                    try WireTesting.frame(envelope).dropFirst(Frame.lengthBytes))
                let rejected = try #require(WireTesting.rejection(content: frame))
                #expect(rejected.requestID == 5 && !rejected.isFatal)
                #expect(rejected.error.code == .malformedValue)
                #expect(rejected.error.message.contains(part), "\(rejected.error.message)")
                #expect(!Self.isReadAtOnce(frame))
            }
        }
    }

    @Test("each reply is decoded as it was encoded")
    func replies() throws {
        for (name, reply) in Samples.replies {
            let envelope = ReplyEnvelope(id: .max, reply: reply)
            let frame = try WireTesting.frame(envelope)
            #expect(try WireTesting.reply(frame) == envelope, "\(name)")
        }
    }

    @Test("each error code is decoded as it was encoded")
    func errorCodes() throws {
        for code in ErrorCode.allCases {
            let envelope = ReplyEnvelope(id: 0, reply: .failed(LarderError(code, "so it is")))
            #expect(try WireTesting.reply(try WireTesting.frame(envelope)) == envelope)
        }
    }

    @Test("each query is decoded as it was encoded")
    func queries() throws {
        for (name, query) in Samples.queries {
            let encoded = try QueryRequest(query)
            #expect(try encoded.shape.decoded() == query, "\(name)")
            #expect(encoded.parameters == QueryParameters(), "\(name)")
        }
    }

    @Test("one codec encodes and decodes many messages")
    func oneCodec() throws {
        let codec = WireCodec()
        for _ in 0..<3 {
            for (_, reply) in Samples.replies {
                let envelope = ReplyEnvelope(id: 2, reply: reply)
                var bytes: [UInt8] = [1, 2, 3]
                try codec.encode(envelope, into: &bytes)
                let content = Array(bytes.dropFirst(3 + Frame.lengthBytes))
                let decoded = try codec.decodeReply(content.span.bytes)
                #expect(decoded == envelope)
                #expect(bytes.prefix(3) == [1, 2, 3])
            }
        }
    }
}
