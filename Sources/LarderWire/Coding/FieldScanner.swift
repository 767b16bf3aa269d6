internal import LarderModel

/// Reads the fields of one protobuf message in order, without looking inside them.
///
/// What it gives are parts of the bytes that it was given, good as long as those are.
struct FieldScanner {
    enum Content {
        /// A number of variable length.
        case number(UInt64)
        /// A number of eight or four bytes, the lowest first.
        case fixed(UnsafeRawBufferPointer)
        /// Bytes, a text, a message, or numbers that are packed.
        case bytes(UnsafeRawBufferPointer)
    }

    private let bytes: UnsafeRawBufferPointer
    private var offset = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    var isAtEnd: Bool { offset == bytes.count }

    /// The next field, or nil if what follows is none.
    @inline(__always)
    mutating func next() -> (number: UInt32, content: Content)? {
        guard let tag = shortNumber(), tag >> 3 > 0 else { return nil }
        let content: Content
        switch tag & 7 {
        case 0:
            guard let number = number() else { return nil }
            content = .number(number)
        case 1:
            guard let taken = take(8) else { return nil }
            content = .fixed(taken)
        case 2:
            guard let count = shortNumber(), let taken = take(count) else { return nil }
            content = .bytes(taken)
        case 5:
            guard let taken = take(4) else { return nil }
            content = .fixed(taken)
        default:
            return nil
        }
        return (tag >> 3, content)
    }

    /// The next field of a message that has been found whole, nil at its end.
    ///
    /// - Throws: `malformedMessage` if what follows is no field.
    @inline(__always)
    mutating func field() throws(LarderError) -> (number: UInt32, content: Content)? {
        if isAtEnd { return nil }
        guard let field = next() else { throw Self.unreadable }
        return field
    }

    /// How many fields the message has of a number.
    ///
    /// - Throws: `resourceExhausted` if they are too many; `what` names them in the error.
    func count(
        of number: UInt32, _ what: String, maximum: Int
    ) throws(LarderError) -> Int {
        var fields = self
        var count = 0
        while let field = try fields.field() {
            if field.number == number { count += 1 }
        }
        guard count <= maximum else {
            throw MessageReader.tooMany(what, count, maximum: maximum)
        }
        return count
    }

    /// What is wrong where bytes are no field, or a known field is of another form than its own.
    static var unreadable: LarderError { MessageReader.malformed("the message cannot be read") }

    /// A number of variable length by itself, as packed numbers are; nil if it is cut.
    mutating func number() -> UInt64? { number(bits: 64) }

    private mutating func number(bits: UInt64) -> UInt64? {
        var result: UInt64 = 0
        for shift in stride(from: UInt64(0), to: bits, by: 7) {
            guard offset < bytes.count else { return nil }
            let byte = bytes[offset]
            offset += 1
            result |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return result }
        }
        return nil
    }

    @inline(__always)
    private mutating func take(_ count: UInt32) -> UnsafeRawBufferPointer? {
        guard Int(count) <= bytes.count - offset else { return nil }
        defer { offset += Int(count) }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + Int(count)])
    }

    /// A tag or a length, which have 32 bits; nearly all are a byte.
    @inline(__always)
    private mutating func shortNumber() -> UInt32? {
        if offset < bytes.count, bytes[offset] < 0x80 {
            defer { offset += 1 }
            return UInt32(bytes[offset])
        }
        return number(bits: 32).flatMap { UInt32(exactly: $0) }
    }
}

extension FieldScanner.Content {
    /// The numbers of variable length of a repeated field: one by itself, or some that are packed.
    func forEachNumber(_ body: (UInt64) -> Void) throws(LarderError) {
        switch self {
        case .number(let number): body(number)
        case .bytes(let packed):
            var numbers = FieldScanner(packed)
            while !numbers.isAtEnd {
                guard let number = numbers.number() else { throw FieldScanner.unreadable }
                body(number)
            }
        case .fixed: throw FieldScanner.unreadable
        }
    }
}
