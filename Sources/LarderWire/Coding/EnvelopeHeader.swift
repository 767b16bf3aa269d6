internal import LarderModel

/// The outermost level of a frame: whose it is and where its body stands.
///
/// It is read before anything is unpacked, for two reasons. A body that cannot be unpacked, or that
/// nobody knows, is still answered under its id. And the body is unpacked from where it stands in
/// the frame, not copied first.
struct EnvelopeHeader {
    /// Fields below this number are the envelope's own; from it on they are bodies.
    private static let firstBody: UInt64 = 10

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
                bodyNumber = UInt32(truncatingIfNeeded: field.number)
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

    func failure(
        _ code: ErrorCode, _ message: String = "the frame is no envelope"
    ) -> WireFailure {
        failure(LarderError(code, message))
    }

    func failure(_ error: LarderError) -> WireFailure {
        WireFailure(requestID: id, error: error)
    }
}

/// Reads the fields of one protobuf message in order, without looking inside them.
private struct FieldScanner {
    enum Content {
        case number(UInt64)
        case bytes(UnsafeRawBufferPointer)
        case other
    }

    private let bytes: UnsafeRawBufferPointer
    private var offset = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    var isAtEnd: Bool { offset == bytes.count }

    /// The next field, or nil if what follows is none.
    mutating func next() -> (number: UInt64, content: Content)? {
        guard let tag = varint(), 1..<1 << 29 ~= tag >> 3 else { return nil }
        let content: Content
        switch tag & 7 {
        case 0:
            guard let number = varint() else { return nil }
            content = .number(number)
        case 1:
            guard take(8) != nil else { return nil }
            content = .other
        case 2:
            guard let count = varint(), let taken = take(count) else { return nil }
            content = .bytes(taken)
        case 5:
            guard take(4) != nil else { return nil }
            content = .other
        default:
            return nil
        }
        return (tag >> 3, content)
    }

    private mutating func take(_ count: UInt64) -> UnsafeRawBufferPointer? {
        guard count <= UInt64(bytes.count - offset) else { return nil }
        defer { offset += Int(count) }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + Int(count)])
    }

    private mutating func varint() -> UInt64? {
        var result: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            guard offset < bytes.count else { return nil }
            let byte = bytes[offset]
            offset += 1
            result |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return result }
        }
        return nil
    }
}
