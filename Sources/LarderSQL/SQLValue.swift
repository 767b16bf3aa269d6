import FoundationEssentials
import LarderModel

/// A value as SQLite stores it.
package enum SQLValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])
}

extension SQLValue {
    /// The stored form of an attribute's value: strings in Unicode's form NFC, decimals as
    /// canonical text, dates as seconds since 2001. nil is stored as nil.
    ///
    /// A number of another type is accepted if ``Value/converted(to:)`` accepts it.
    ///
    /// - Parameter name: The property, for the error message.
    /// - Throws: `wrongType` for a value of another type, out of the type's range, or NaN.
    package init(
        storing value: Value, as type: AttributeType, named name: @autoclosure () -> String = "it",
        _ interruption: Interruption = .never
    ) throws(LarderError) {
        if let stored = SQLValue.stored(value, as: type, interruption) {
            self = stored
            return
        }
        let wanted = "\(name()) takes \(type.nounWithArticle)"
        let message =
            switch (type, value) {
            case (.int16, .int): "\(wanted), from -32768 to 32767"
            case (.int32, .int): "\(wanted), from -2147483648 to 2147483647"
            case (.float, .float), (.float, .double), (.double, .double), (.double, .float),
                (.decimal, .decimal), (.decimal, .double), (.date, .date), (.float, .int),
                (.double, .int):
                "\(wanted) within its range and precision, not NaN"
            default: "\(wanted), not \(value.kindWithArticle)"
            }
        throw LarderError(.wrongType, message)
    }

    private static func stored(
        _ value: Value, as type: AttributeType, _ interruption: Interruption
    ) -> SQLValue? {
        switch value.converted(to: type) {
        case .null: .null
        case .bool(let bool): .integer(bool ? 1 : 0)
        case .int(let int): .integer(int)
        case .float(let float): float.isNaN ? nil : .real(Double(float))
        case .double(let double): double.isNaN ? nil : .real(double)
        case .decimal(let decimal): DecimalText.canonical(decimal).map { .text($0) }
        case .string(let string): .text(string.normalized(interruption))
        case .date(let date):
            date.timeIntervalSinceReferenceDate.isFinite
                ? .real(date.timeIntervalSinceReferenceDate) : nil
        case .uuid(let uuid): .blob(uuid.bytes)
        case .url(let url): .text(url.absoluteString)
        case .data(let data): .blob([UInt8](data))
        case .json(let json): .text(json)
        case .object, .objects, nil: nil
        }
    }
}
