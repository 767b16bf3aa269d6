import FoundationEssentials
import LarderModel

/// A type that the values of a column may have, with the form in which they are written.
enum InferredType: Sendable {
    /// A Boolean value as one of two words.
    case bool(yes: String, no: String)
    case int64
    case double
    case decimal
    case uuid
    /// A date in ISO 8601.
    case date
    /// A date in another form.
    case formattedDate(String, DateFormat)

    /// All types of texts, the narrowest first.
    static let ofTexts: [InferredType] =
        [
            .bool(yes: "true", no: "false"), .bool(yes: "t", no: "f"), .bool(yes: "yes", no: "no"),
            .bool(yes: "y", no: "n"), .int64, .double, .decimal, .uuid, .date,
        ] + dates

    /// The types of strings in JSON, which has numbers and Boolean values of its own.
    static let ofJSONStrings: [InferredType] = [.uuid, .date] + dates

    /// Forms that cannot be confused, except for the order of day and month.
    private static let dates: [InferredType] = [
        "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y/%m/%d",
        "%Y/%m/%d %H:%M:%S", "%d.%m.%Y", "%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S", "%d/%m/%Y",
        "%m/%d/%Y", "%d/%m/%Y %H:%M", "%m/%d/%Y %H:%M", "%d-%m-%Y", "%m-%d-%Y", "%d-%b-%Y",
        "%d %b %Y", "%d %B %Y", "%b %d %Y", "%b %d, %Y", "%B %d, %Y",
    ].compactMap { text in (try? DateFormat(text)).map { .formattedDate(text, $0) } }

    var attributeType: AttributeType {
        switch self {
        case .bool: .bool
        case .int64: .int64
        case .double: .double
        case .decimal: .decimal
        case .uuid: .uuid
        case .date, .formattedDate: .date
        }
    }

    /// The value of `--date-format`; nil if none is needed.
    var dateFormat: String? {
        if case .formattedDate(let text, _) = self { text } else { nil }
    }

    var isNumber: Bool { attributeType.isNumber }

    /// Whether a text is a value of the type that is stored without loss.
    ///
    /// - Parameter number: The text as a number; nil if it is not one.
    func accepts(_ text: ArraySlice<UInt8>, _ number: JSONValue?) -> Bool {
        switch self {
        case .bool(let yes, let no):
            guard text.count <= 5 else { return false }
            let word = String(decoding: text, as: UTF8.self).lowercased()
            return word == yes || word == no
        case .int64, .double, .decimal: return number.map(accepts) ?? false
        case .uuid:
            return text.count == 36
                && UUID(uuidString: String(decoding: text, as: UTF8.self)) != nil
        case .date:
            // The year of four digits and a hyphen.
            guard text.count >= 10, text[text.startIndex + 4] == UInt8(ascii: "-") else {
                return false
            }
            return Date(calendarText: text) != nil
        case .formattedDate(_, let format): return text.count <= 40 && format.date(text) != nil
        }
    }

    /// Whether a JSON number is a value of the type that is stored without loss.
    func accepts(_ number: JSONValue) -> Bool {
        switch (self, number) {
        case (.int64, .integer), (.double, .double): true
        case (.double, .integer(let integer)): integer.magnitude <= 1 << 53
        case (.decimal, .integer), (.decimal, .double), (.decimal, .decimal):
            Decimal(exactly: number.text) != nil
        default: false
        }
    }

    /// The number that a text is in JSON's form, which has no leading zeros: codes with them are no
    /// numbers.
    static func number(_ text: ArraySlice<UInt8>) -> JSONValue? {
        guard text.count <= 64, let first = text.first,
            first == UInt8(ascii: "-") || (0x30...0x39).contains(first),
            text.allSatisfy({ (0x30...0x39).contains($0) || "+-.eE".utf8.contains($0) })
        else { return nil }
        return try? JSONValue(parsing: String(decoding: text, as: UTF8.self))
    }
}
