package import LarderModel

/// Splits a stream of bytes, which arrives in pieces of any length, into frames.
///
/// It stores the bytes that have arrived and were not consumed yet; a declared length reserves no
/// memory. It rejects a length beyond the maximum as soon as the four bytes of the length have
/// arrived. The stream has no more frames after that.
package struct FrameSplitter: Sendable {
    /// The longest accepted frame, in bytes without the length. It may change between two frames,
    /// as it does after the handshake.
    package var frameBytesMax: Int
    /// Memory up to this size is reused for the next frames of a large reply.
    private static let retainedBytesMax = 1 << 20
    private var bytes: [UInt8] = []
    /// The offset of the next frame in `bytes`.
    private var start = 0

    package init(frameBytesMax: Int = Limits.handshakeFrameBytesMax) {
        self.frameBytesMax = frameBytesMax
    }

    /// The number of bytes that are not consumed yet.
    package var bufferedByteCount: Int { bytes.count - start }

    /// Appends the next piece of the stream. Consume all whole frames before the next call; the
    /// splitter then never stores more than one frame and one piece.
    package mutating func append(_ piece: RawSpan) {
        if start == bytes.count {
            bytes.removeAll(keepingCapacity: bytes.capacity <= FrameSplitter.retainedBytesMax)
            start = 0
        } else if start > bytes.count / 2 {
            bytes.removeSubrange(..<start)
            start = 0
        }
        piece.withUnsafeBytes { bytes.append(contentsOf: $0) }
    }

    /// Passes the content of the next frame to the closure; returns nil, without a call, if the
    /// frame is incomplete. The frame is consumed even if the closure throws.
    ///
    /// - Throws: `frameTooLong` if the length exceeds the maximum; what the closure throws.
    package mutating func withNextFrame<Result>(
        _ body: (RawSpan) throws(LarderError) -> Result
    ) throws(LarderError) -> Result? {
        guard let content = try nextContent() else { return nil }
        start = content.upperBound
        return try body(bytes.span.bytes.extracting(content))
    }

    /// The range of the next frame's content in `bytes`; nil if it is incomplete.
    private func nextContent() throws(LarderError) -> Range<Int>? {
        let unread = bytes.span.bytes.extracting(start..<bytes.count)
        switch Frame.start(of: unread, contentBytesMax: frameBytesMax) {
        case .incomplete: return nil
        case .tooLong(let byteCount):
            throw LarderError(
                .frameTooLong,
                "the frame has \(byteCount) bytes; at most \(frameBytesMax) are allowed")
        case .frame(let byteCount):
            let content = start + Frame.lengthBytes
            return content..<content + byteCount
        }
    }
}
