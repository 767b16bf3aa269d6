import FoundationEssentials
import LarderModel

/// A date format with the directives of `strftime`, for reading dates that are not in ISO 8601.
///
/// Only formats that cannot be misread are accepted: the year has four digits, and the month is
/// given by a directive for the month. Without a time a date is midnight, and without an offset it
/// is in UTC.
struct DateFormat: Sendable {
    private enum Part {
        case literal(UInt8)
        /// A directive. A number must have all its digits if another number follows directly.
        case directive(UInt8, hasAllDigits: Bool)
    }

    private let parts: [Part]

    /// The directives in the order of the help.
    static let directives = "%Y %m %d %b %B %H %M %S %I %p %z %s %Q %F %T %%"
    /// The longest format.
    static let bytesMax = 256

    /// - Throws: `malformedValue` for a directive that is not supported, or for a format without
    ///   all of year, month and day.
    init(_ format: String) throws(LarderError) {
        guard format.utf8.count <= Self.bytesMax else {
            throw LarderError(
                .malformedValue,
                "the date format is longer than the maximum of \(Self.bytesMax) bytes")
        }
        let text = format.replacing("%F", with: "%Y-%m-%d").replacing("%T", with: "%H:%M:%S")
        var parts: [Part] = []
        var names: [UInt8] = []
        var bytes = Array(text.utf8)[...]
        while let byte = bytes.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                parts.append(.literal(byte))
                continue
            }
            guard let name = bytes.popFirst() else {
                throw LarderError(.malformedValue, "the date format ends with a single %")
            }
            if name == UInt8(ascii: "%") {
                parts.append(.literal(name))
                continue
            }
            names.append(try Self.checked(name, among: names))
            let isBeforeNumber =
                bytes.first == UInt8(ascii: "%") && Self.isNumber(bytes.dropFirst().first)
            parts.append(
                .directive(name, hasAllDigits: isBeforeNumber || Self.isNextDigit(bytes.first)))
        }
        try Self.check(String(decoding: names, as: UTF8.self))
        self.parts = parts
    }

    private static func isNumber(_ name: UInt8?) -> Bool {
        name.map { "YmdHMSIsQ".utf8.contains($0) } ?? false
    }

    private static func isNextDigit(_ byte: UInt8?) -> Bool {
        byte.map { ("0"..."9").contains(Unicode.Scalar($0)) } ?? false
    }

    private static func checked(
        _ name: UInt8, among names: [UInt8]
    ) throws(LarderError) -> UInt8 {
        let shown = "%\(Unicode.Scalar(name))"
        guard "YmdbBHMSIpzsQ".utf8.contains(name) else {
            throw LarderError(
                .malformedValue, "the date format has \(EscapedText.escaped(shown))",
                hint: name == UInt8(ascii: "y")
                    ? "a year of two digits is ambiguous; write years with four digits and %Y"
                    : "the directives are \(directives)")
        }
        guard !names.contains(name) else {
            throw LarderError(.malformedValue, "the date format has \(shown) more than once")
        }
        return name
    }

    /// Checks that the directives determine a date.
    private static func check(_ names: String) throws(LarderError) {
        let months = names.filter { "mbB".contains($0) }.count
        if names == "s" || names == "Q" { return }
        guard names.contains("Y"), months == 1, names.contains("d"), !names.contains("s"),
            !names.contains("Q")
        else {
            throw LarderError(
                .malformedValue, "the date format does not determine a day",
                hint: "write %Y, one of %m, %b and %B, and %d; or %s or %Q alone, for seconds or "
                    + "milliseconds from 1970")
        }
        guard names.contains("I") == names.contains("p"),
            !(names.contains("H") && names.contains("I"))
        else {
            throw LarderError(
                .malformedValue, "the date format does not determine an hour",
                hint: "write %H, or both %I and %p")
        }
        let time = names.contains("H") || names.contains("I")
        guard time || !names.contains("M"), names.contains("M") || !names.contains("S") else {
            throw LarderError(
                .malformedValue, "the date format has minutes without hours, or seconds alone")
        }
    }
}

extension DateFormat {
    /// The date that a text gives in this format; nil if it has another form, or if there is no
    /// such day or time.
    func date(_ text: ArraySlice<UInt8>) -> Date? {
        var rest = text
        var fields: [UInt8: String] = [:]
        for part in parts {
            switch part {
            case .literal(let byte):
                guard rest.popFirst() == byte else { return nil }
            case .directive(let name, let hasAllDigits):
                guard let value = Self.take(name, hasAllDigits, from: &rest) else { return nil }
                fields[name] = value
            }
        }
        guard rest.isEmpty else { return nil }
        return Self.date(fields)
    }

    /// Takes the text of a directive, as ISO 8601 writes it.
    private static func take(
        _ name: UInt8, _ hasAllDigits: Bool, from rest: inout ArraySlice<UInt8>
    ) -> String? {
        switch Unicode.Scalar(name) {
        case "Y": return number(4...4, from: &rest)
        case "s", "Q": return signedNumber(from: &rest)
        case "b": return month(from: &rest) { $0.prefix(3) }
        case "B": return month(from: &rest) { $0 }
        case "p":
            let word = String(decoding: rest.prefix(2), as: UTF8.self).uppercased()
            rest = rest.dropFirst(2)
            return word == "AM" || word == "PM" ? word : nil
        case "z":
            let offset = rest.prefix { ![UInt8(ascii: " "), UInt8(ascii: ")")].contains($0) }
            rest = rest.dropFirst(offset.count)
            return String(decoding: offset, as: UTF8.self)
        case "S":
            guard let second = number(hasAllDigits ? 2...2 : 1...2, from: &rest) else {
                return nil
            }
            guard rest.first == UInt8(ascii: ".") || rest.first == UInt8(ascii: ",") else {
                return second
            }
            let digits = rest.dropFirst().prefix { (0x30...0x39).contains($0) }
            guard !digits.isEmpty else { return second }
            rest = rest.dropFirst(1 + digits.count)
            return "\(second).\(String(decoding: digits, as: UTF8.self))"
        default: return number(hasAllDigits ? 2...2 : 1...2, from: &rest)
        }
    }

    /// Takes a number with at least as many digits as the upper bound has, padded with zeros.
    private static func number(
        _ digits: ClosedRange<Int>, from rest: inout ArraySlice<UInt8>
    ) -> String? {
        let text = rest.prefix(digits.upperBound).prefix { (0x30...0x39).contains($0) }
        guard text.count >= digits.lowerBound else { return nil }
        rest = rest.dropFirst(text.count)
        let number = String(decoding: text, as: UTF8.self)
        return digits.upperBound == 2 && text.count == 1 ? "0\(number)" : number
    }

    /// Takes a number with a sign and a fraction.
    private static func signedNumber(from rest: inout ArraySlice<UInt8>) -> String? {
        let text = rest.prefix { (0x30...0x39).contains($0) || "-.".utf8.contains($0) }
        let number = String(decoding: text, as: UTF8.self)
        guard text.count <= 40, number.utf8.last.map({ $0 != UInt8(ascii: ".") }) ?? false,
            number.utf8.first != UInt8(ascii: "."), Double(number) != nil
        else { return nil }
        rest = rest.dropFirst(text.count)
        return number
    }

    /// The date of a time from 1970; nil for a year with other than four digits, because then the
    /// unit is wrong.
    private static func date(from1970 text: String, perSecond: Decimal) -> Date? {
        // Computed in decimal digits, so that the seconds from 2001 are rounded once.
        guard let number = Decimal(exactly: text),
            let seconds = Double("\(number / perSecond - secondsFrom1970)"),
            let first = Date(text: "1000-01-01"), let last = Date(text: "9999-12-31")
        else { return nil }
        let date = Date(timeIntervalSinceReferenceDate: seconds)
        return date >= first && date <= last ? date : nil
    }

    /// The seconds from 1970 to 2001.
    private static let secondsFrom1970: Decimal = 978_307_200

    private static let months = [
        "january", "february", "march", "april", "may", "june", "july", "august", "september",
        "october", "november", "december",
    ]

    private static func month(
        from rest: inout ArraySlice<UInt8>, _ form: (String) -> any StringProtocol
    ) -> String? {
        let letters = rest.prefix { (0x41...0x5A).contains($0 & 0xDF) }
        let word = String(decoding: letters, as: UTF8.self).lowercased()
        guard let index = months.firstIndex(where: { String(form($0)) == word }) else {
            return nil
        }
        rest = rest.dropFirst(letters.count)
        return index < 9 ? "0\(index + 1)" : "\(index + 1)"
    }

    private static func date(_ fields: [UInt8: String]) -> Date? {
        func field(_ name: Unicode.Scalar) -> String? { fields[UInt8(ascii: name)] }
        if let seconds = field("s") { return date(from1970: seconds, perSecond: 1) }
        if let milliseconds = field("Q") { return date(from1970: milliseconds, perSecond: 1_000) }
        guard let year = field("Y"), let month = field("m") ?? field("b") ?? field("B"),
            let day = field("d")
        else { return nil }
        var hour = field("H") ?? "00"
        if let half = field("p"), let number = field("I").flatMap({ Int($0) }) {
            guard (1...12).contains(number) else { return nil }
            let ofDay = number % 12 + (half == "PM" ? 12 : 0)
            hour = ofDay < 10 ? "0\(ofDay)" : "\(ofDay)"
        }
        let minute = field("M") ?? "00"
        return Date(
            text: "\(year)-\(month)-\(day)T\(hour):\(minute):\(field("S") ?? "00")"
                + (field("z") ?? "Z"))
    }
}
