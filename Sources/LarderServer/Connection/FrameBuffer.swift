import LarderWire
import NIOCore

/// The received bytes of a connection, split into frames.
///
/// Its memory grows with the bytes that have arrived, by doubling, never with the length that a
/// peer declares. A frame in many pieces is therefore copied a bounded number of times.
struct FrameBuffer {
    private var bytes = ByteBuffer()

    var byteCount: Int { bytes.readableBytes }

    mutating func append(_ arrived: ByteBuffer) {
        if bytes.readableBytes == 0 {
            bytes = arrived
            return
        }
        if bytes.readerIndex > bytes.readableBytes { bytes.discardReadBytes() }
        bytes.writeImmutableBuffer(arrived)
    }

    func start(frameBytesMax: Int) -> Frame.Start {
        Frame.start(of: bytes.readableBytesSpan, contentBytesMax: frameBytesMax)
    }

    /// Removes the frame that ``start(frameBytesMax:)`` has found.
    mutating func take<Result>(byteCount: Int, _ body: (RawSpan) -> Result) -> Result {
        let end = Frame.lengthBytes + byteCount
        let result = body(bytes.readableBytesSpan.extracting(Frame.lengthBytes..<end))
        bytes.moveReaderIndex(forwardBy: end)
        if bytes.readableBytes == 0 { bytes = ByteBuffer() }
        return result
    }

    /// Removes the frame that ``start(frameBytesMax:)`` has found, and returns its content.
    mutating func take(byteCount: Int) -> ByteBuffer {
        bytes.moveReaderIndex(forwardBy: Frame.lengthBytes)
        let content = bytes.readSlice(length: byteCount) ?? ByteBuffer()
        if bytes.readableBytes == 0 { bytes = ByteBuffer() }
        return content
    }

    mutating func discardAll() { bytes = ByteBuffer() }
}
