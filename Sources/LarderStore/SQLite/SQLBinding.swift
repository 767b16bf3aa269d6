import FoundationEssentials
import LarderModel
@_spi(_Unicode) import Swift

/// A value as SQLite stores it.
enum SQLBinding: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])
}

extension SQLBinding {
    /// The stored form of an attribute's value: strings in Unicode's form NFC, decimals as canonical
    /// text, dates as seconds since 2001. nil is stored as nil.
    ///
    /// An integer is taken where a float, double or decimal is wanted, and a float or double for
    /// the other, if it is the same number there.
    ///
    /// - Parameter name: What takes the value, for the error's sentence.
    /// - Throws: `wrongType` for a value of another type, out of the type's range, or NaN.
    init(
        storing value: Value, as type: AttributeType, named name: @autoclosure () -> String = "it"
    ) throws(LarderError) {
        if let binding = SQLBinding.stored(value, as: type) {
            self = binding
            return
        }
        let wanted = "\(name()) takes \(type.nounWithArticle)"
        let message =
            switch (type, value) {
            case (.int16, .int): "\(wanted), from -32768 to 32767"
            case (.int32, .int): "\(wanted), from -2147483648 to 2147483647"
            case (.float, .float), (.float, .double), (.double, .double), (.double, .float),
                (.decimal, .decimal), (.date, .date):
                "\(wanted) that it can hold exactly; not NaN"
            default: "\(wanted), not \(value.kindWithArticle)"
            }
        throw LarderError(.wrongType, message)
    }

    private static func stored(_ value: Value, as type: AttributeType) -> SQLBinding? {
        switch (type, value) {
        case (_, .null): .null
        case (.bool, .bool(let bool)): .integer(bool ? 1 : 0)
        case (.int16, .int(let int)): Int16(exactly: int).map { .integer(Int64($0)) }
        case (.int32, .int(let int)): Int32(exactly: int).map { .integer(Int64($0)) }
        case (.int64, .int(let int)): .integer(int)
        case (.float, _), (.double, _): storedNumber(value, isFloat: type == .float)
        case (.decimal, .decimal(let decimal)): DecimalText.canonical(decimal).map { .text($0) }
        case (.decimal, .int(let int)): .text(String(int))
        case (.string, .string(let string)): .text(normalized(string))
        case (.date, .date(let date)):
            date.timeIntervalSinceReferenceDate.isFinite
                ? .real(date.timeIntervalSinceReferenceDate) : nil
        case (.uuid, .uuid(let uuid)): .blob(uuid.bytes)
        case (.url, .url(let url)): .text(url.absoluteString)
        case (.data, .data(let data)): .blob([UInt8](data))
        case (.json, .json(let json)): .text(json)
        default: nil
        }
    }

    private static func storedNumber(_ value: Value, isFloat: Bool) -> SQLBinding? {
        let number: Double? =
            switch value {
            case .double(let double): double
            case .float(let float): Double(float)
            case .int(let int): Double(exactly: int)
            default: nil
            }
        guard let number, !number.isNaN else { return nil }
        if isFloat, Float(exactly: number) == nil { return nil }
        return .real(number)
    }

    /// The string in Unicode's form NFC, so that canonically equal strings are equal bytes.
    static func normalized(_ string: String) -> String {
        // Below U+0300, whose first byte is 0xCC, no character composes with another.
        if string.utf8.allSatisfy({ $0 < 0xCC }) { return string }
        var result = ""
        result.unicodeScalars.append(contentsOf: string._nfc)
        return result
    }
}

extension UUID {
    /// The sixteen bytes, most significant first.
    var bytes: [UInt8] {
        let all = uuid
        return [
            all.0, all.1, all.2, all.3, all.4, all.5, all.6, all.7, all.8, all.9, all.10, all.11,
            all.12, all.13, all.14, all.15,
        ]
    }
}

extension AttributeType {
    /// `an int64`, for sentences.
    var nounWithArticle: String {
        switch self {
        case .int16, .int32, .int64: "an \(rawValue)"
        case .data: "data"
        case .json: "a JSON document"
        case .uuid: "a UUID"
        case .url: "a URL"
        case .bool, .float, .double, .decimal, .string, .date: "a \(rawValue)"
        }
    }
}

extension Value {
    /// What kind of value this is, never which: `a string`.
    var kindWithArticle: String {
        switch self {
        case .null: "nil"
        case .bool: "a bool"
        case .int: "an integer"
        case .float: "a float"
        case .double: "a double"
        case .decimal: "a decimal"
        case .string: "a string"
        case .date: "a date"
        case .uuid: "a UUID"
        case .url: "a URL"
        case .data: "data"
        case .json: "a JSON document"
        case .object: "an object"
        case .objects: "a list of objects"
        }
    }
}
