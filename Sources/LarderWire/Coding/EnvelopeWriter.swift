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
        var count = Self.length(of: Self.bodyTag(body)) + Self.length(of: UInt64(bodyByteCount))
        if id != 0 { count += 1 + Self.length(of: id) }
        if timeoutMilliseconds != 0 { count += 1 + Self.length(of: UInt64(timeoutMilliseconds)) }
        byteCount = count + bodyByteCount
    }

    /// - Parameter memory: ``byteCount`` bytes.
    func write(to memory: UnsafeMutableRawBufferPointer) {
        var offset = 0
        if id != 0 {
            Self.put(1 << 3, in: memory, at: &offset)
            Self.put(id, in: memory, at: &offset)
        }
        if timeoutMilliseconds != 0 {
            Self.put(2 << 3, in: memory, at: &offset)
            Self.put(UInt64(timeoutMilliseconds), in: memory, at: &offset)
        }
        Self.put(Self.bodyTag(body), in: memory, at: &offset)
        Self.put(UInt64(bodyByteCount), in: memory, at: &offset)
        precondition(offset + bodyByteCount == memory.count, "the bytes were counted")
        body.pack(into: UnsafeMutableRawBufferPointer(rebasing: memory[offset...]))
    }

    /// A field of bytes.
    private static func bodyTag(_ body: EnvelopeBody) -> UInt64 { UInt64(body.number) << 3 | 2 }

    /// How many bytes a varint takes.
    private static func length(of number: UInt64) -> Int {
        (UInt64.bitWidth - (number | 1).leadingZeroBitCount + 6) / 7
    }

    private static func put(
        _ number: UInt64, in memory: UnsafeMutableRawBufferPointer, at offset: inout Int
    ) {
        var rest = number
        while rest >= 0x80 {
            memory[offset] = UInt8(truncatingIfNeeded: rest) | 0x80
            offset += 1
            rest >>= 7
        }
        memory[offset] = UInt8(truncatingIfNeeded: rest)
        offset += 1
    }
}
