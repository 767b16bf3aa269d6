/// A function of the values of one object. The raw value is its name in format strings.
///
/// A scalar function never fails on a value. It returns nil if the result is undefined: an operand
/// is nil, a division by zero, a number outside its type. `docs/queries.md` defines the types and
/// the meaning of each function.
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

    /// The start time of the query, the same for every occurrence in it.
    case now
    // Parts of a date in UTC.
    case year, month, day, hour, minute, second
    /// The number of seconds from one date to another.
    case distance

    /// The first of two or more values that is not nil.
    case coalesce
    /// The second operand if the first, a predicate, is true, otherwise the third.
    case conditional = "ternary"

    /// The number of operands.
    public var operandCount: ClosedRange<Int> {
        switch self {
        case .now: 0...0
        case .negate, .abs, .floor, .ceiling, .round, .trunc, .sqrt, .exp, .ln, .log,
            .onesComplement, .length, .uppercase, .lowercase, .canonical, .year, .month, .day,
            .hour, .minute, .second:
            1...1
        case .add, .subtract, .multiply, .divide, .modulus, .power, .bitwiseAnd, .bitwiseOr,
            .bitwiseXor, .leftShift, .rightShift, .distance:
            2...2
        case .conditional: 3...3
        case .minimum, .maximum, .coalesce: 2...Limits.functionOperandsMax
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
            .round, .trunc, .minimum, .maximum, .coalesce:
            operands
        case .conditional: Array(operands.dropFirst())
        default: []
        }
    }
}
