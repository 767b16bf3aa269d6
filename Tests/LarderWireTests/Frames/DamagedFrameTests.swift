import LarderModel
import LarderWire
import TestSupport
import Testing

@Suite("Damaged frames are rejected without a crash")
struct DamagedFrameTests {
    private func contents() throws -> [[UInt8]] {
        try Samples.requests().map {
            try WireTesting.frame(RequestEnvelope(id: 3, request: $0.request))
        } + Samples.replies.map { try WireTesting.frame(ReplyEnvelope(id: 3, reply: $0.reply)) }
    }

    @Test("every prefix of every message is rejected, under its id if the id is complete")
    func prefixes() throws {
        for frame in try contents() {
            let content = Array(frame.dropFirst(Frame.lengthBytes))
            for length in 0..<content.count {
                let prefix = Array(content[..<length])
                #expect(WireTesting.rejection(content: prefix) != nil)
                let rejected = WireTesting.rejectionOfReply(content: prefix)
                #expect(rejected != nil)
                #expect(length < 2 || rejected?.requestID == 3)
            }
        }
    }

    @Test("a truncated body in a whole envelope leaves the connection open")
    func cutBodies() throws {
        for frame in try contents() {
            // The id has two bytes, the body's tag one or two, its length one or more.
            let content = Array(frame.dropFirst(Frame.lengthBytes))
            let tagEnd = content[2] < 0x80 ? 3 : 4
            let lengthEnd = (content[tagEnd...].firstIndex { $0 < 0x80 } ?? tagEnd) + 1
            let body = content[lengthEnd...]
            for length in 0..<body.count {
                let cut =
                    content[..<tagEnd] + ProtoBytes.varint(UInt64(length)) + body.prefix(length)
                #expect(WireTesting.rejection(content: Array(cut))?.isFatal != true)
                #expect(WireTesting.rejectionOfReply(content: Array(cut))?.isFatal != true)
            }
        }
    }

    @Test("a mutated frame is rejected, or decoded to a message that can be encoded")
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
