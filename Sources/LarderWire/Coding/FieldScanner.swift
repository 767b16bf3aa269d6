/// Reads the fields of one protobuf message in order, without looking inside them.
struct FieldScanner {
    enum Content {
        case number(UInt64)
        case bytes(UnsafeRawBufferPointer)
        case fixed64(UInt64)
        case fixed32(UInt32)
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
            guard let taken = take(8) else { return nil }
            content = .fixed64(UInt64(littleEndian: taken.loadUnaligned(as: UInt64.self)))
        case 2:
            guard let count = varint(), let taken = take(count) else { return nil }
            content = .bytes(taken)
        case 5:
            guard let taken = take(4) else { return nil }
            content = .fixed32(UInt32(littleEndian: taken.loadUnaligned(as: UInt32.self)))
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
