/// Frames that wait to be sent, in order, and how far the first of them has gone.
struct Outbox {
    struct Frame {
        /// The request's id.
        var id: UInt64
        var bytes: [UInt8]
    }

    /// For how many frames memory is kept while there are none.
    private static let framesKept = 64

    private var frames: [Frame] = []
    /// The first frame that is not wholly sent, and how many of its bytes are.
    private var head = 0
    private(set) var sentByteCount = 0

    var first: Frame? { head < frames.count ? frames[head] : nil }

    var isEmpty: Bool { head == frames.count }

    mutating func append(_ frame: Frame) { frames.append(frame) }

    /// So many more bytes of the first frame are sent.
    ///
    /// - Returns: the frame's id once that was its end.
    mutating func advance(by byteCount: Int) -> UInt64? {
        precondition(!isEmpty && byteCount >= 0, "only what was there can have been sent")
        sentByteCount += byteCount
        precondition(sentByteCount <= frames[head].bytes.count, "no more than was there")
        guard sentByteCount == frames[head].bytes.count else { return nil }
        let id = frames[head].id
        sentByteCount = 0
        frames[head].bytes = []
        head += 1
        if head == frames.count {
            frames.removeAll(keepingCapacity: head <= Outbox.framesKept)
            head = 0
        } else if head > frames.count / 2 {
            // Moving what is left costs no more than sending what has gone did.
            frames.removeFirst(head)
            head = 0
        }
        return id
    }

    /// Takes a frame out again, if none of it has been sent.
    mutating func retract(_ id: UInt64) -> Bool {
        guard let position = frames[head...].firstIndex(where: { $0.id == id }) else {
            return false
        }
        guard position > head || sentByteCount == 0 else { return false }
        frames.remove(at: position)
        return true
    }

    mutating func removeAll() { self = Outbox() }
}
