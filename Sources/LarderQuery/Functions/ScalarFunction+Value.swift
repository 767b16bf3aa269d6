import FoundationEssentials
import LarderModel

// The meaning of scalar functions. The SQL functions and the in-memory evaluator share this file.
// An undefined result is nil; only a text that is too long is an error.

extension ScalarFunction {
    /// Returns the value of the function for operands of the types in its signature.
    ///
    /// Number types may be mixed: a float is used as a double, an integer with a double or a
    /// decimal is converted to that type. Operands of other types return nil.
    ///
    /// - Parameters:
    ///   - now: The start time of the query.
    ///   - interruption: After it, the value is meaningless.
    /// - Throws: `resourceExhausted` for a text of more than ``Limits/functionTextBytesMax`` bytes.
    package func value(
        of operands: [Value], now: Date, _ interruption: Interruption = .never
    ) throws(LarderError) -> Value {
        if self == .now { return .date(now) }
        return try definition.value(of: operands, interruption)
    }

    /// Returns the value of a function of one or two numbers, or of dates.
    func arithmetic(_ operands: [Value], _ interruption: Interruption) -> Value {
        operands.count == 1 ? value(operands[0]) : value(operands[0], operands[1])
    }

    private func value(_ operand: Value) -> Value {
        switch operand {
        case .int(let integer): value(integer)
        case .float(let float): value(Double(float))
        case .double(let double): value(double)
        case .decimal(let decimal): ExactDecimal(decimal).map(value) ?? .null
        default: .null
        }
    }

    private func value(_ left: Value, _ right: Value) -> Value {
        switch (left, right) {
        case (.int(let left), .int(let right)): return integers(left, right)
        case (.date(let left), .date(let right)):
            guard self == .subtract else { return .null }
            return .checked(
                left.timeIntervalSinceReferenceDate - right.timeIntervalSinceReferenceDate)
        case (.date(let date), _):
            guard let seconds = right.double else { return .null }
            switch self {
            case .add: return .checked(date, plus: seconds)
            case .subtract: return .checked(date, plus: -seconds)
            default: return .null
            }
        case (.decimal, _), (_, .decimal):
            if self == .power { return doubles(left.double, right.double) }
            guard let left = left.exactDecimal, let right = right.exactDecimal else { return .null }
            return .checked(value(of: left, right))
        default: return doubles(left.double, right.double)
        }
    }
}

// MARK: Integers

extension ScalarFunction {
    private func value(_ integer: Int64) -> Value {
        switch self {
        case .negate: return .checked(Int64(0).subtractingReportingOverflow(integer))
        case .abs: return Int64(exactly: integer.magnitude).map { .int($0) } ?? .null
        case .floor, .ceiling, .round, .trunc: return .int(integer)
        case .onesComplement: return .int(~integer)
        default: return value(Double(integer))
        }
    }

    private func integers(_ left: Int64, _ right: Int64) -> Value {
        switch self {
        case .add: .checked(left.addingReportingOverflow(right))
        case .subtract: .checked(left.subtractingReportingOverflow(right))
        case .multiply: .checked(left.multipliedReportingOverflow(by: right))
        case .divide: .checked(left.dividedReportingOverflow(by: right))
        // The remainder of a division by -1 is 0; computing it for the smallest integer would
        // overflow.
        case .modulus: right == 0 ? .null : .int(right == -1 ? 0 : left % right)
        case .bitwiseAnd: .int(left & right)
        case .bitwiseOr: .int(left | right)
        case .bitwiseXor: .int(left ^ right)
        case .leftShift: .int(left << right)
        case .rightShift: .int(left >> right)
        default: doubles(Double(left), Double(right))
        }
    }
}

// MARK: Doubles

extension ScalarFunction {
    private func value(_ double: Double) -> Value {
        switch self {
        case .negate: .checked(-double)
        case .abs: .checked(double.magnitude)
        case .floor: .checked(double.rounded(.down))
        case .ceiling: .checked(double.rounded(.up))
        case .round: .checked(double.rounded(.toNearestOrAwayFromZero))
        case .trunc: .checked(double.rounded(.towardZero))
        case .sqrt: .checked(double.squareRoot())
        case .exp: .checked(RealFunctions.exponential(double))
        case .ln: double > 0 ? .checked(RealFunctions.naturalLogarithm(double)) : .null
        case .log: double > 0 ? .checked(RealFunctions.decimalLogarithm(double)) : .null
        default: .null
        }
    }

    private func doubles(_ left: Double?, _ right: Double?) -> Value {
        guard let left, let right else { return .null }
        switch self {
        case .add: return .checked(left + right)
        case .subtract: return .checked(left - right)
        case .multiply: return .checked(left * right)
        case .divide: return right == 0 ? .null : .checked(left / right)
        case .modulus:
            return right == 0 ? .null : .checked(left.truncatingRemainder(dividingBy: right))
        // Zero to a negative power is a division by zero.
        case .power:
            return left == 0 && right < 0
                ? .null : .checked(RealFunctions.power(left, right))
        default: return .null
        }
    }
}

// MARK: Decimals

extension ScalarFunction {
    private func value(_ decimal: ExactDecimal) -> Value {
        switch self {
        case .sqrt, .exp, .ln, .log: value(decimal.double)
        default: .checked(value(of: decimal))
        }
    }

    /// Returns the value of a function of one decimal that returns a decimal; nil for other
    /// functions, and if it has more digits than a decimal.
    package func value(of decimal: ExactDecimal) -> ExactDecimal? {
        switch self {
        case .negate: -decimal
        case .abs: decimal.absolute
        case .floor: decimal.rounded(.down)
        case .ceiling: decimal.rounded(.up)
        case .round: decimal.rounded(.toNearestOrAwayFromZero)
        case .trunc: decimal.rounded(.towardZero)
        default: nil
        }
    }

    /// The value of a function of two decimals; nil also for a division by zero.
    package func value(of left: ExactDecimal, _ right: ExactDecimal) -> ExactDecimal? {
        switch self {
        case .add: left.adding(right)
        case .subtract: left.adding(-right)
        case .multiply: left.multiplied(by: right)
        case .divide: left.divided(by: right)
        case .modulus: left.remainder(dividingBy: right)
        default: nil
        }
    }

    /// The value for a short decimal; nil also if the result is not short.
    package func value(of decimal: ShortDecimal) -> ShortDecimal? {
        switch self {
        case .negate: decimal.negated
        case .abs: decimal.absolute
        default: nil
        }
    }

    package func value(of left: ShortDecimal, _ right: ShortDecimal) -> ShortDecimal? {
        switch self {
        case .add: left.adding(right)
        case .subtract: left.subtracting(right)
        case .multiply: left.multiplied(by: right)
        default: nil
        }
    }
}

// MARK: Extremes

extension ScalarFunction {
    /// The first of the smallest or largest operands, converted to their common type.
    func extreme(_ operands: [Value]) -> Value {
        let isDecimal = operands.contains { if case .decimal = $0 { true } else { false } }
        let areIntegers = operands.allSatisfy { if case .int = $0 { true } else { false } }
        var best: Value?
        for operand in operands {
            let candidate: Value? =
                switch operand {
                case .int where areIntegers: operand
                case .int, .float, .double, .decimal:
                    isDecimal
                        ? operand.exactDecimal?.decimal.map { .decimal($0) }
                        : operand.double.map { .checked($0) }
                case .string, .date: operand
                default: nil
                }
            guard let candidate, !candidate.isNull else { return .null }
            guard let known = best else {
                best = candidate
                continue
            }
            let isLess = candidate.isLess(than: known)
            guard let isLess, let isMore = known.isLess(than: candidate) else { return .null }
            if self == .minimum ? isLess : isMore { best = candidate }
        }
        return best ?? .null
    }
}

extension Value {
    /// The nearest double of a number; nil for other values.
    fileprivate var double: Double? {
        switch self {
        case .int(let integer): Double(integer)
        case .float(let float): Double(float)
        case .double(let double): double
        case .decimal(let decimal): ExactDecimal(decimal)?.double
        default: nil
        }
    }

    /// The exact value of an integer or a decimal; nil for other values.
    fileprivate var exactDecimal: ExactDecimal? {
        switch self {
        case .int(let integer): ExactDecimal(integer)
        case .decimal(let decimal): ExactDecimal(decimal)
        default: nil
        }
    }

    /// Compares two values of the same type; nil for types that `min` and `max` do not accept.
    fileprivate func isLess(than other: Value) -> Bool? {
        switch (self, other) {
        case (.int(let left), .int(let right)): left < right
        case (.double(let left), .double(let right)): left < right
        case (.decimal(let left), .decimal(let right)): left < right
        case (.string(let left), .string(let right)):
            left.normalized.unicodeScalars.lexicographicallyPrecedes(
                right.normalized.unicodeScalars)
        case (.date(let left), .date(let right)): left < right
        default: nil
        }
    }

    fileprivate static func checked(_ result: (partialValue: Int64, overflow: Bool)) -> Value {
        result.overflow ? .null : .int(result.partialValue)
    }

    static func checked(_ double: Double) -> Value {
        double.isNaN ? .null : .double(double)
    }

    fileprivate static func checked(_ decimal: ExactDecimal?) -> Value {
        decimal?.decimal.map { .decimal($0) } ?? .null
    }

    fileprivate static func checked(_ date: Date, plus seconds: Double) -> Value {
        let moved = date.timeIntervalSinceReferenceDate + seconds
        return moved.isFinite ? .date(Date(timeIntervalSinceReferenceDate: moved)) : .null
    }
}
