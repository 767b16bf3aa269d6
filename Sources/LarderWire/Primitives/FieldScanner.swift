internal import LarderModel

/// Reads the fields of one protobuf message in order. It does not look inside a field.
///
/// The contents of fields are spans of the scanned bytes; the compiler checks that none outlives
/// them.
struct FieldScanner: ~Escapable {
    private let bytes: RawSpan
    private var offset = 0

    @_lifetime(copy bytes)
    init(_ bytes: RawSpan) { self.bytes = bytes }

    /// The next field, or nil at the end of the message.
    ///
    /// - Throws: `malformedMessage` if the bytes are not a field.
    @inline(__always)
    @_lifetime(copy self)
    mutating func next() throws(LarderError) -> Field? {
        guard offset < bytes.byteCount else { return nil }
        let tag = try shortNumber()
        let number = tag >> 3
        guard number > 0 else { throw .unreadable }
        switch tag & 7 {
        case 0: return Field(number: number, content: .number(try self.number()))
        case 1: return Field(number: number, content: .fixed(try take(8)))
        case 2: return Field(number: number, content: .bytes(try take(try shortNumber())))
        case 5: return Field(number: number, content: .fixed(try take(4)))
        default: throw .unreadable
        }
    }

    /// The length of the whole fields at the beginning of bytes that may end within a field; 0 if
    /// not even the first one is whole.
    func wholeByteCount() -> Int {
        var fields = self
        var whole = fields.offset
        while (try? fields.skip()) == true { whole = fields.offset }
        return whole
    }

    /// The length of the first field, all of which need not be there; nil if its length is not.
    func firstFieldByteCount() -> Int? {
        var field = self
        guard let tag = try? field.shortNumber(), tag & 7 == 2, let count = try? field.shortNumber()
        else { return nil }
        return field.offset + Int(count)
    }

    /// - Returns: false at the end.
    private mutating func skip() throws(LarderError) -> Bool { try next() != nil }

    /// The number of fields with the given field number from here to the end of the message.
    ///
    /// - Parameter what: Names the elements in the error, in the plural.
    /// - Throws: `resourceExhausted` if there are more than the maximum; `malformedMessage`.
    func count(
        of number: UInt32, _ what: String, maximum: Int
    ) throws(LarderError) -> Int {
        var fields = FieldScanner(bytes.extracting(offset..<bytes.byteCount))
        var count = 0
        while let field = try fields.next() {
            if field.number == number { count += 1 }
        }
        guard count <= maximum else { throw .tooMany(what, count, maximum: maximum) }
        return count
    }

    /// Calls the closure with each number of a packed field.
    static func forEachNumber(
        in packed: RawSpan, _ body: (UInt64) -> Void
    ) throws(LarderError) {
        var scanner = FieldScanner(packed)
        while scanner.offset < packed.byteCount { body(try scanner.number()) }
    }

    /// A varint of up to 64 bits.
    @inline(__always)
    private mutating func number() throws(LarderError) -> UInt64 {
        if let byte = shortByte() { return UInt64(byte) }
        return try longNumber(bits: 64)
    }

    /// A tag or a length, which has 32 bits and is usually one byte.
    @inline(__always)
    private mutating func shortNumber() throws(LarderError) -> UInt32 {
        if let byte = shortByte() { return UInt32(byte) }
        guard let number = UInt32(exactly: try longNumber(bits: 32)) else { throw .unreadable }
        return number
    }

    /// A varint of one byte; nil, and nothing is read, if it is longer or missing.
    @inline(__always)
    private mutating func shortByte() -> UInt8? {
        guard offset < bytes.byteCount else { return nil }
        let byte = bytes[offset]
        guard byte < 0x80 else { return nil }
        offset += 1
        return byte
    }

    private mutating func longNumber(bits: UInt64) throws(LarderError) -> UInt64 {
        var result: UInt64 = 0
        for shift in stride(from: UInt64(0), to: bits, by: 7) {
            guard offset < bytes.byteCount else { throw .unreadable }
            let byte = bytes[offset]
            offset += 1
            result |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return result }
        }
        throw .unreadable
    }

    @inline(__always)
    @_lifetime(copy self)
    private mutating func take(_ count: UInt32) throws(LarderError) -> RawSpan {
        let start = offset
        guard Int(count) <= bytes.byteCount - start else { throw .unreadable }
        offset = start + Int(count)
        return bytes.extracting(start..<start + Int(count))
    }
}

/// One field of a message.
struct Field: ~Escapable {
    enum Content: ~Escapable {
        /// A varint.
        case number(UInt64)
        /// A number of four or eight bytes, little-endian.
        case fixed(RawSpan)
        /// Bytes, text, a message, or packed numbers.
        case bytes(RawSpan)
    }

    let number: UInt32
    let content: Content

    @inline(__always)
    @_lifetime(copy content)
    init(number: UInt32, content: consuming Content) {
        self.number = number
        self.content = content
    }
}

extension Field.Content {
    /// Calls the closure with each varint of a repeated field: one, or several that are packed.
    func forEachNumber(_ body: (UInt64) -> Void) throws(LarderError) {
        switch self {
        case .number(let number): body(number)
        case .bytes(let packed): try FieldScanner.forEachNumber(in: packed, body)
        case .fixed: throw .unreadable
        }
    }
}
