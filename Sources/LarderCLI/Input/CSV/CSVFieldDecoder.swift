import FoundationEssentials
import LarderModel

/// Converts the fields of a CSV column to values of an attribute.
///
/// The most frequent forms of numbers and dates are converted from the bytes of the field; other
/// forms have the rules, and the errors, of the text of a value.
struct CSVFieldDecoder {
    let attribute: Attribute
    /// The attribute in error messages: `Book.title`.
    private let name: String
    /// nil for ISO 8601.
    private let dateFormat: DateFormat?

    init(_ attribute: Attribute, _ name: String, _ dateFormat: DateFormat?) {
        self.attribute = attribute
        self.name = name
        self.dateFormat = attribute.type == .date ? dateFormat : nil
    }

    /// Appends the value of a field to a column of the attribute.
    ///
    /// - Parameter field: UTF-8; nil is nil.
    /// - Throws: `malformedValue`, `wrongType`.
    func append(_ field: ArraySlice<UInt8>?, to column: inout Column) throws(LarderError) {
        guard let field else { return column.appendNull() }
        switch attribute.type {
        case .string: return column.append(bytes: field)
        case .int64:
            if let integer = Self.integer(field) { return column.append(integer: integer) }
        case .double:
            if let double = Self.double(field) { return column.append(double: double) }
        default: break
        }
        try column.append(try value(field))
    }

    /// The value of a field.
    ///
    /// - Throws: as ``append(_:to:)`` does.
    func value(_ field: ArraySlice<UInt8>?) throws(LarderError) -> Value {
        guard let field else { return .null }
        if let dateFormat {
            guard let date = dateFormat.date(field) else {
                throw LarderError(
                    .malformedValue, "\(name): expected a date in the form of --date-format")
            }
            return .date(date)
        }
        do throws(LarderError) {
            return try Value(text: String(decoding: field, as: UTF8.self), type: attribute.type)
        } catch {
            var named = error
            named.message = "\(name): \(error.message)"
            if attribute.type == .date {
                named.hint = "for another form, pass --date-format, such as '%d.%m.%Y'"
            }
            throw named
        }
    }

    /// An integer of up to 18 digits; nil for other text.
    private static func integer(_ field: ArraySlice<UInt8>) -> Int64? {
        let isNegative = field.first == UInt8(ascii: "-")
        let digits = isNegative ? field.dropFirst() : field
        guard 1...18 ~= digits.count else { return nil }
        var result: Int64 = 0
        for byte in digits {
            guard (0x30...0x39).contains(byte) else { return nil }
            result = result * 10 + Int64(byte - 0x30)
        }
        return isNegative ? -result : result
    }

    /// A number whose digits are an integer below 2^53, so that one exact division gives the nearest
    /// double; nil for other text.
    private static func double(_ field: ArraySlice<UInt8>) -> Double? {
        let isNegative = field.first == UInt8(ascii: "-")
        let digits = isNegative ? field.dropFirst() : field
        guard 1...16 ~= digits.count else { return nil }
        var significand: Int64 = 0
        var fractionDigits: Int?
        for byte in digits {
            if byte == UInt8(ascii: "."), fractionDigits == nil {
                fractionDigits = 0
                continue
            }
            guard (0x30...0x39).contains(byte) else { return nil }
            significand = significand * 10 + Int64(byte - 0x30)
            fractionDigits = fractionDigits.map { $0 + 1 }
        }
        guard fractionDigits != 0, digits.first != UInt8(ascii: "."), significand < 1 << 53 else {
            return nil
        }
        let magnitude = Double(significand) / powersOfTen[fractionDigits ?? 0]
        return isNegative ? -magnitude : magnitude
    }

    private static let powersOfTen: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    ]
}
