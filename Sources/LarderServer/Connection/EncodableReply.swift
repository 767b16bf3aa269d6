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
    init(_ reply: Reply, to requestID: UInt64, encodedAbove byteCount: Int) {
        guard reply.estimatedBytes > byteCount else {
            self = .reply(reply)
            return
        }
        var buffer = ReplyBuffer()
        do throws(LarderError) {
            try WireCodec().encode(ReplyEnvelope(id: requestID, reply: reply), into: &buffer)
            self = .frame(buffer.take())
        } catch {
            self = .reply(.failed(Self.tooLong))
        }
    }

    /// The error in place of a reply that does not fit into a frame.
    static let tooLong = LarderError(
        .resourceExhausted, "the reply is longer than the maximum of a frame",
        hint: "fetch fewer objects or properties at once")
}

extension Reply {
    /// Roughly the length of the frame of a reply that can be long; 0 for every other one.
    var estimatedBytes: Int {
        switch self {
        case .batches(let batches, let more): EncodedBatches.byteCount(batches, more: more)
        case .saved(let result): result.estimatedBytes
        case .inserted(let rows, _): rows.keys.count * 16
        case .checked(let report): report.findings.count * 256
        default: 0
        }
    }
}

extension SaveResult {
    /// Roughly the length of the frame of this result.
    var estimatedBytes: Int {
        let affectedCount = affected.reduce(0) { $0 + $1.identifiers.count }
        return (inserted.count + updatedVersions.count + merged.count + affectedCount) * 24
    }
}
