import LarderModel
import LarderQuery

// Arithmetic in PostgreSQL, which fails where SQLite has NULL: if an integer exceeds its type, and
// if a number is divided by 0. Integers that may exceed 64 bits are computed as `numeric`.

extension SQLWriter {
    /// An aggregate of numbers; nil for one that is written as in SQLite.
    mutating func numeric(
        _ function: AggregateFunction, _ operand: PlanOperand
    ) throws(LarderError) -> SQL? {
        let argument = try result(operand)
        let isInteger = operand.type?.isInteger ?? false
        let isDecimal = operand.type == .attribute(.decimal)
        switch function {
        // A sum that is too large is an error, as in SQLite.
        case .sum where isInteger:
            return "CAST(COALESCE(SUM(CAST(\(argument) AS numeric)), 0) AS bigint)"
        case .sum where isDecimal: return "COALESCE(SUM(\(argument)), 0)"
        case .sum: return Self.real("COALESCE(\(Self.exactSum(argument)), 0)")
        case .average where isInteger:
            return """
                CAST(SUM(CAST(\(argument) AS numeric)) AS double precision) / COUNT(\(argument))
                """
        case .average where !isDecimal:
            return "\(Self.real(Self.exactSum(argument))) / COUNT(\(argument))"
        default: return nil
        }
    }

    private static func exactSum(_ argument: SQL) -> SQL {
        "SUM(\(function: PostgresFunction.exact.name)(\(argument)))"
    }

    /// A sum of doubles, rounded once; NULL for both infinities, whose sum is NaN.
    private static func real(_ sum: SQL) -> SQL {
        "CAST(NULLIF(\(sum), 'NaN') AS double precision)"
    }

    /// Arithmetic of integers. A result that is no 64-bit integer is NULL.
    mutating func postgresIntegers(
        _ function: ScalarFunction, _ operands: [PlanOperand], isSafe: Bool
    ) throws(LarderError) -> SQL {
        var parts: [SQL] = []
        for operand in operands {
            let part = try self.argument(operand)
            parts.append("CAST(\(part) AS \(isSafe ? "bigint" : "numeric" as SQL))")
        }
        let result: SQL =
            switch function {
            case .add: "\(parts[0]) + \(parts[1])"
            case .subtract: "\(parts[0]) - \(parts[1])"
            case .multiply: "\(parts[0]) * \(parts[1])"
            case .divide where isSafe: "\(parts[0]) / NULLIF(\(parts[1]), 0)"
            case .divide: "DIV(\(parts[0]), NULLIF(\(parts[1]), 0))"
            default: "-\(parts[0])"
            }
        return isSafe
            ? result.inParentheses : "\(function: PostgresFunction.integer.name)(\(result))"
    }

    /// The smallest or the largest of some values; NULL if one of them is.
    mutating func postgresExtreme(
        _ name: String, _ operands: [PlanOperand], _ type: OperandType
    ) throws(LarderError) -> SQL {
        var arguments: [SQL] = []
        var nullable: [SQL] = []
        for operand in operands {
            var argument = try self.argument(operand)
            if type.isString { argument = "\(argument.inParentheses) COLLATE \"C\"" }
            arguments.append(argument)
            if operand.isNullable { nullable.append("\(argument) IS NULL") }
        }
        let extreme: SQL = "\(function: name)(\(arguments))"
        guard !nullable.isEmpty else { return extreme }
        return "CASE WHEN \(nullable, separator: " OR ") THEN NULL ELSE \(extreme) END"
    }
}
