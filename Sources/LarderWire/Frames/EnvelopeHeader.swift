internal import CLarderProto
internal import LarderModel

/// The outermost message of a frame: an id, a timeout, and one body, still encoded.
///
/// It is decoded before the body, so that a body that cannot be decoded, or is unknown, can still
/// be answered under its id.
struct EnvelopeHeader: ~Escapable {
    /// Lower field numbers are the envelope's own; this one and those above are bodies.
    private static let firstBody: UInt32 = 10

    private(set) var id: UInt64 = 0
    private(set) var timeoutMilliseconds: UInt32 = 0
    private(set) var snapshot: UInt64 = 0
    /// The id for the server's log; a part of the frame.
    private(set) var trace: RawSpan
    private(set) var bodyNumber: UInt32 = 0
    /// A part of the frame.
    private(set) var body: RawSpan

    /// - Throws: ``WireFailure``, fatal if the bytes are not an envelope.
    @_lifetime(copy frame)
    init(_ frame: RawSpan) throws(WireFailure) {
        body = frame.extracting(first: 0)
        trace = frame.extracting(first: 0)
        var bodyCount = 0
        do throws(LarderError) {
            var fields = FieldScanner(frame)
            while let field = try fields.next() {
                switch (field.number, field.content) {
                case (1, .number(let number)): id = number
                case (2, .number(let number)):
                    timeoutMilliseconds = UInt32(truncatingIfNeeded: number)
                case (3, .number(let number)): snapshot = number
                case (4, .bytes(let bytes)): trace = bytes
                case (EnvelopeHeader.firstBody..., .bytes(let bytes)):
                    bodyCount += 1
                    bodyNumber = field.number
                    body = bytes
                case (1...4, _), (EnvelopeHeader.firstBody..., _): throw .unreadable
                default: break
                }
            }
            if frame.isEmpty { throw .unreadable }
        } catch {
            throw WireFailure(
                requestID: id,
                error: LarderError(.malformedFrame, "the frame does not contain an envelope"))
        }
        guard bodyCount == 1 else {
            throw failure(
                .malformed("the envelope has \(bodyCount) bodies; it must have exactly one"))
        }
    }

    var isGet: Bool { bodyNumber == LARDER__V1__ENVELOPE__BODY_GET.rawValue }

    /// The trace as a text.
    ///
    /// - Throws: `malformedValue` if it is too long, or not printable ASCII.
    func traceText() throws(LarderError) -> String {
        if trace.isEmpty { return "" }
        guard trace.byteCount <= RequestTrace.bytesMax else {
            throw RequestTrace.tooLong(byteCount: trace.byteCount)
        }
        let bytes = trace.withUnsafeBytes { Array($0) }
        try RequestTrace.check(bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    func failure(_ error: LarderError) -> WireFailure {
        WireFailure(requestID: id, error: error)
    }
}
