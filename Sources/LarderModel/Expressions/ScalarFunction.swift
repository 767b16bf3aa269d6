/// What is computed of the values of one object. The raw value is the name in a format string.
///
/// A scalar function never fails on a value: where there is no answer (an operand is nil, a
/// division by zero, a number outside of its type) the answer is nil. `docs/queries.md` has the
/// types and the meaning of each.
public enum ScalarFunction: String, Hashable, Sendable, CaseIterable {
    // Arithmetic; a format string writes these between their operands, `negate` in front.
    case add, subtract, multiply, divide, modulus, power, negate

    case abs, floor, ceiling, round, trunc, sqrt, exp
    /// The natural logarithm.
    case ln
    /// The logarithm to the base 10.
    case log
    /// The smallest or largest of two or more values, nil if one is nil.
    case minimum = "min"
    case maximum = "max"

    case bitwiseAnd, bitwiseOr, bitwiseXor, onesComplement, leftShift, rightShift

    /// How many characters a string has.
    case length
    case uppercase, lowercase
    /// A string without case and diacritics.
    case canonical

    /// When the query began. The same moment wherever it stands in a query.
    case now
    // Parts of a date in UTC.
    case year, month, day, hour, minute, second
    /// The seconds from one date to another.
    case distance

    /// The first of two or more values that is not nil.
    case coalesce
    /// The second operand if the first, a predicate, holds, else the third.
    case conditional = "ternary"

    /// How many operands the function takes.
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

    /// Whether the result is one of the operands, which have one type then. Arithmetic takes
    /// numbers as they are.
    public var givesOperand: Bool {
        switch self {
        case .coalesce, .conditional, .minimum, .maximum: true
        default: false
        }
    }

    /// The operands whose type the result has; none where the function alone gives its type.
    public func operandsOfResult(_ operands: [QueryExpression]) -> [QueryExpression] {
        switch self {
        case .add, .subtract, .multiply, .divide, .modulus, .negate, .abs, .floor, .ceiling,
            .round, .trunc, .minimum, .maximum, .coalesce:
            operands
        case .conditional: Array(operands.dropFirst())
        default: []
        }
    }
}
