import LarderModel
import LarderWire
import NIOCore

/// The frames of replies until the next flush, in one buffer, so that one write sends them all.
struct ReplyBuffer: FrameSink {
    /// A larger buffer is freed after the flush instead of being reused.
    private static let reusedBytesMax = 64 << 10

    private var bytes = ByteBuffer()

    var byteCount: Int { bytes.readableBytes }

    /// The pointer is valid only within the closure: the buffer has reserved these bytes.
    mutating func append(byteCount: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Void) {
        bytes.writeWithUnsafeMutableBytes(minimumWritableBytes: byteCount) { free in
            fill(UnsafeMutableRawBufferPointer(rebasing: free.prefix(byteCount)))
            return byteCount
        }
    }

    /// Appends a frame that was encoded elsewhere.
    mutating func append(_ frame: ByteBuffer) {
        if bytes.readableBytes == 0 {
            bytes = frame
        } else {
            bytes.writeImmutableBuffer(frame)
        }
    }

    /// Removes and returns all frames.
    mutating func take() -> ByteBuffer {
        defer { bytes = ByteBuffer() }
        return bytes
    }

    /// Reuses the memory of a buffer from ``take()`` that has been written. If the socket has not
    /// taken all of it yet, clearing it makes a new buffer.
    mutating func recycle(_ written: consuming ByteBuffer) {
        guard bytes.readableBytes == 0, written.capacity <= Self.reusedBytesMax else { return }
        bytes = consume written
        bytes.clear()
    }
}
