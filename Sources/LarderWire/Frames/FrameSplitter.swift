public import LarderModel

/// Cuts a stream of bytes, in whatever pieces it arrives, into frames.
///
/// It keeps the bytes that have arrived and not yet been taken, and reserves nothing for those that
/// a length only promises. A length beyond the maximum is refused as soon as its four bytes are
/// there; after that the stream has no frames any more.
public struct FrameSplitter: Sendable {
    /// The longest frame that is let through, in bytes without the length. It may change between
    /// two frames, as it does after the handshake.
    public var frameBytesMax: Int
    /// Memory for so much is kept from frame to frame: for the frames of a large answer, each of
    /// which would otherwise grow into it anew.
    private static let keptBytesMax = 1 << 20
    private var bytes: [UInt8] = []
    /// Where the next frame begins in `bytes`.
    private var start = 0

    public init(frameBytesMax: Int = Limits.handshakeFrameBytesMax) {
        self.frameBytesMax = frameBytesMax
    }

    /// How many bytes wait for the rest of their frame, or to be taken.
    public var bufferedByteCount: Int { bytes.count - start }

    /// Takes the next piece of the stream. Take out what is whole before feeding more, so that no
    /// more than a frame and a piece is ever held.
    public mutating func append(_ piece: UnsafeRawBufferPointer) {
        if start == bytes.count {
            bytes.removeAll(keepingCapacity: bytes.capacity <= FrameSplitter.keptBytesMax)
            start = 0
        } else if start > bytes.count / 2 {
            bytes.removeSubrange(..<start)
            start = 0
        }
        bytes.append(contentsOf: piece)
    }

    /// Gives the next frame's bytes, without its length, to the closure; nil, without a call, if
    /// the frame is not whole yet. The frame is taken even if the closure throws.
    ///
    /// - Throws: `frameTooLong` if the length exceeds the maximum.
    public mutating func withNextFrame<Result>(
        _ body: (UnsafeRawBufferPointer) throws(LarderError) -> Result
    ) throws(LarderError) -> Result? {
        guard let range = try nextFrame() else { return nil }
        start = range.upperBound
        return try bytes.withUnsafeBufferPointer { (all) throws(LarderError) -> Result in
            try body(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: all[range])))
        }
    }

    /// Where the next frame's bytes stand, or nil if they have not all arrived.
    private func nextFrame() throws(LarderError) -> Range<Int>? {
        let content = start + Frame.lengthBytes
        guard content <= bytes.count else { return nil }
        let length = bytes[start..<content].reduce(0) { $0 << 8 | Int($1) }
        guard length <= frameBytesMax else {
            throw LarderError(
                .frameTooLong,
                "a frame of \(length) bytes was announced, and \(frameBytesMax) are allowed")
        }
        return bytes.count - content < length ? nil : content..<content + length
    }
}
