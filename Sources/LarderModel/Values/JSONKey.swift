/// A JSON value as bytes that have its order: of two values, the one with the smaller bytes comes
/// first, and equal values have equal bytes.
///
/// This is the only definition of the order and the equality of JSON values. SQLite compares the
/// bytes as blobs; the evaluator and live queries compare them as they are.
///
/// - The order of the types is null, false, true, numbers, strings, arrays, objects.
/// - Numbers are compared by value, exactly: `1`, `1.0` and `10e-1` are equal. Exponents from 10^18
///   on count as 10^18.
/// - Strings are compared as string attributes are: normalized, by Unicode scalars.
/// - Arrays are compared element by element, and objects member by member in the order of their
///   keys. Of two that begin alike, the shorter one comes first.
///
/// A key has no reference to its text and is never stored.
package struct JSONKey: Hashable, Sendable {
    private enum Tag: UInt8 {
        case end, null, no, yes, number, string, array, object
    }

    private enum Sign: UInt8 {
        case negative, zero, positive
    }

    package private(set) var bytes: [UInt8] = []

    package init(_ value: JSONValue) { append(value) }

    /// The key of a JSON text. Another text, which only a damaged or an unsaved document has, is
    /// ordered as a string.
    package init(text: String) {
        self.init((try? JSONValue(parsing: text)) ?? .string(text))
    }

    /// - Parameter bytes: Those of another key.
    package init(bytes: [UInt8]) { self.bytes = bytes }

    /// Returns a negative number, zero or a positive number.
    package func order(to other: JSONKey) -> Int {
        if bytes.lexicographicallyPrecedes(other.bytes) { return -1 }
        return bytes == other.bytes ? 0 : 1
    }

    /// The value as JSON on one line. Equal values have equal texts: `1` for `1.0`.
    package var text: String {
        var reader = Reader(bytes: bytes)
        return reader.value().text
    }

    // MARK: Writing

    private mutating func append(_ value: JSONValue) {
        switch value {
        case .null: append(tag: .null)
        case .bool(let bool): append(tag: bool ? .yes : .no)
        case .integer(let integer): append(number: integer.description)
        case .double(let double):
            append(number: JSONValue(number: double)?.text ?? double.description)
        case .decimal(let text): append(number: text)
        case .string(let text): append(text.normalized)
        case .array(let elements):
            append(tag: .array)
            for element in elements { append(element) }
            append(tag: .end)
        case .object(let members):
            append(tag: .object)
            let members = members.map { (key: $0.key.normalized, value: $0.value) }
            for member in members.sorted(by: {
                $0.key.utf8.lexicographicallyPrecedes($1.key.utf8)
            }) {
                append(member.key)
                append(member.value)
            }
            append(tag: .end)
        }
    }

    private mutating func append(tag: Tag) { bytes.append(tag.rawValue) }

    /// The end of a string is 0 and 0, so that a zero byte in it is 0 and 1.
    private mutating func append(_ text: String) {
        append(tag: .string)
        for byte in text.utf8 {
            bytes.append(byte)
            if byte == 0 { bytes.append(1) }
        }
        bytes += [0, 0]
    }

    /// The sign; the power of ten before the first digit; the digits, each plus 1; 0. A negative
    /// number has the complement of the bytes after the sign.
    private mutating func append(number text: String) {
        let number = Number(text)
        append(tag: .number)
        bytes.append(number.sign.rawValue)
        if number.sign == .zero { return }
        let mask: UInt8 = number.sign == .negative ? 0xFF : 0
        let exponent = UInt64(bitPattern: number.exponent) ^ 1 << 63
        for shift in stride(from: 56, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: exponent >> UInt64(shift)) ^ mask)
        }
        for digit in number.digits { bytes.append((digit + 1) ^ mask) }
        bytes.append(mask)
    }

    /// A number of JSON: 0.digits × 10^exponent.
    private struct Number {
        static let exponentMax: Int64 = 1_000_000_000_000_000_000

        var sign = Sign.zero
        /// Without zeros at both ends.
        var digits: [UInt8] = []
        var exponent: Int64 = 0

        init(_ text: String) {
            var isNegative = false
            var hasPoint = false
            var written: [UInt8]?
            for byte in text.utf8 {
                switch byte {
                case UInt8(ascii: "-") where written == nil: isNegative = true
                case UInt8(ascii: "."): hasPoint = true
                case UInt8(ascii: "e"), UInt8(ascii: "E"): written = []
                case _ where written != nil: written?.append(byte)
                case UInt8(ascii: "0") where digits.isEmpty: if hasPoint { exponent -= 1 }
                case _ where byte.isASCIIDigit:
                    digits.append(byte - UInt8(ascii: "0"))
                    if !hasPoint { exponent += 1 }
                default: break
                }
            }
            while digits.last == 0 { digits.removeLast() }
            guard !digits.isEmpty else { return }
            sign = isNegative ? .negative : .positive
            if let written { exponent += Self.exponent(written) }
            exponent = min(max(exponent, -Self.exponentMax), Self.exponentMax)
        }

        private static func exponent(_ text: [UInt8]) -> Int64 {
            var exponent: Int64 = 0
            for byte in text where byte.isASCIIDigit {
                let digit = Int64(byte - UInt8(ascii: "0"))
                exponent = exponent < exponentMax / 10 ? exponent * 10 + digit : exponentMax
            }
            return text.first == UInt8(ascii: "-") ? -exponent : exponent
        }

        init(sign: Sign, digits: [UInt8], exponent: Int64) {
            self.sign = sign
            self.digits = digits
            self.exponent = exponent
        }

        /// Without an exponent if the number has up to 21 digits before or 6 zeros after the point,
        /// as JavaScript writes it.
        var text: String {
            guard sign != .zero else { return "0" }
            let digits = String(
                decoding: digits.map { $0 + UInt8(ascii: "0") }, as: UTF8.self)
            let count = Int64(digits.utf8.count)
            let written: String
            if exponent < -5 || exponent > 21 {
                let fraction = count > 1 ? ".\(digits.dropFirst())" : ""
                written = "\(digits.prefix(1))\(fraction)e\(exponent - 1)"
            } else if exponent <= 0 {
                written = "0." + String(repeating: "0", count: Int(-exponent)) + digits
            } else if exponent < count {
                let whole = digits.prefix(Int(exponent))
                written = "\(whole).\(digits.dropFirst(Int(exponent)))"
            } else {
                written = digits + String(repeating: "0", count: Int(exponent - count))
            }
            return sign == .negative ? "-\(written)" : written
        }
    }

    // MARK: Reading

    /// Reads a key that this type has written. Other bytes give some value of at most
    /// `Limits.jsonDepthMax` levels.
    private struct Reader {
        let bytes: [UInt8]
        var position = 0

        mutating func next() -> UInt8 {
            guard position < bytes.count else { return 0 }
            position += 1
            return bytes[position - 1]
        }

        mutating func value(depth: Int = 0) -> JSONValue {
            guard depth <= Limits.jsonDepthMax else { return .null }
            switch Tag(rawValue: next()) {
            case .no: return .bool(false)
            case .yes: return .bool(true)
            case .number: return .decimal(number().text)
            case .string: return .string(string())
            case .array:
                var elements: [JSONValue] = []
                while !isAtEnd() { elements.append(value(depth: depth + 1)) }
                return .array(elements)
            case .object:
                var members: [String: JSONValue] = [:]
                while !isAtEnd() {
                    position += 1
                    let key = string()
                    members[key] = value(depth: depth + 1)
                }
                return .object(members)
            case .null, .end, nil: return .null
            }
        }

        /// Whether the array or object ends here. The end is skipped.
        private mutating func isAtEnd() -> Bool {
            guard position < bytes.count, bytes[position] != Tag.end.rawValue else {
                position += 1
                return true
            }
            return false
        }

        private mutating func string() -> String {
            var content: [UInt8] = []
            while position < bytes.count {
                let byte = next()
                if byte == 0, next() == 0 { break }
                content.append(byte)
            }
            return String(decoding: content, as: UTF8.self)
        }

        private mutating func number() -> Number {
            let sign = Sign(rawValue: next()) ?? .zero
            guard sign != .zero else { return Number(sign: .zero, digits: [], exponent: 0) }
            let mask: UInt8 = sign == .negative ? 0xFF : 0
            var exponent: UInt64 = 0
            for _ in 0..<8 { exponent = exponent << 8 | UInt64(next() ^ mask) }
            var digits: [UInt8] = []
            while position < bytes.count {
                let byte = next() ^ mask
                if byte == 0 { break }
                digits.append(min(byte - 1, 9))
            }
            let limit = Number.exponentMax
            return Number(
                sign: sign, digits: digits,
                exponent: min(max(Int64(bitPattern: exponent ^ 1 << 63), -limit), limit))
        }
    }
}

/// The type of a JSON value that is not null.
package enum JSONKind: String, Hashable, Sendable, CaseIterable {
    case bool, number, string, array, object

    /// The kind of a JSON text; nil for null.
    package init?(of text: String) {
        switch text.utf8.first {
        case UInt8(ascii: "t"), UInt8(ascii: "f"): self = .bool
        case UInt8(ascii: "\""): self = .string
        case UInt8(ascii: "["): self = .array
        case UInt8(ascii: "{"): self = .object
        case UInt8(ascii: "n"), nil: return nil
        default: self = .number
        }
    }
}

extension JSONValue {
    /// A double as a number of JSON; nil for NaN. Infinity is a number beyond those of documents.
    package init?(number double: Double) {
        if double.isNaN { return nil }
        if double.isFinite {
            self = .double(double)
        } else {
            self = .decimal(double < 0 ? "-1e1000000000000000000" : "1e1000000000000000000")
        }
    }
}

extension Value {
    /// The value that stands for all that equal it: JSON as the text of its key, others unchanged.
    package var representative: Value {
        if case .json(let text) = self { .json(JSONKey(text: text).text) } else { self }
    }

    /// The value as JSON to compare with JSON values; nil for a value of a type that JSON does not
    /// have, and for NaN.
    package var comparedJSON: Value? {
        switch self {
        case .json: self
        case .bool(let bool): .json(JSONValue.bool(bool).text)
        case .int(let integer): .json(integer.description)
        case .float(let float): Value.double(Double(float)).comparedJSON
        case .double(let double): JSONValue(number: double).map { .json($0.text) }
        case .decimal: .json(text)
        case .string(let string): .json(JSONValue.string(string).text)
        case .null, .date, .uuid, .url, .data, .object, .objects: nil
        }
    }
}
