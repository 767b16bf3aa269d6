extension ScalarFunction {
    /// The types of the operands of a function that prescribes them, in order. A function with more
    /// operands repeats the last one. Nil for a function whose operands have a common type, and for
    /// one that accepts several types.
    public var parameters: [AttributeType]? {
        switch self {
        case .length, .uppercase, .lowercase, .canonical, .concat, .search, .score, .highlight:
            [.string]
        case .snippet: [.string, .string, .int64, .string, .string]
        case .trim, .trimStart, .trimEnd: [.string, .string]
        case .substring: [.string, .int64, .int64]
        case .padStart, .padEnd: [.string, .int64, .string]
        case .replace: [.string, .string, .string]
        case .split: [.string, .string, .int64]
        case .year, .month, .day, .hour, .minute, .second, .weekday: [.date, .string]
        case .startOf: [.date, .string, .string]
        case .distance: [.date, .date, .string, .string]
        case .bitwiseAnd, .bitwiseOr, .bitwiseXor, .onesComplement, .leftShift, .rightShift:
            [.int64]
        case .add, .subtract, .multiply, .divide, .modulus, .power, .negate, .abs, .floor,
            .ceiling, .round, .trunc, .sqrt, .exp, .ln, .log, .minimum, .maximum, .format, .now,
            .coalesce, .conditional:
            nil
        }
    }

    /// The meaning of an operand that is a search text, or the name of a unit or of a time zone;
    /// nil for others.
    ///
    /// - Parameter count: The number of operands.
    public func checkedOperand(at index: Int, of count: Int) -> CheckedOperand? {
        if isSearchText(at: index, of: count) { return .searchText }
        return switch (self, index) {
        case (.startOf, 1), (.distance, 2): .unit
        case (.year, 1), (.month, 1), (.day, 1), (.hour, 1), (.minute, 1), (.second, 1),
            (.weekday, 1), (.startOf, 2), (.distance, 3):
            .zone
        default: nil
        }
    }
}

/// An operand that names a part of a calendar, or is a search text. A constant or an argument is
/// checked before a query reads objects; a value of an object that is no such name makes the
/// function nil.
public enum CheckedOperand: Hashable, Sendable {
    case unit
    case zone
    case searchText

    /// - Throws: `malformedValue` for an unknown name and for text that is no search text;
    ///   `resourceExhausted` for one that is too long; `unsupported` if the machine has no time
    ///   zones.
    public func check(_ name: String) throws(LarderError) {
        switch self {
        case .unit: _ = try CalendarUnit.named(name)
        case .zone: try TimeZones.check(name)
        case .searchText: _ = try SearchText(name)
        }
    }
}
