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

    /// Hands all frames to a writer and becomes empty, keeping the memory where that is free again
    /// once the writer returns.
    mutating func flush(_ write: (ByteBuffer) -> Void) {
        write(bytes)
        if bytes.capacity > Self.keptBytesMax {
            bytes = ByteBuffer()
        } else {
            bytes.clear()
        }
    }
}
