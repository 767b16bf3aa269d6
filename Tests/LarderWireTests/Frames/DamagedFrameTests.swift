import LarderModel
import LarderWire
import TestSupport
import Testing

@Suite("Damaged frames are refused, and never worse")
struct DamagedFrameTests {
    private func contents() throws -> [[UInt8]] {
        try Samples.requests().map {
            try WireTesting.frame(RequestEnvelope(id: 3, request: $0.request))
        } + Samples.replies.map { try WireTesting.frame(ReplyEnvelope(id: 3, reply: $0.reply)) }
    }

    @Test("every prefix of every message is refused, under its id once that is there")
    func prefixes() throws {
        for frame in try contents() {
            let content = Array(frame.dropFirst(Frame.lengthBytes))
            for length in 0..<content.count {
                let prefix = Array(content[..<length])
                #expect(WireTesting.refusal(content: prefix) != nil)
                let refused = WireTesting.refusalOfReply(content: prefix)
                #expect(refused != nil)
                #expect(length < 2 || refused?.requestID == 3)
            }
        }
    }

    @Test("a body cut anywhere, in an envelope that is whole, leaves the connection alive")
    func cutBodies() throws {
        for frame in try contents() {
            // The id takes two bytes, the body's tag one or two, its length one or more.
            let content = Array(frame.dropFirst(Frame.lengthBytes))
            let tagEnd = content[2] < 0x80 ? 3 : 4
            let lengthEnd = (content[tagEnd...].firstIndex { $0 < 0x80 } ?? tagEnd) + 1
            let body = content[lengthEnd...]
            for length in 0..<body.count {
                let cut =
                    content[..<tagEnd] + ProtoBytes.varint(UInt64(length)) + body.prefix(length)
                #expect(WireTesting.refusal(content: Array(cut))?.isFatal != true)
                #expect(WireTesting.refusalOfReply(content: Array(cut))?.isFatal != true)
            }
        }
    }

    @Test("mutated frames are refused, or taken as messages that are whole")
    func mutations() throws {
        var generator = SeededGenerator.fromEnvironment("frames")
        let contents = try contents().map { Array($0.dropFirst(Frame.lengthBytes)) }
        for _ in 0..<RandomTesting.iterations() {
            let content = Fuzzing.mutated(
                contents.randomElement(using: &generator) ?? [],
                donor: contents.randomElement(using: &generator) ?? [], using: &generator)
            // Compared as bytes: a column of a reply may hold a NaN, which equals nothing.
            if let request = try? WireTesting.request(content: content) {
                let frame = try WireTesting.frame(request)
                #expect(try WireTesting.frame(try WireTesting.request(frame)) == frame)
            }
            if let reply = try? WireTesting.reply(content: content) {
                let frame = try WireTesting.frame(reply)
                #expect(try WireTesting.frame(try WireTesting.reply(frame)) == frame)
                if case .batches(let batches, _) = reply.reply {
                    for batch in batches { _ = batch.rows(store: Samples.store) }
                }
            }
        }
    }
}
