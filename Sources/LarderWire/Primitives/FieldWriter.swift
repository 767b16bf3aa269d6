#if !_endian(little)
#error("fixed-length numbers are written in the machine's own byte order")
#endif

/// Writes the fields of protobuf messages into memory of a known size, last field first: the length
/// of a nested message is then known when it is written.
///
/// The memory has exactly the number of bytes that the `byteCount` functions return for the same
/// fields. Writing more is a bug of the caller and stops the program before a byte is written
/// elsewhere. As in protobuf, a field that is 0 or empty is not written. Field numbers are below
/// 16.
///
/// The memory is valid only inside the closure that it is passed to, and so is the writer.
struct FieldWriter: ~Copyable {
    private let memory: UnsafeMutableRawBufferPointer
    /// The number of bytes that are not written yet. They precede those that are.
    private(set) var freeByteCount: Int

    init(_ memory: UnsafeMutableRawBufferPointer) {
        self.memory = memory
        freeByteCount = memory.count
    }

    /// Checks that the memory is full.
    consuming func finish() { precondition(freeByteCount == 0, "fewer bytes than counted") }

    // MARK: Fields

    mutating func number(_ field: UInt8, _ number: UInt64) {
        guard number != 0 else { return }
        put(number)
        put(byte: field << 3)
    }

    mutating func text(_ field: UInt8, _ text: String) {
        guard !text.isEmpty else { return }
        element(field, text)
    }

    /// An element of a repeated text field. It is written even if it is empty.
    mutating func element(_ field: UInt8, _ text: String) {
        var text = text
        let byteCount = text.withUTF8 { bytes in
            put(UnsafeRawBufferPointer(bytes))
            return bytes.count
        }
        endMessage(field, byteCount)
    }

    /// Bytes, or packed numbers of fixed length.
    @inline(__always)
    mutating func packed<Number: BitwiseCopyable>(_ field: UInt8, _ numbers: [Number]) {
        guard !numbers.isEmpty else { return }
        numbers.withUnsafeBytes { put($0) }
        endMessage(field, numbers.count * MemoryLayout<Number>.size)
    }

    /// Packed varints.
    mutating func numbers(_ field: UInt8, _ numbers: [UInt32]) {
        guard !numbers.isEmpty else { return }
        let end = freeByteCount
        for number in numbers.reversed() { put(UInt64(number)) }
        endMessage(field, end - freeByteCount)
    }

    /// Writes the tag and the length of the bytes that were written last.
    @inline(__always)
    mutating func endMessage(_ field: UInt8, _ byteCount: Int) {
        put(UInt64(byteCount))
        put(byte: field << 3 | 2)
    }

    // MARK: Bytes

    /// A varint.
    @inline(__always)
    mutating func put(_ number: UInt64) {
        if number < 0x80 { return put(byte: UInt8(truncatingIfNeeded: number)) }
        let count = Self.byteCount(number)
        take(count)
        var rest = number
        for offset in freeByteCount..<freeByteCount + count - 1 {
            memory[offset] = UInt8(truncatingIfNeeded: rest) | 0x80
            rest >>= 7
        }
        memory[freeByteCount + count - 1] = UInt8(truncatingIfNeeded: rest)
    }

    @inline(__always)
    private mutating func put(byte: UInt8) {
        take(1)
        memory[freeByteCount] = byte
    }

    @inline(__always)
    private mutating func put(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress, let start = memory.baseAddress else { return }
        take(bytes.count)
        (start + freeByteCount).copyMemory(from: source, byteCount: bytes.count)
    }

    @inline(__always)
    private mutating func take(_ count: Int) {
        precondition(count <= freeByteCount, "more bytes than counted")
        freeByteCount -= count
    }
}

/// The number of bytes that fields take.
extension FieldWriter {
    /// A varint without a tag.
    static func byteCount(_ number: UInt64) -> Int {
        number < 0x80 ? 1 : (UInt64.bitWidth - number.leadingZeroBitCount + 6) / 7
    }

    static func byteCount(ofNumber number: UInt64) -> Int {
        number == 0 ? 0 : 1 + byteCount(number)
    }

    /// Text.
    static func byteCount(ofBytes count: Int) -> Int {
        count == 0 ? 0 : byteCount(ofMessage: count)
    }

    /// Bytes, or packed numbers of fixed length.
    @inline(__always)
    static func byteCount<Number: BitwiseCopyable>(ofPacked numbers: [Number]) -> Int {
        byteCount(ofBytes: numbers.count * MemoryLayout<Number>.size)
    }

    /// A message, which is written even if it is empty.
    static func byteCount(ofMessage count: Int) -> Int {
        1 + byteCount(UInt64(count)) + count
    }

    static func byteCount(ofNumbers numbers: [UInt32]) -> Int {
        byteCount(ofBytes: numbers.reduce(0) { $0 + byteCount(UInt64($1)) })
    }
}
