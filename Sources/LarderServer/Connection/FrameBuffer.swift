import NIOCore

/// The received bytes of a connection, split into frames.
///
/// Its memory grows with the bytes that have arrived, by doubling, never with the length that a
/// peer declares. A frame in many pieces is therefore copied a bounded number of times.
struct FrameBuffer {
    /// The beginning of the bytes.
    enum Front: Equatable {
        case incomplete
        /// A whole frame, with the number of bytes after its length.
        case frame(byteCount: Int)
        case tooLong(declaredBytes: Int)
    }

    private static let lengthBytes = 4
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

    func front(bytesMax: Int) -> Front {
        guard
            let declared = bytes.getInteger(at: bytes.readerIndex, as: UInt32.self)
        else { return .incomplete }
        let byteCount = Int(declared)
        if byteCount > bytesMax { return .tooLong(declaredBytes: byteCount) }
        return bytes.readableBytes - Self.lengthBytes >= byteCount
            ? .frame(byteCount: byteCount) : .incomplete
    }

    /// Removes the frame that ``front(bytesMax:)`` has found.
    ///
    /// The pointer is valid only within the closure, during which the buffer does not change.
    mutating func take<Result>(
        byteCount: Int, _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result {
        let result = bytes.withUnsafeReadableBytes { readable in
            let frame = readable[Self.lengthBytes..<Self.lengthBytes + byteCount]
            return body(UnsafeRawBufferPointer(rebasing: frame))
        }
        bytes.moveReaderIndex(forwardBy: Self.lengthBytes + byteCount)
        if bytes.readableBytes == 0 { bytes = ByteBuffer() }
        return result
    }

    mutating func discardAll() { bytes = ByteBuffer() }
}
