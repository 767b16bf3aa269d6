/// The layout of a frame: four bytes with the length of the content, most significant byte first,
/// and then the content.
package enum Frame {
    /// The length field itself; it is not counted in the length.
    package static let lengthBytes = 4

    /// The start of a stream of bytes.
    package enum Start: Equatable, Sendable {
        /// A part of a frame, or nothing.
        case incomplete
        /// A whole frame, whose content has this number of bytes.
        case frame(byteCount: Int)
        /// A frame whose content is longer than the maximum.
        case tooLong(byteCount: Int)
    }

    /// The content length that the first four bytes give; nil if there are fewer.
    package static func contentLength(_ bytes: RawSpan) -> Int? {
        guard bytes.byteCount >= lengthBytes else { return nil }
        return Int(UInt32(bigEndian: bytes.unsafeLoadUnaligned(as: UInt32.self)))
    }

    /// - Parameter contentBytesMax: The longest content that is accepted.
    package static func start(of bytes: RawSpan, contentBytesMax: Int) -> Start {
        guard let length = contentLength(bytes) else { return .incomplete }
        if length > contentBytesMax { return .tooLong(byteCount: length) }
        return bytes.byteCount - lengthBytes >= length ? .frame(byteCount: length) : .incomplete
    }
}
