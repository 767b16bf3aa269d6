#if !_endian(little)
#error("numbers of fixed length travel as little-endian machines have them")
#endif

/// Writes the fields of protobuf messages into memory, the last one first: so the length of a
/// message, which stands in front of it, is known when it is written.
///
/// The memory has room for what `byteCount` gives for the same fields. More is a bug of the caller,
/// and stops the program before a byte is written elsewhere. As in protobuf, what is 0 or empty is
/// left out. Numbers of fields are below 16.
struct FieldWriter {
    private let memory: UnsafeMutableRawBufferPointer
    /// How many bytes are left, in front of those that were written.
    private(set) var freeByteCount: Int

    init(_ memory: UnsafeMutableRawBufferPointer) {
        self.memory = memory
        freeByteCount = memory.count
    }

    // MARK: Fields

    mutating func number(_ field: UInt8, _ number: UInt64) {
        guard number != 0 else { return }
        put(number)
        put(byte: field << 3)
    }

    mutating func text(_ field: UInt8, _ text: String) {
        guard !text.isEmpty else { return }
        self.text(always: field, text)
    }

    /// An element of a repeated field, which may be empty.
    mutating func text(always field: UInt8, _ text: String) {
        var text = text
        text.withUTF8 { bytes in
            put(UnsafeRawBufferPointer(bytes))
            endMessage(field, bytes.count)
        }
    }

    /// Bytes, or packed numbers of fixed length.
    mutating func bytes(_ field: UInt8, _ bytes: UnsafeRawBufferPointer) {
        guard !bytes.isEmpty else { return }
        put(bytes)
        endMessage(field, bytes.count)
    }

    /// Packed numbers of variable length.
    mutating func numbers(_ field: UInt8, _ numbers: [UInt32]) {
        guard !numbers.isEmpty else { return }
        let end = freeByteCount
        for number in numbers.reversed() { put(UInt64(number)) }
        endMessage(field, end - freeByteCount)
    }

    /// Puts tag and length in front of the bytes that were written last.
    mutating func endMessage(_ field: UInt8, _ byteCount: Int) {
        put(UInt64(byteCount))
        put(byte: field << 3 | 2)
    }

    // MARK: Bytes

    /// A number of variable length.
    mutating func put(_ number: UInt64) {
        if number < 0x80 { return put(byte: UInt8(truncatingIfNeeded: number)) }
        let count = Self.byteCount(number)
        take(count)
        var rest = number
        for place in freeByteCount..<freeByteCount + count - 1 {
            memory[place] = UInt8(truncatingIfNeeded: rest) | 0x80
            rest >>= 7
        }
        memory[freeByteCount + count - 1] = UInt8(truncatingIfNeeded: rest)
    }

    private mutating func put(byte: UInt8) {
        take(1)
        memory[freeByteCount] = byte
    }

    private mutating func put(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress, let start = memory.baseAddress else { return }
        take(bytes.count)
        (start + freeByteCount).copyMemory(from: source, byteCount: bytes.count)
    }

    private mutating func take(_ count: Int) {
        precondition(count <= freeByteCount, "the bytes were counted")
        freeByteCount -= count
    }
}

/// How many bytes fields take.
extension FieldWriter {
    /// A number of variable length by itself.
    static func byteCount(_ number: UInt64) -> Int {
        number < 0x80 ? 1 : (UInt64.bitWidth - number.leadingZeroBitCount + 6) / 7
    }

    static func byteCount(ofNumber number: UInt64) -> Int {
        number == 0 ? 0 : 1 + byteCount(number)
    }

    /// Bytes, a text, packed numbers.
    static func byteCount(ofBytes count: Int) -> Int {
        count == 0 ? 0 : byteCount(ofMessage: count)
    }

    /// A message, which stands there even if it is empty.
    static func byteCount(ofMessage count: Int) -> Int {
        1 + byteCount(UInt64(count)) + count
    }

    static func byteCount(ofNumbers numbers: [UInt32]) -> Int {
        byteCount(ofBytes: numbers.reduce(0) { $0 + byteCount(UInt64($1)) })
    }
}
