internal import CLarderProto
internal import LarderModel

/// The outermost level of a frame: whose it is and where its body stands.
///
/// It is read before anything is unpacked, for two reasons. A body that cannot be unpacked, or that
/// nobody knows, is still answered under its id. And the body is unpacked from where it stands in
/// the frame, not copied first.
struct EnvelopeHeader {
    /// Fields below this number are the envelope's own; from it on they are bodies.
    private static let firstBody: UInt32 = 10

    private(set) var id: UInt64 = 0
    private(set) var timeoutMilliseconds: UInt32 = 0
    private(set) var bodyNumber: UInt32 = 0
    /// Part of the frame that was given; good as long as that is.
    private(set) var body = UnsafeRawBufferPointer(start: nil, count: 0)

    /// - Throws: ``WireFailure``, fatal if the bytes are no envelope.
    init(_ frame: UnsafeRawBufferPointer) throws(WireFailure) {
        var fields = FieldScanner(frame)
        var bodyCount = 0
        while !fields.isAtEnd {
            guard let field = fields.next() else { throw failure(.malformedFrame) }
            switch (field.number, field.content) {
            case (1, .number(let number)): id = number
            case (2, .number(let number)): timeoutMilliseconds = UInt32(truncatingIfNeeded: number)
            case (1, _), (2, _): throw failure(.malformedFrame)
            case (EnvelopeHeader.firstBody..., .bytes(let bytes)):
                bodyCount += 1
                bodyNumber = field.number
                body = bytes
            case (EnvelopeHeader.firstBody..., _): throw failure(.malformedFrame)
            default: break
            }
        }
        guard !frame.isEmpty else { throw failure(.malformedFrame) }
        guard bodyCount == 1 else {
            throw failure(
                .malformedMessage,
                "the envelope holds \(bodyCount) bodies; it must hold exactly one")
        }
    }

    var isGet: Bool { bodyNumber == LARDER__V1__ENVELOPE__BODY_GET.rawValue }

    func failure(
        _ code: ErrorCode, _ message: String = "the frame is no envelope"
    ) -> WireFailure {
        failure(LarderError(code, message))
    }

    func failure(_ error: LarderError) -> WireFailure {
        WireFailure(requestID: id, error: error)
    }
}
