import FoundationEssentials
import LarderModel
import LarderWire
import Testing

/// Encoded frames, which change only with the protocol.
///
/// `Corpus/frames.hex` has one frame per line: `request` or `reply`, the name of the sample in
/// ``Samples``, and the bytes in hexadecimal, length included. `Corpus/frames.text` has the frames
/// as the official protobuf library decodes them, which `Tests/Python/check_corpus` checks. With
/// LARDER_REWRITE_CORPUS=1 the tests write the frames.
@Suite("The corpus of frames")
struct CorpusTests {
    private static let path = "\(Scripts.repository)/Tests/LarderWireTests/Corpus/frames.hex"
    private static let id: UInt64 = 300

    private static func requests() throws -> [(name: String, envelope: RequestEnvelope)] {
        try Samples.requests().map { name, request in
            (name, RequestEnvelope(id: id, timeoutMilliseconds: 1_500, request: request))
        } + [
            ("getInASnapshot", Samples.getInASnapshot)
        ]
    }

    private static func replies() -> [(name: String, envelope: ReplyEnvelope)] {
        Samples.replies.map { ($0.name, ReplyEnvelope(id: id, reply: $0.reply)) }
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef")
        return String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }

    private static func bytes(hex: Substring) -> [UInt8]? {
        let digits = hex.compactMap(\.hexDigitValue)
        guard digits.count == hex.count, digits.count % 2 == 0 else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map {
            UInt8(digits[$0] << 4 | digits[$0 + 1])
        }
    }

    /// The frames of the file by kind and name: `request hello`.
    private static func corpus() throws -> [String: [UInt8]] {
        let text = String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
        var corpus: [String: [UInt8]] = [:]
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let words = line.split(separator: " ")
            try #require(words.count == 3)
            let frame: [UInt8] = try #require(bytes(hex: words[2]))
            corpus["\(words[0]) \(words[1])"] = frame
        }
        return corpus
    }

    private static func expected() throws -> [(name: String, frame: [UInt8])] {
        try requests().map { ("request \($0.name)", try WireTesting.frame($0.envelope)) }
            + replies().map { ("reply \($0.name)", try WireTesting.frame($0.envelope)) }
    }

    @Test("every sample is encoded as in the corpus of frames, which has no other frames")
    func encoding() throws {
        let expected = try Self.expected()
        if ProcessInfo.processInfo.environment["LARDER_REWRITE_CORPUS"] == "1" {
            let lines = expected.map { "\($0.name) \(Self.hex($0.frame))\n" }.joined()
            let head = "# Written by CorpusTests with LARDER_REWRITE_CORPUS=1.\n"
            try Data((head + lines).utf8).write(to: URL(filePath: Self.path))
        }
        let corpus = try Self.corpus()
        for (name, frame) in expected {
            #expect(corpus[name].map(Self.hex) == Self.hex(frame), "\(name)")
        }
        #expect(corpus.count == expected.count)
    }

    @Test("every frame of the corpus is decoded to its sample")
    func decoding() throws {
        let corpus = try Self.corpus()
        for (name, envelope) in try Self.requests() {
            let frame = try #require(corpus["request \(name)"])
            #expect(try WireTesting.request(frame) == envelope, "\(name)")
        }
        for (name, envelope) in Self.replies() {
            let frame = try #require(corpus["reply \(name)"])
            #expect(try WireTesting.reply(frame) == envelope, "\(name)")
        }
    }

    @Test("a ping and a hello are encoded as the documented bytes")
    func pinned() throws {
        let ping = try WireTesting.frame(RequestEnvelope(id: 1, request: .ping))
        #expect(ping == [0, 0, 0, 5, 0x08, 1, 0x8a, 1, 0])
        let hello = try WireTesting.frame(
            RequestEnvelope(
                id: 1, timeoutMilliseconds: 300, request: .hello(Hello(clientName: "py"))))
        let body: [UInt8] = [0x08, 1, 0x12, 2, 0x70, 0x79]
        #expect(hello == [0, 0, 0, 13, 0x08, 1, 0x10, 0xac, 2, 0x52, 6] + body)
    }

    @Test("the official protobuf library decodes and encodes the corpus of frames in the same way")
    func officialLibrary() {
        #expect(Scripts.run("Tests/Python/check_corpus") == 0)
    }
}
