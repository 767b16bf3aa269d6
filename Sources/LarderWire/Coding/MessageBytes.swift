internal import CLarderProto
internal import LarderModel

/// Memory into which a message is written field by field, as protobuf has it, without structures
/// between. It is kept for the next message.
///
/// Fields are to be written in the order of their numbers, which makes the bytes those of
/// protobuf-c. Nothing is written of a field that is empty or zero, unless its function says so.
final class MessageBytes {
    /// Memory for so much is kept from message to message.
    private static let keptBytesMax = 1 << 20
    private static let firstBytes = 1 << 10

    private var memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private var count = 0

    deinit { memory.deallocate() }

    /// What was written, good until more is written.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[..<count]) }

    /// Begins the next message.
    func removeAll() {
        count = 0
        guard memory.count > Self.keptBytesMax else { return }
        memory.deallocate()
        memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    }

    /// A number, a bool or an enumerator.
    func number(_ field: UInt32, _ number: UInt64) {
        if number != 0 { present(field, number) }
    }

    /// The same, also if it is zero: the member of a oneof.
    func present(_ field: UInt32, _ number: UInt64) {
        reserve(15)
        put(field << 3)
        put(number)
    }

    /// Packed numbers of variable length.
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

    /// A number of four or eight bytes, also if it is zero.
    func present<Number: FixedWidthInteger>(_ field: UInt32, fixed number: Number) {
        reserve(5 + MemoryLayout<Number>.size)
        put(field << 3 | (MemoryLayout<Number>.size == 8 ? 1 : 5))
        memory.storeBytes(of: number.littleEndian, toByteOffset: count, as: Number.self)
        count += MemoryLayout<Number>.size
    }

    func text(_ field: UInt32, _ text: String) {
        if !text.isEmpty { present(field, text) }
    }

    /// The same, also if it is empty: an element of a list, or the member of a oneof.
    func present(_ field: UInt32, _ text: String) {
        var text = text
        text.withUTF8 { present(field, UnsafeRawBufferPointer($0)) }
    }

    /// Bytes, also if there are none.
    func present(_ field: UInt32, _ bytes: UnsafeRawBufferPointer) {
        reserve(10 + bytes.count)
        put(field << 3 | 2)
        put(UInt64(bytes.count))
        guard let source = bytes.baseAddress, let target = memory.baseAddress else { return }
        (target + count).copyMemory(from: source, byteCount: bytes.count)
        count += bytes.count
    }

    /// A message that protobuf-c is to pack.
    func message<Message>(_ field: UInt32, packing message: UnsafeMutablePointer<Message>) {
        // Each message of protobuf-c begins with the part that all have.
        let message = UnsafeRawPointer(message).assumingMemoryBound(to: ProtobufCMessage.self)
        let byteCount = protobuf_c_message_get_packed_size(message)
        reserve(10 + byteCount)
        put(field << 3 | 2)
        put(UInt64(byteCount))
        let target = memory.assumingMemoryBound(to: UInt8.self).baseAddress
        count += protobuf_c_message_pack(message, target.map { $0 + count })
    }

    func batch(_ field: UInt32, _ batch: Batch) {
        let fields = BatchFields(batch)
        let byteCount = fields.byteCount
        reserve(10 + byteCount)
        put(field << 3 | 2)
        put(UInt64(byteCount))
        let room = memory[count..<count + byteCount]
        var writer = FieldWriter(UnsafeMutableRawBufferPointer(rebasing: room))
        fields.pack(into: &writer)
        precondition(writer.freeByteCount == 0, "the bytes were counted")
        count += byteCount
    }

    /// A message that the closure writes, also if it is empty.
    func message(
        _ field: UInt32, _ write: () throws(LarderError) -> Void
    ) throws(LarderError) {
        reserve(6)
        put(field << 3 | 2)
        let start = count + 1
        count = start
        try write()
        let byteCount = count - start
        // Short messages have a length of a byte; others make place for theirs.
        if byteCount < 0x80 {
            memory[start - 1] = UInt8(byteCount)
        } else {
            close(start, byteCount)
        }
    }

    private func close(_ start: Int, _ byteCount: Int) {
        reserve(4)
        count = start - 1
        let content = memory[start..<start + byteCount]
        let lengthBytes = FieldWriter.byteCount(UInt64(byteCount))
        let place = memory[start - 1 + lengthBytes..<start - 1 + lengthBytes + byteCount]
        UnsafeMutableRawBufferPointer(rebasing: place).copyMemory(
            from: UnsafeRawBufferPointer(rebasing: content))
        put(UInt64(byteCount))
        count += byteCount
    }

    private func put(_ tag: UInt32) { put(UInt64(tag)) }

    @inline(__always)
    private func put(_ number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            memory[count] = UInt8(truncatingIfNeeded: rest) | 0x80
            count += 1
            rest >>= 7
        }
        memory[count] = UInt8(truncatingIfNeeded: rest)
        count += 1
    }

    /// Makes sure that so many bytes more fit.
    @inline(__always)
    private func reserve(_ byteCount: Int) {
        if memory.count - count < byteCount { grow(byteCount) }
    }

    private func grow(_ byteCount: Int) {
        let larger = UnsafeMutableRawBufferPointer.allocate(
            byteCount: max(Self.firstBytes, memory.count * 2, count + byteCount), alignment: 1)
        larger.copyMemory(from: bytes)
        memory.deallocate()
        memory = larger
    }
}
