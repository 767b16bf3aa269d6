import LarderModel
import LarderWire
import NIOCore

/// The frames of answers that wait for the next flush, back to back, so that one write takes all.
struct ReplyBuffer: FrameSink {
    /// Past it the memory of a flushed buffer is given back rather than kept for the next.
    private static let keptBytesMax = 64 << 10

    private var bytes = ByteBuffer()

    var byteCount: Int { bytes.readableBytes }

    /// The pointer is good within the closure only: the buffer has reserved the bytes for it.
    mutating func append(byteCount: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Void) {
        bytes.writeWithUnsafeMutableBytes(minimumWritableBytes: byteCount) { room in
            fill(UnsafeMutableRawBufferPointer(rebasing: room.prefix(byteCount)))
            return byteCount
        }
    }

    /// Hands out all frames and becomes empty.
    mutating func take() -> ByteBuffer {
        defer { bytes = ByteBuffer() }
        return bytes
    }

    /// Takes back what was handed out and has been written, for its memory: free to be used again
    /// if the socket has taken all of it.
    mutating func recycle(_ written: consuming ByteBuffer) {
        guard bytes.readableBytes == 0, written.capacity <= Self.keptBytesMax else { return }
        bytes = consume written
        bytes.clear()
    }
}
