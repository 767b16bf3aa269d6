import LarderModel
import LarderWire
import NIOCore

/// A reply on its way to a connection. A large one is encoded on the thread that made it, because
/// encoding it on the event loop would delay other connections.
enum EncodableReply: Sendable {
    case reply(Reply)
    case frame(ByteBuffer)

    /// - Parameters:
    ///   - requestID: The request that it replies to.
    ///   - byteCount: The length above which it is encoded now.
    ///   - frameBytesMax: The longest frame that the client accepts.
    init(
        _ reply: Reply, to requestID: UInt64, encodedAbove byteCount: Int,
        frameBytesMax: Int = Limits.frameBytesMax
    ) {
        guard reply.isLonger(than: byteCount) else {
            self = .reply(reply)
            return
        }
        var buffer = ReplyBuffer()
        do throws(LarderError) {
            let codec = WireCodec()
            codec.frameBytesMax = frameBytesMax
            try codec.encode(ReplyEnvelope(id: requestID, reply: reply), into: &buffer)
            self = .frame(buffer.take())
        } catch {
            self = .reply(.failed(Self.tooLong))
        }
    }

    /// The error instead of a reply that does not fit into a frame.
    static let tooLong = LarderError(
        .resourceExhausted, "the reply is longer than the maximum of a frame",
        hint: "fetch fewer objects or properties at once")
}

extension Reply {
    /// Whether the frame of the reply is longer than this, or may be.
    func isLonger(than byteCount: Int) -> Bool {
        switch self {
        case .batches(let batches, let more):
            EncodedBatches.byteCount(batches, more: more) > byteCount
        case .saved(let result), .savedPart(let result, _): !result.fits(inBytes: byteCount)
        case .inserted(let rows, _): rows.encodedBytesMax > byteCount
        case .checked(let report): report.findings.count * Self.findingBytes > byteCount
        case .queryStatistics(let list): list.statistics.count * Self.shapeBytes > byteCount
        case .backup(let part, _): part.content.count > byteCount
        // Only the values of objects can make a page of the history long.
        case .history(let page, _):
            !page.objects.isEmpty || page.transactions.contains { !$0.tombstones.isEmpty }
        default: false
        }
    }

    /// Roughly the length of a finding of a check.
    private static let findingBytes = 256
    /// Roughly the length of the statistics of a query.
    private static let shapeBytes = 256
}
