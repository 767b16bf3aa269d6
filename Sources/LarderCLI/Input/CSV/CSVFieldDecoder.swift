import FoundationEssentials
import LarderModel

/// Converts the fields of a CSV column to values of an attribute.
///
/// The most frequent forms of numbers and dates are converted from the bytes of the field; other
/// forms have the rules, and the errors, of the text of a value.
///
/// It is a class so that a column of a table is one reference.
final class CSVFieldDecoder: Sendable {
    /// The name of the attribute.
    let attributeName: String
    let type: AttributeType
    /// The attribute in error messages: `Book.title`.
    private let name: String
    private let form: ValueForm
    /// Whether a date without a time zone is in UTC. Otherwise it is rejected.
    private let assumesUTC: Bool

    init(_ attribute: Attribute, _ name: String, _ form: ValueForm, assumesUTC: Bool) {
        self.assumesUTC = assumesUTC
        attributeName = attribute.name
        type = attribute.type
        self.name = name
        self.form = form
    }

    /// Appends the value of a field to a column of the attribute.
    ///
    /// - Parameter field: UTF-8; nil is nil.
    /// - Throws: `malformedValue`, `wrongType`.
    func append(_ field: ArraySlice<UInt8>?, to column: inout Column) throws(LarderError) {
        guard let field, !isNull(field) else { return column.appendNull() }
        switch type {
        case .string: return column.append(bytes: field)
        case _ where type.isNumber && form.numbers != nil: break
        case .int64:
            if let integer = Self.integer(field) { return column.append(integer: integer) }
        case .double:
            if let double = Self.double(field) { return column.append(double: double) }
        case .decimal:
            if let digits = Self.decimal(field) { return column.append(bytes: digits) }
        case .bool:
            if field.elementsEqual("true".utf8) { return column.append(integer: 1) }
            if field.elementsEqual("false".utf8) { return column.append(integer: 0) }
        case .date where form.dateFormats.isEmpty:
            if let date = Date(calendarText: field, assumesUTC: assumesUTC) {
                return column.append(double: date.timeIntervalSinceReferenceDate)
            }
        default: break
        }
        try column.append(try value(field))
    }

    /// The value of a field.
    ///
    /// - Throws: as ``append(_:to:)`` does.
    func value(_ field: ArraySlice<UInt8>?) throws(LarderError) -> Value {
        guard let field, !isNull(field) else { return .null }
        if type == .date, !form.dateFormats.isEmpty { return try date(field) }
        var text = field
        if type.isNumber, let numbers = form.numbers {
            guard let plain = numbers.plain(field) else {
                throw failure(
                    .malformedValue, "expected a number in the form of --decimal and --thousands",
                    field)
            }
            text = plain
        }
        // PostgreSQL and others write one letter.
        if type == .bool, field.count == 1, let letter = field.first {
            if "tTyY".utf8.contains(letter) { return .bool(true) }
            if "fFnN".utf8.contains(letter) { return .bool(false) }
        }
        do throws(LarderError) {
            return try Value(
                text: String(decoding: text, as: UTF8.self), type: type, assumesUTC: assumesUTC)
        } catch {
            var named = failure(error.code, error.message, field)
            named.hint = error.hint
            if type == .date {
                named.hint = "for another form, pass --date-format, such as '%d.%m.%Y'"
            } else if type.isNumber, field.contains(UInt8(ascii: ",")) {
                named.hint =
                    "for a decimal comma, pass --decimal ','; for separators of thousands, "
                    + "--thousands ','"
            }
            throw named
        }
    }

    /// The string of a JSON document as a value in the same form; nil if only JSON's own form is
    /// possible.
    func value(json: JSONValue) throws(LarderError) -> Value? {
        let hasFormattedDates = type == .date && !form.dateFormats.isEmpty
        switch json {
        case .string(let text) where form.isNull(text.utf8): return .some(.null)
        case .string(let text) where hasFormattedDates || type.isNumber && form.numbers != nil:
            return try value(Array(text.utf8)[...])
        case .integer, .double, .decimal:
            guard hasFormattedDates else { return .none }
            return try date(Array(json.text.utf8)[...])
        default: return .none
        }
    }

    /// An empty text is a value of strings and of data only.
    private func isNull(_ field: ArraySlice<UInt8>) -> Bool {
        field.isEmpty && type != .string && type != .data || form.isNull(field)
    }

    private func date(_ field: ArraySlice<UInt8>) throws(LarderError) -> Value {
        guard let date = form.dateFormats.lazy.compactMap({ $0.date(field) }).first else {
            throw failure(
                .malformedValue, "expected a date in the form of --date-format", field)
        }
        return .date(date)
    }

    private func failure(
        _ code: ErrorCode, _ message: String, _ field: ArraySlice<UInt8>
    ) -> LarderError {
        LarderError(code, "\(name): \(message)").showing(String(decoding: field, as: UTF8.self))
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

    /// A number whose digits are an integer below 2^53, so that one exact division gives the
    /// nearest double; nil for other text.
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

    /// The text of a decimal of up to 38 digits, without zeros at the end of the fraction; nil for
    /// other forms, such as those with an exponent or zeros at the start.
    private static func decimal(_ field: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let digits = field.first == UInt8(ascii: "-") ? field.dropFirst() : field
        let whole = digits.prefix { (0x30...0x39).contains($0) }
        let fraction = digits[whole.endIndex...].dropFirst()
        guard let first = whole.first, first != UInt8(ascii: "0") || whole.count == 1,
            whole.count + fraction.count <= 38, first != UInt8(ascii: "0") || digits == field
        else { return nil }
        if whole.endIndex == digits.endIndex { return field }
        guard digits[whole.endIndex] == UInt8(ascii: "."), !fraction.isEmpty,
            fraction.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        guard let last = fraction.lastIndex(where: { $0 != UInt8(ascii: "0") }) else {
            return field[..<whole.endIndex]
        }
        return field[...last]
    }

    private static let powersOfTen: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    ]
}
