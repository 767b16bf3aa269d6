/// A function of the values of one object. The raw value is its name in format strings.
///
/// A scalar function returns nil if the result is undefined: an operand is nil, a division by zero,
/// a number outside its type. It fails only if its result would be a text of more than
/// ``Limits/functionTextBytesMax`` bytes. `docs/queries.md` defines the types and the meaning of
/// each function.
public enum ScalarFunction: String, Hashable, Sendable, CaseIterable {
    // Arithmetic. A format string writes these as operators, `negate` as a prefix.
    case add, subtract, multiply, divide, modulus, power, negate

    case abs, floor, ceiling, round, trunc, sqrt, exp
    /// The natural logarithm.
    case ln
    /// The logarithm to the base 10.
    case log
    /// The smallest or largest of two or more values; nil if any value is nil.
    case minimum = "min"
    case maximum = "max"

    case bitwiseAnd, bitwiseOr, bitwiseXor, onesComplement, leftShift, rightShift

    /// The number of characters in a string.
    case length
    case uppercase, lowercase
    /// A string with case and diacritics removed.
    case canonical
    /// Strings one after another.
    case concat
    /// The characters of a string from an index, counted from 0, or from the end if it is negative;
    /// at most as many as the third operand says.
    case substring
    /// A string without the white space, or without the given characters, at both ends or at one.
    case trim, trimStart, trimEnd
    /// A string with each occurrence of the second one replaced by the third.
    case replace
    /// The part of a string between separators at an index, counted from 0, or from the end if it
    /// is negative.
    case split
    /// A string with characters added before or after it, up to a length in characters.
    case padStart, padEnd
    /// A number as text with a fixed number of decimal places.
    case format

    /// Whether the words of a search text, the last operand, are in the other operands.
    case search
    /// How often they are, as a number that is greater for better matches.
    case score
    /// A string with marks around the words of a search text.
    case highlight
    /// The part of a string that has the most words of a search text.
    case snippet

    /// The start time of the query, the same for every occurrence in it.
    case now
    // Parts of a date in UTC, or in the time zone of the second operand.
    case year, month, day, hour, minute, second
    /// The day of the week by ISO 8601: 1 for Monday to 7 for Sunday.
    case weekday
    /// The date at which the unit of a calendar began that a date is in.
    case startOf
    /// The number of seconds from one date to another, or of whole units of a calendar.
    case distance

    /// The first of two or more values that is not nil.
    case coalesce
    /// The second operand if the first, a predicate, is true, otherwise the third.
    case conditional = "ternary"

    /// The number of operands.
    public var operandCount: ClosedRange<Int> {
        switch self {
        case .now: 0...0
        case .negate, .abs, .floor, .ceiling, .trunc, .sqrt, .exp, .ln, .log, .onesComplement,
            .length, .uppercase, .lowercase, .canonical:
            1...1
        case .round, .trim, .trimStart, .trimEnd, .year, .month, .day, .hour, .minute, .second,
            .weekday:
            1...2
        case .add, .subtract, .multiply, .divide, .modulus, .power, .bitwiseAnd, .bitwiseOr,
            .bitwiseXor, .leftShift, .rightShift, .format:
            2...2
        case .substring, .padStart, .padEnd, .startOf: 2...3
        case .distance, .highlight: 2...4
        case .snippet: 2...5
        case .replace, .split, .conditional: 3...3
        case .minimum, .maximum, .coalesce, .concat, .search, .score:
            2...Limits.functionOperandsMax
        }
    }

    /// Whether the result is one of the operands, which then must have one common type. Arithmetic
    /// accepts mixed numbers.
    public var returnsOperand: Bool {
        switch self {
        case .coalesce, .conditional, .minimum, .maximum: true
        default: false
        }
    }

    /// The operands that determine the result type; none if the function alone determines it.
    public func resultTypeOperands(_ operands: [QueryExpression]) -> [QueryExpression] {
        switch self {
        case .add, .subtract, .multiply, .divide, .modulus, .negate, .abs, .floor, .ceiling,
            .trunc, .minimum, .maximum, .coalesce:
            operands
        case .round: Array(operands.prefix(1))
        case .conditional: Array(operands.dropFirst())
        default: []
        }
    }
}
