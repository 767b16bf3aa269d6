import LarderWire
import NIOCore

/// The received bytes of a connection, split into frames.
///
/// Its memory grows with the bytes that have arrived, never with the length that a peer declares.
struct FrameBuffer {
    /// A frame with more bytes is a ``LongFrame``.
    private let shortBytesMax: Int
    private var bytes = ByteBuffer()
    /// The long frame that has begun, before `bytes`.
    private var longFrame: LongFrame?

    init(shortBytesMax: Int) { self.shortBytesMax = shortBytesMax }

    var byteCount: Int { bytes.readableBytes + (longFrame?.arrivedByteCount ?? 0) }

    mutating func append(_ arrived: ByteBuffer) {
        var arrived = arrived
        longFrame?.append(&arrived)
        if bytes.readableBytes == 0 {
            bytes = arrived
            return
        }
        if bytes.readerIndex > bytes.readableBytes { bytes.discardReadBytes() }
        bytes.writeImmutableBuffer(arrived)
    }

    /// The state of the next frame.
    mutating func start(frameBytesMax: Int) -> Frame.Start {
        if let longFrame {
            return longFrame.isComplete ? .frame(byteCount: longFrame.byteCount) : .incomplete
        }
        let start = Frame.start(of: bytes.readableBytesSpan, contentBytesMax: frameBytesMax)
        if start == .incomplete, let byteCount = Frame.contentLength(bytes.readableBytesSpan),
            byteCount > shortBytesMax
        {
            longFrame = takeLong(byteCount)
        }
        return start
    }

    /// Removes the short frame that ``start(frameBytesMax:)`` has found.
    mutating func take<Result>(byteCount: Int, _ body: (RawSpan) -> Result) -> Result {
        let end = Frame.lengthBytes + byteCount
        let result = body(bytes.readableBytesSpan.extracting(Frame.lengthBytes..<end))
        bytes.moveReaderIndex(forwardBy: end)
        if bytes.readableBytes == 0 { bytes = ByteBuffer() }
        return result
    }

    /// Removes the long frame that ``start(frameBytesMax:)`` has found.
    mutating func takeLong(byteCount: Int) -> LongFrame {
        longFrame.take() ?? takeLong(byteCount)
    }

    /// Moves what has arrived of a long frame out of `bytes`.
    private mutating func takeLong(_ byteCount: Int) -> LongFrame {
        let frame = LongFrame(byteCount: byteCount)
        bytes.moveReaderIndex(forwardBy: Frame.lengthBytes)
        frame.append(&bytes)
        if bytes.readableBytes == 0 { bytes = ByteBuffer() }
        return frame
    }

    mutating func discardAll() {
        bytes = ByteBuffer()
        longFrame = nil
    }
}
