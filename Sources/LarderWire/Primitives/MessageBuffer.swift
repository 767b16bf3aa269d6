internal import CLarderProto
internal import LarderModel

/// Growing memory into which a message is written field by field, in the order of field numbers,
/// which gives the same bytes as protobuf-c. The memory is reused for the next message.
///
/// A field that is 0 or empty is not written, unless its function says so. The memory belongs to
/// this object; `bytes` borrows it.
final class MessageBuffer {
    /// Larger memory is released after a message.
    private static let retainedBytesMax = 1 << 20
    private static let firstBytes = 1 << 10

    private var memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private(set) var byteCount = 0

    deinit { memory.deallocate() }

    /// The bytes written so far.
    var bytes: RawSpan {
        @_lifetime(borrow self)
        get {
            // This object owns the memory, and the span borrows this object.
            _overrideLifetime(written.bytes, borrowing: self)
        }
    }

    /// A copy of the bytes.
    var array: [UInt8] { Array(written) }

    /// - Parameter memory: At least ``byteCount`` bytes, valid during the call.
    func copyBytes(to memory: UnsafeMutableRawBufferPointer) { memory.copyMemory(from: written) }

    private var written: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: memory[..<byteCount])
    }

    /// Discards all written bytes.
    func removeAll() {
        byteCount = 0
        guard memory.count > Self.retainedBytesMax else { return }
        memory.deallocate()
        memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    }

    // MARK: Fields

    /// A number, a bool or an enumerator.
    func number(_ field: UInt32, _ number: UInt64) {
        if number != 0 { member(field, number) }
    }

    func bool(_ field: UInt32, _ bool: Bool) { if bool { member(field, 1) } }

    /// A member of a oneof, which is written even if it is 0.
    func member(_ field: UInt32, _ number: UInt64) {
        reserve(15)
        put(field << 3)
        put(number)
    }

    /// A member of a oneof with four or eight bytes, which is written even if it is 0.
    func member<Number: FixedWidthInteger>(_ field: UInt32, fixed number: Number) {
        reserve(5 + MemoryLayout<Number>.size)
        put(field << 3 | (MemoryLayout<Number>.size == 8 ? 1 : 5))
        memory.storeBytes(of: number.littleEndian, toByteOffset: byteCount, as: Number.self)
        byteCount += MemoryLayout<Number>.size
    }

    /// Packed varints.
    func numbers(
        _ field: UInt32, _ numbers: some Collection<UInt64>
    ) throws(LarderError) {
        guard !numbers.isEmpty else { return }
        try message(field) {
            for number in numbers {
                reserve(10)
                put(number)
            }
        }
    }

    func text(_ field: UInt32, _ text: String) {
        if !text.isEmpty { element(field, text) }
    }

    /// An element of a repeated field or a member of a oneof, which is written even if it is empty.
    func element(_ field: UInt32, _ text: String) {
        var text = text
        text.withUTF8 { element(field, UnsafeRawBufferPointer($0)) }
    }

    /// Bytes, which are written even if there are none.
    func element(_ field: UInt32, _ bytes: UnsafeRawBufferPointer) {
        reserve(10 + bytes.count)
        put(field << 3 | 2)
        put(UInt64(bytes.count))
        guard let source = bytes.baseAddress, let target = memory.baseAddress else { return }
        (target + byteCount).copyMemory(from: source, byteCount: bytes.count)
        byteCount += bytes.count
    }

    /// A message that the closure writes. It is written even if it is empty.
    func message(
        _ field: UInt32, _ write: () throws(LarderError) -> Void
    ) throws(LarderError) {
        reserve(6)
        put(field << 3 | 2)
        let start = byteCount + 1
        byteCount = start
        try write()
        let length = byteCount - start
        // One byte is reserved for the length; a message whose length does not fit is moved.
        if length < 0x80 {
            memory[start - 1] = UInt8(length)
        } else {
            insertLength(length, start)
        }
    }

    /// A message that protobuf-c packs.
    func message<Message>(_ field: UInt32, packing message: UnsafeMutablePointer<Message>) {
        let message = ProtobufWriter.base(of: message)
        let length = protobuf_c_message_get_packed_size(message)
        append(field, byteCount: length) { room in
            _ = protobuf_c_message_pack(
                message, room.assumingMemoryBound(to: UInt8.self).baseAddress)
        }
    }

    /// A message of a known length that the closure writes. It must fill the memory.
    func append(
        _ field: UInt32, byteCount length: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Void
    ) {
        reserve(10 + length)
        put(field << 3 | 2)
        put(UInt64(length))
        fill(UnsafeMutableRawBufferPointer(rebasing: memory[byteCount..<byteCount + length]))
        byteCount += length
    }

    // MARK: Bytes

    private func insertLength(_ length: Int, _ start: Int) {
        reserve(4)
        byteCount = start - 1
        let content = memory[start..<start + length]
        let target = start - 1 + FieldWriter.byteCount(UInt64(length))
        UnsafeMutableRawBufferPointer(rebasing: memory[target..<target + length]).copyMemory(
            from: UnsafeRawBufferPointer(rebasing: content))
        put(UInt64(length))
        byteCount += length
    }

    private func put(_ tag: UInt32) { put(UInt64(tag)) }

    @inline(__always)
    private func put(_ number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            memory[byteCount] = UInt8(truncatingIfNeeded: rest) | 0x80
            byteCount += 1
            rest >>= 7
        }
        memory[byteCount] = UInt8(truncatingIfNeeded: rest)
        byteCount += 1
    }

    /// Makes room for this number of bytes.
    @inline(__always)
    private func reserve(_ count: Int) {
        if memory.count - byteCount < count { grow(count) }
    }

    private func grow(_ count: Int) {
        let larger = UnsafeMutableRawBufferPointer.allocate(
            byteCount: max(Self.firstBytes, memory.count * 2, byteCount + count), alignment: 1)
        larger.copyMemory(from: written)
        memory.deallocate()
        memory = larger
    }
}
