/// The frame of a short `get`, with its body still encoded.
///
/// It is the seam of the server's reply cache, which finds the reply to a repeated `get` by the
/// bytes of its body. Everything else about a request is in its ``RequestEnvelope``.
package struct GetFrame: ~Escapable {
    /// A longer frame asks for several objects, or for properties with unusual names.
    private static let bytesMax = 512

    package let id: UInt64
    /// The encoded `GetRequest`, a part of the frame. Equal bytes ask for the same.
    package let body: RawSpan

    /// nil for any other frame; decoding it reports the error.
    @_lifetime(copy frame)
    package init?(_ frame: RawSpan) {
        guard frame.byteCount <= Self.bytesMax, let header = try? EnvelopeHeader(frame),
            header.isGet, header.id != 0, header.snapshot == 0,
            header.trace.isEmpty || (try? header.traceText()) != nil
        else { return nil }
        id = header.id
        body = header.body
    }
}
