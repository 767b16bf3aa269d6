import FoundationEssentials

// The text form of values: the output of `--output plain` and CSV, and the input of `key=value` and
// arguments on the command line. Every attribute value reads back unchanged, given its type; text
// alone does not distinguish `1` from `"1"`.

extension Value {
    /// The value as text: numbers in the shortest form that reads back exactly, dates in ISO 8601,
    /// data in base64, objects as URIs separated by spaces.
    public var text: String {
        switch self {
        case .null: ""
        case .bool(let value): value ? "true" : "false"
        case .int(let value): value.description
        case .float(let value): value.description
        case .double(let value): value.description
        case .decimal(let value): value.description
        case .string(let value): value
        case .date(let value): value.text
        case .uuid(let value): value.uuidString
        case .url(let value): value.absoluteString
        case .data(let value): value.base64EncodedString()
        case .json(let value): value
        case .object(let value): value.uriRepresentation
        case .objects(let values): values.map(\.uriRepresentation).joined(separator: " ")
        }
    }

    /// Parses the text of a value of a type.
    ///
    /// - Throws: `malformedValue` with the expected form in its message, but not the text;
    ///   `wrongType` for an integer that the type does not have, as for an integer in JSON.
    /// - Parameters:
    ///   - assumesUTC: Whether a date without a time zone is in UTC. Otherwise it is rejected.
    ///   - interruption: After it, the value or error is meaningless.
    public init(
        text: String, type: AttributeType, assumesUTC: Bool = false,
        _ interruption: Interruption = .never
    ) throws(LarderError) {
        let value: Value? =
            switch type {
            case .bool: Self.bool(text).map { .bool($0) }
            case .int16, .int32, .int64:
                Int64(text).flatMap { Value.int($0).converted(to: type) }
            case .float: Float(exactText: text).map { .float($0) }
            case .double: Double(exactText: text).map { .double($0) }
            case .decimal: Decimal(exactly: text).map { .decimal($0) }
            case .string: .string(text)
            case .date: Date(text: text, assumesUTC: assumesUTC).map { .date($0) }
            case .uuid: UUID(uuidString: text).map { .uuid($0) }
            case .url: URL(string: text, encodingInvalidCharacters: false).map { .url($0) }
            case .data: Data(base64Encoded: text).map { .data($0) }
            case .json: try Self.json(checking: text, interruption)
            }
        guard let value else {
            if type == .date, Date(text: text, assumesUTC: true) != nil { throw Self.noTimeZone }
            let isInteger = type.isInteger && Self.isInteger(text)
            throw LarderError(
                isInteger ? .wrongType : .malformedValue,
                "expected \(type.textDescription)\(isInteger ? ", found another integer" : "")",
                hint: type.isNumber ? Self.commaHint(text) : nil)
        }
        self = value
    }

    /// Checks a JSON document and returns its text unchanged.
    ///
    /// - Throws: `malformedValue` with line and column.
    public static func json(
        checking text: String, _ interruption: Interruption = .never
    ) throws(LarderError) -> Value {
        try JSONValue.check(text, interruption)
        return .json(text)
    }

    /// A hint for a number with a decimal comma or with separators of thousands; nil for other
    /// text. `1,234` may be either, so it is never read as a number.
    private static func commaHint(_ text: String) -> String? {
        let commas = text.utf8.count { $0 == UInt8(ascii: ",") }
        let digits = text.utf8.count { $0.isASCIIDigit }
        guard commas > 0, digits > 0 else { return nil }
        if text.utf8.contains(UInt8(ascii: ".")) {
            return "write a decimal point, and leave out the separators of thousands"
        }
        return commas == 1
            ? "write a decimal point instead of the comma"
            : "leave out the separators of thousands"
    }

    private static let noTimeZone = LarderError(
        .malformedValue,
        "expected a date with a time zone, such as 2026-01-31T08:15:00Z or "
            + "2026-01-31T10:15:00+02:00",
        hint: "write Z after a time in UTC; larder reads dates without a time zone as UTC with "
            + "--utc")

    private static func isInteger(_ text: String) -> Bool {
        let digits = text.hasPrefix("-") ? text.utf8.dropFirst() : text.utf8[...]
        return !digits.isEmpty && digits.allSatisfy(\.isASCIIDigit)
    }

    private static func bool(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "true", "yes", "1": true
        case "false", "no", "0": false
        default: nil
        }
    }
}

extension AttributeType {
    /// The text form of the type's values, to follow the word `expected`.
    var textDescription: String {
        switch self {
        case .bool: "true or false"
        case .int16: "a whole number from \(Int16.min) to \(Int16.max)"
        case .int32: "a whole number from \(Int32.min) to \(Int32.max)"
        case .int64: "a whole number from \(Int64.min) to \(Int64.max)"
        case .float: "a number up to \(Float.greatestFiniteMagnitude), or inf or -inf"
        case .double: "a number up to \(Double.greatestFiniteMagnitude), or inf or -inf"
        case .decimal: "a decimal number of up to 38 digits"
        case .string: "a string"
        case .date: "a date in ISO 8601, such as 2026-01-31T08:15:00Z or 2026-01-31"
        case .uuid: "a UUID, such as 0F8FAD5B-D9CB-469F-A165-70867728950E"
        case .url: "a URL with its special characters percent-encoded"
        case .data: "data in base64"
        case .json: "a JSON document"
        }
    }
}

extension BinaryFloatingPoint where Self: LosslessStringConvertible {
    /// Parses decimal text, `inf` and `-inf`. Nil for NaN, hexadecimal text, finite numbers out of
    /// range, and text that is several times longer than the digits of any number.
    init?(exactText text: String) {
        guard text.utf8.count <= 4_096, let number = Self(text) else { return nil }
        let isInfinity = text == "inf" || text == "-inf"
        let isDecimal = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"),
                UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"):
                true
            default: false
            }
        }
        guard isInfinity || (isDecimal && number.isFinite) else { return nil }
        self = number
    }
}
