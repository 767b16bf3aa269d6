import LarderModel
internal import LarderWire

/// Reads a connection's replies: bytes to frames to messages.
///
/// Safe to share: only the thread that reads calls it, and the connection's lock orders the calls
/// of one reading thread before those of the next. So the accesses need no checks for exclusivity.
final class ReplyReader: @unchecked Sendable {
    enum ReadResult {
        /// There may be replies to take; there are none if only a part of a frame has arrived.
        case received
        case timedOut
        indirect case ended(LarderError)
    }

    private static let pieceBytes = 64 << 10

    private let socket: Socket
    private let codec = WireCodec()
    @exclusivity(unchecked) private var splitter = FrameSplitter(
        frameBytesMax: Limits.handshakeFrameBytesMax)
    @exclusivity(unchecked) private var piece = [UInt8](
        repeating: 0, count: ReplyReader.pieceBytes)
    /// The replies that were received and not taken yet.
    @exclusivity(unchecked) private var replies: [Result<ReplyEnvelope, WireFailure>] = []

    init(socket: Socket) { self.socket = socket }

    /// Raises the limit on the length of a frame after the handshake.
    func allowLongFrames() { splitter.frameBytesMax = ReplyReader.frameBytesMax }

    /// That of the longest object. Memory is taken as the bytes of a frame arrive.
    static let frameBytesMax = Limits.objectBytesMax + Limits.objectFrameBytes

    /// Receives once, and waits for it until the deadline; nil does not wait.
    func read(until deadline: MonotonicInstant?) -> ReadResult {
        let received =
            if let deadline {
                socket.receive(into: &piece, until: deadline)
            } else {
                socket.receiveWithoutWaiting(into: &piece)
            }
        switch received {
        case .received(let count):
            let piece = piece
            splitter.append(piece.span.bytes.extracting(first: count))
            decodeReplies()
            return .received
        case .timedOut: return .timedOut
        case .ended: return .ended(.serverClosed)
        case .failed(let error): return .ended(error)
        }
    }

    /// Removes the received replies and passes them to the closure in order.
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
