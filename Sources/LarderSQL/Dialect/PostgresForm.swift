import LarderModel
import LarderQuery

/// How a store in PostgreSQL computes a function.
package enum PostgresForm: Hashable, Sendable {
    /// By PostgreSQL's own operators and functions, which mean the same in the form in which they
    /// are written.
    case native
    /// By a function that the store creates in its schema: see ``PostgresFunction``.
    case installed
    /// Not yet.
    case refused
}

// Each switch is exhaustive, so that a new function needs an answer.

extension ScalarFunction {
    /// - Parameters:
    ///   - type: That of the result.
    ///   - operandCount: Some functions have optional operands.
    func postgresForm(_ type: OperandType, operandCount: Int) -> PostgresForm {
        let isDecimal = type == .attribute(.decimal)
        return switch self {
        case .add, .subtract, .multiply, .divide, .negate: isDecimal ? .refused : .installed
        case .abs, .floor, .ceiling, .trunc: isDecimal ? .refused : .installed
        case .modulus: type.isInteger ? .native : .refused
        case .round: type.isInteger && operandCount == 1 ? .native : .refused
        case .minimum, .maximum, .coalesce, .conditional, .now: .native
        case .bitwiseAnd, .bitwiseOr, .onesComplement: .native
        // The other functions on dates need calendars.
        case .distance: operandCount == 2 ? .native : .refused
        // PostgreSQL takes the count modulo 64.
        case .leftShift, .rightShift: .refused
        case .power, .sqrt, .exp, .ln, .log, .bitwiseXor: .refused
        // A character is Swift's, and so is its case.
        case .length, .uppercase, .lowercase, .canonical, .concat, .substring, .trim, .trimStart,
            .trimEnd, .replace, .split, .padStart, .padEnd, .format, .initials:
            .refused
        case .year, .month, .day, .hour, .minute, .second, .weekday, .startOf: .refused
        case .search, .score, .highlight, .snippet: .refused
        case .join: .refused
        }
    }
}

extension AggregateFunction {
    /// - Parameter type: That of the argument; nil for rows.
    func postgresForm(_ type: OperandType?) -> PostgresForm {
        switch self {
        case .count, .countDistinct: .native
        case .minimum, .maximum: type.hasExtremes ? .native : .refused
        case .sum: type?.isInteger == true ? .native : type.isReal ? .installed : .refused
        case .average: type?.isInteger == true ? .native : type.isReal ? .installed : .refused
        case .median, .mode, .stddev: .refused
        }
    }
}

extension Comparison.Operator {
    var postgresForm: PostgresForm {
        switch self {
        case .equal, .notEqual, .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual,
            .in, .between:
            .native
        // Characters are Swift's: "é" does not begin with "e".
        case .beginsWith, .endsWith, .contains, .like, .matches: .refused
        }
    }
}

extension StringOrder {
    var postgresForm: PostgresForm {
        switch self {
        case .plain: .native
        case .caseInsensitive, .localizedStandard: .refused
        }
    }
}

extension OperandType? {
    /// Whether PostgreSQL has a smallest value of them. It has an order of UUIDs and bytes, too,
    /// but no such aggregates.
    fileprivate var hasExtremes: Bool {
        switch self {
        case .attribute(.bool), .attribute(.uuid), .attribute(.data), .attribute(.json): false
        default: true
        }
    }

    fileprivate var isReal: Bool {
        self == .attribute(.double) || self == .attribute(.float)
    }
}
