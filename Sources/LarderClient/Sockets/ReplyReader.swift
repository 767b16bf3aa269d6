import LarderModel
import LarderWire

/// Reads a connection's replies: bytes to frames to messages.
///
/// It belongs to whoever holds the connection's reader role. Only that thread calls it, and the
/// role changes hands under the connection's lock; that is what protects its state, and why it need
/// not be looked at each time whether accesses overlap.
final class ReplyReader: @unchecked Sendable {
    enum Reading {
        /// There may be replies to take; none, if only a part of a frame arrived.
        case received
        case timedOut
        indirect case ended(LarderError)
    }

    private static let pieceBytes = 64 << 10

    private let socket: Socket
    private let codec = WireCodec()
    @exclusivity(unchecked) private var splitter = FrameSplitter(
        frameBytesMax: Limits.handshakeFrameBytesMax)
    @exclusivity(unchecked) private var piece = [UInt8](repeating: 0, count: ReplyReader.pieceBytes)
    /// What has arrived and was not taken yet.
    @exclusivity(unchecked) private var replies: [Result<ReplyEnvelope, WireFailure>] = []

    init(socket: Socket) { self.socket = socket }

    /// The handshake is done; frames may now be as long as they get.
    func allowLongFrames() { splitter.frameBytesMax = Limits.frameBytesMax }

    /// Receives once, waiting until the deadline; nil does not wait.
    func read(until deadline: Moment?) -> Reading {
        let received =
            if let deadline {
                socket.receive(into: &piece, until: deadline)
            } else {
                socket.receiveWithoutWaiting(into: &piece)
            }
        switch received {
        case .received(let count):
            splitter.append(piece.span.bytes.extracting(first: count))
            decodeReplies()
            return .received
        case .timedOut: return .timedOut
        case .ended: return .ended(.serverClosed)
        case .failed(let error): return .ended(error)
        }
    }

    /// Hands over what has arrived, in order.
    func takeReplies(_ body: (Result<ReplyEnvelope, WireFailure>) -> Void) {
        for reply in replies { body(reply) }
        replies.removeAll(keepingCapacity: true)
    }

    private func decodeReplies() {
        while true {
            do throws(LarderError) {
                let reply = try splitter.withNextFrame { frame in
                    Result { () throws(WireFailure) in
                        try codec.decodeReply(frame, leavesBatches: true)
                    }
                }
                guard let reply else { return }
                replies.append(reply)
            } catch {
                replies.append(.failure(WireFailure(requestID: 0, error: error)))
                return
            }
        }
    }
}
