// The binary form of values, as the `send` and `receive` functions of PostgreSQL's types define it:
// big-endian, without a length.
extension PostgresValue {
    /// The bytes of a parameter; nil for null.
    ///
    /// - Throws: `malformedValue` for a `numeric` that is not a number in digits, and for a UUID
    ///   that has not 16 bytes.
    func encoded() throws(PostgresError) -> [UInt8]? {
        switch self {
        case .null: return nil
        case .bool(let bool): return [bool ? 1 : 0]
        case .integer(let integer), .timestamp(let integer): return bigEndianBytes(integer)
        case .real(let float): return bigEndianBytes(float.bitPattern)
        case .double(let double): return bigEndianBytes(double.bitPattern)
        case .numeric(let text):
            guard let bytes = NumericText.encoded(text) else {
                throw PostgresError(.malformedValue, "a decimal is not a number in digits")
            }
            return bytes
        case .text(let text): return Array(text.utf8)
        case .json(let text): return Array(text.utf8)
        case .bytes(let bytes), .inferredBytes(let bytes): return bytes
        case .inferredText(let text): return Array(text.utf8)
        case .uuid(let bytes):
            guard bytes.count == 16 else {
                throw PostgresError(.malformedValue, "a UUID has 16 bytes, not \(bytes.count)")
            }
            return bytes
        case .integers(let integers): return Self.encoded(integers)
        }
    }

    /// An array with one dimension from 1: dimensions, whether there are nulls, type; length, first
    /// index; then each element with its length.
    private static func encoded(_ integers: [Int64]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(20 + 12 * integers.count)
        let isEmpty = integers.isEmpty
        bytes += bigEndianBytes(isEmpty ? 0 : 1 as Int32)
        bytes += bigEndianBytes(0 as Int32)
        bytes += bigEndianBytes(PostgresType.bigint.rawValue)
        if isEmpty { return bytes }
        bytes += bigEndianBytes(Int32(clamping: integers.count))
        bytes += bigEndianBytes(1 as Int32)
        for integer in integers {
            bytes += bigEndianBytes(8 as Int32)
            bytes += bigEndianBytes(integer)
        }
        return bytes
    }

    /// Reads a value of a row.
    ///
    /// - Throws: `unexpectedReply` for a type that is not read here, for bytes that are no value of
    ///   the type, and for the numbers NaN and infinity of `numeric`.
    init(_ bytes: Span<UInt8>, of type: PostgresType) throws(PostgresError) {
        switch type {
        case .bool where bytes.count == 1: self = .bool(bytes[0] != 0)
        case .bigint where bytes.count == 8:
            self = .integer(Int64(bitPattern: UInt64(bigEndian: bytes)))
        case .integer where bytes.count == 4:
            self = .integer(Int64(Int32(truncatingIfNeeded: UInt64(bigEndian: bytes))))
        case .smallint where bytes.count == 2:
            self = .integer(Int64(Int16(truncatingIfNeeded: UInt64(bigEndian: bytes))))
        case .real where bytes.count == 4:
            self = .real(Float(bitPattern: UInt32(truncatingIfNeeded: UInt64(bigEndian: bytes))))
        case .double where bytes.count == 8:
            self = .double(Double(bitPattern: UInt64(bigEndian: bytes)))
        case .numeric:
            guard let text = NumericText.decoded(bytes) else { throw Self.unexpected(type) }
            self = .numeric(text)
        case .text, .varchar, .name, .unknown: self = .text(try Self.text(bytes, type))
        case .json: self = .json(try Self.text(bytes, type))
        case .jsonb where bytes.count >= 1 && bytes[0] == Self.jsonbVersion:
            self = .json(try Self.text(bytes.extracting(1..<bytes.count), type))
        case .bytea: self = .bytes(Array(copying: bytes))
        case .uuid where bytes.count == 16: self = .uuid(Array(copying: bytes))
        case .timestamptz where bytes.count == 8:
            self = .timestamp(Int64(bitPattern: UInt64(bigEndian: bytes)))
        // The result of a function that is called for its effect.
        case .void: self = .null(.void)
        default: throw Self.unexpected(type)
        }
    }

    private static let jsonbVersion: UInt8 = 1

    private static func text(
        _ bytes: Span<UInt8>, _ type: PostgresType
    ) throws(PostgresError) -> String {
        do {
            return String(copying: try UTF8Span(validating: bytes))
        } catch {
            throw unexpected(type)
        }
    }

    private static func unexpected(_ type: PostgresType) -> PostgresError {
        PostgresError(
            .unexpectedReply,
            "the server sent a value of type \(type.rawValue) that cannot be read")
    }
}

func bigEndianBytes(_ integer: some FixedWidthInteger) -> [UInt8] {
    var rest = integer
    var bytes = [UInt8](repeating: 0, count: integer.bitWidth / 8)
    for index in bytes.indices.reversed() {
        bytes[index] = UInt8(truncatingIfNeeded: rest)
        rest >>= 8
    }
    return bytes
}

extension UInt64 {
    /// The number of at most eight bytes.
    init(bigEndian bytes: Span<UInt8>) {
        self = 0
        for index in bytes.indices { self = self << 8 | UInt64(bytes[index]) }
    }
}

extension [UInt8] {
    init(copying bytes: Span<UInt8>) {
        self.init()
        reserveCapacity(bytes.count)
        for index in bytes.indices { append(bytes[index]) }
    }
}
