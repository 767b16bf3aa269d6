/// Frames that wait to be sent, in order, and the number of bytes of the first one that are sent.
struct SendQueue {
    struct Frame {
        /// The request's id.
        var id: UInt64
        var bytes: [UInt8]
    }

    /// An empty queue keeps the memory of this number of frames at most.
    private static let capacityKeptMax = 64

    private var frames: [Frame] = []
    /// The index of the first frame that is not completely sent.
    private var head = 0
    private(set) var sentByteCount = 0

    var first: Frame? { head < frames.count ? frames[head] : nil }

    var isEmpty: Bool { head == frames.count }

    mutating func append(_ frame: Frame) { frames.append(frame) }

    /// Records that more bytes of the first frame are sent.
    ///
    /// - Returns: the frame's id if its last byte is sent.
    mutating func advance(by byteCount: Int) -> UInt64? {
        precondition(!isEmpty && byteCount >= 0, "only bytes in the queue can be sent")
        sentByteCount += byteCount
        precondition(sentByteCount <= frames[head].bytes.count, "only bytes in the frame are sent")
        guard sentByteCount == frames[head].bytes.count else { return nil }
        let id = frames[head].id
        sentByteCount = 0
        frames[head].bytes = []
        head += 1
        if head == frames.count {
            frames.removeAll(keepingCapacity: head <= SendQueue.capacityKeptMax)
            head = 0
        } else if head > frames.count / 2 {
            // Half of the frames are sent, so moving the others costs constant time per frame.
            frames.removeFirst(head)
            head = 0
        }
        return id
    }

    /// Removes a frame if no byte of it is sent.
    ///
    /// - Returns: whether it was removed.
    mutating func remove(_ id: UInt64) -> Bool {
        guard let index = frames[head...].firstIndex(where: { $0.id == id }) else {
            return false
        }
        guard index > head || sentByteCount == 0 else { return false }
        frames.remove(at: index)
        return true
    }

    mutating func removeAll() { self = SendQueue() }
}
