internal import LarderModel

/// Writes the outermost level of a frame, field by field as protobuf has it, and the body
/// behind it.
///
/// For protobuf-c an envelope is a message with a field for each kind of body, and it looks at all
/// of them twice; that was a tenth of what a short reply costs.
struct EnvelopeWriter {
    private let id: UInt64
    private let timeoutMilliseconds: UInt32
    private let body: EnvelopeBody
    private let bodyByteCount: Int
    /// Of the envelope, without the length in front of it.
    let byteCount: Int

    init(id: UInt64, timeoutMilliseconds: UInt32 = 0, _ body: EnvelopeBody) {
        self.id = id
        self.timeoutMilliseconds = timeoutMilliseconds
        self.body = body
        bodyByteCount = body.byteCount
        byteCount =
            FieldWriter.byteCount(ofNumber: id)
            + FieldWriter.byteCount(ofNumber: UInt64(timeoutMilliseconds))
            + FieldWriter.byteCount(Self.bodyTag(body))
            + FieldWriter.byteCount(UInt64(bodyByteCount)) + bodyByteCount
    }

    /// - Parameter memory: ``byteCount`` bytes.
    func write(to memory: UnsafeMutableRawBufferPointer) {
        let start = memory.count - bodyByteCount
        var head = FieldWriter(UnsafeMutableRawBufferPointer(rebasing: memory[..<start]))
        head.put(UInt64(bodyByteCount))
        head.put(Self.bodyTag(body))
        head.number(2, UInt64(timeoutMilliseconds))
        head.number(1, id)
        precondition(head.freeByteCount == 0, "the bytes were counted")
        body.pack(into: UnsafeMutableRawBufferPointer(rebasing: memory[start...]))
    }

    /// A field of bytes.
    private static func bodyTag(_ body: EnvelopeBody) -> UInt64 { UInt64(body.number) << 3 | 2 }
}
