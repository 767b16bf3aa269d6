/// A `get` as it stands in its frame: for whoever knows its answer by its bytes alone.
public struct EncodedGet {
    /// Longer ones ask for several objects, or for properties of unusual names.
    private static let bytesMax = 512

    public let id: UInt64
    /// Part of the frame, and good as long as that is.
    public let body: UnsafeRawBufferPointer

    /// nil for any other frame, which decoding tells more about.
    public init?(_ frame: UnsafeRawBufferPointer) {
        guard frame.count <= Self.bytesMax, let header = try? EnvelopeHeader(frame),
            header.isGet, header.id != 0
        else { return nil }
        id = header.id
        body = header.body
    }
}
