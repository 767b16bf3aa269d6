import LarderModel
import LarderQuery

// SQLite's own operators are used where they mean the same: on doubles, and on integers, of which
// the final result is checked. SQLite continues with doubles where an integer exceeds 64 bits, and
// no operator converts a double to an integer again.

extension SQLWriter {
    package mutating func function(
        _ function: ScalarFunction, _ operands: [PlanOperand], _ type: OperandType
    ) throws(LarderError) -> SQL {
        let whole = PlanOperand.function(function, operands, type, name: "")
        try dialect.require(
            function.postgresForm(type, operandCount: operands.count), function.name)
        if whole.isIntegerArithmetic, dialect == .postgres {
            return try postgresIntegers(
                function, operands, isSafe: whole.magnitudeBits < 63)
        }
        if whole.isIntegerArithmetic {
            let arithmetic = try integers(function, operands)
            return whole.staysWithin64Bits
                ? arithmetic : "\(function: ScalarFunctions.integer)(\(arithmetic))"
        }
        switch function.definition.form {
        case .time: return SQL([.now])
        case .coalesce: return try list("COALESCE", operands)
        case .minimum where dialect == .postgres:
            return try postgresExtreme("LEAST", operands, type)
        case .maximum where dialect == .postgres:
            return try postgresExtreme("GREATEST", operands, type)
        case .minimum: return try list("MIN", operands)
        case .maximum: return try list("MAX", operands)
        case .conditional: return try conditional(operands, type)
        case .arithmetic: return try number(function, operands, type)
        case .bitwise: return try bits(function, operands)
        case .call(.date) where function == .distance && operands.count == 2:
            return try infix(operands[1], " - ", operands[0])
        case .call(let domain): return try call(function, domain, operands)
        case .callOfNumber: return try call(function, Self.domain(of: operands[0]), operands)
        case .search: return try searchCall(function, operands)
        case .join: preconditionFailure("a call of join is an operand of its own")
        }
    }

    private mutating func bits(
        _ function: ScalarFunction, _ operands: [PlanOperand]
    ) throws(LarderError) -> SQL {
        let symbol: SQL? =
            switch function {
            case .bitwiseAnd: " & "
            case .bitwiseOr: " | "
            case .leftShift: " << "
            case .rightShift: " >> "
            default: nil
            }
        guard let symbol else { return "~\(try part(operands[0]))" }
        return try infix(operands[0], symbol, operands[1])
    }

    /// The domain of a number.
    private static func domain(of number: PlanOperand) -> ScalarFunctions.Domain {
        guard case .attribute(let type) = number.type, let domain = ScalarFunctions.Domain(type)
        else { preconditionFailure("numbers have types") }
        return domain
    }

    private mutating func number(
        _ function: ScalarFunction, _ operands: [PlanOperand], _ type: OperandType
    ) throws(LarderError) -> SQL {
        guard case .attribute(let kind) = type else { preconditionFailure("numbers have types") }
        switch (function, kind) {
        case (.round, .decimal) where operands.count == 2:
            return try call(function, .decimal, operands)
        case (_, .decimal):
            let number = PlanOperand.function(function, operands, type, name: "")
            return try decimalCall(DecimalArithmetic.value, [number])
        case (.round, .int64) where operands.count == 2:
            return try call(function, .int64, operands)
        case (.add, .date), (.subtract, .date):
            let moved = try infix(
                operands[0], function == .add ? " + " : " - ", operands[1])
            return operands[1].isUsualDistance
                ? moved : "\(function: ScalarFunctions.finite)(\(moved))"
        case (.floor, .int64), (.ceiling, .int64), (.round, .int64), (.trunc, .int64):
            return try operand(operands[0])
        case (.modulus, .int64): return try infix(operands[0], " % ", operands[1], isDivision: true)
        case (.abs, .int64) where operands[0].magnitudeBits < 63:
            return "ABS(\(try operand(operands[0])))"
        case (.abs, .int64) where dialect == .postgres:
            let number = try operand(operands[0])
            return "\(function: PostgresFunction.integer.name)(ABS(CAST(\(number) AS numeric)))"
        case (.abs, .int64): return try call(function, .int64, operands)
        case (.abs, _): return "ABS(\(try operand(operands[0])))"
        case (.add, _): return try infix(operands[0], " + ", operands[1])
        case (.subtract, _): return try infix(operands[0], " - ", operands[1])
        case (.multiply, _): return try infix(operands[0], " * ", operands[1])
        case (.divide, _): return try infix(operands[0], " / ", operands[1], isDivision: true)
        case (.negate, _): return "-\(try part(operands[0]))"
        case (.floor, .double) where dialect == .postgres:
            return "FLOOR(\(try argument(operands[0])))"
        case (.ceiling, .double) where dialect == .postgres:
            return "CEIL(\(try argument(operands[0])))"
        case (.trunc, .double) where dialect == .postgres:
            return "TRUNC(\(try argument(operands[0])))"
        default: return try call(function, .double, operands)
        }
    }

    // MARK: Forms

    /// Integer arithmetic as SQLite computes it, without the check that the result is an integer.
    private mutating func integers(
        _ function: ScalarFunction, _ operands: [PlanOperand]
    ) throws(LarderError) -> SQL {
        var parts: [SQL] = []
        for operand in operands {
            if case .function(let inner, let innerOperands, _, _) = operand,
                operand.isIntegerArithmetic
            {
                parts.append(try integers(inner, innerOperands).inParentheses)
            } else {
                parts.append(try part(operand))
            }
        }
        let symbol: SQL =
            switch function {
            case .add: " + "
            case .subtract: " - "
            case .multiply: " * "
            case .divide: " / "
            default: ""
            }
        return parts.count == 1 ? "-\(parts[0])" : "\(parts[0])\(symbol)\(parts[1])"
    }

    private mutating func infix(
        _ left: PlanOperand, _ symbol: SQL, _ right: PlanOperand, isDivision: Bool = false
    ) throws(LarderError) -> SQL {
        let (left, right) = (try part(left), try part(right))
        // SQLite's quotient is NULL if the divisor is 0; PostgreSQL's is an error.
        let divisor: SQL =
            isDivision && dialect == .postgres ? "NULLIF(\(right), 0)" : right
        return "\(left)\(symbol)\(divisor)"
    }

    /// An operand of an infix or prefix operator.
    private mutating func part(_ operand: PlanOperand) throws(LarderError) -> SQL {
        switch operand {
        case .value(let value): return SQL([.operand(value)])
        case .function where operand.isCall: return try self.operand(operand)
        case .function: return try self.operand(operand).inParentheses
        default: return try self.operand(operand)
        }
    }

    /// An operand in an argument list.
    package mutating func argument(_ operand: PlanOperand) throws(LarderError) -> SQL {
        if case .value(let value) = operand { return SQL([.operand(value)]) }
        return try self.operand(operand)
    }

    private mutating func call(
        _ function: ScalarFunction, _ domain: ScalarFunctions.Domain, _ operands: [PlanOperand]
    ) throws(LarderError) -> SQL {
        try call(ScalarFunctions.name(of: function, domain), operands)
    }

    package mutating func call(
        _ name: String, _ operands: [PlanOperand]
    ) throws(LarderError) -> SQL {
        var arguments: [SQL] = []
        for operand in operands { arguments.append(try argument(operand)) }
        let list = arguments.joined(separator: ", ").inParentheses
        var call: SQL = "\(function: name)\(list)"
        call.depth += 2
        return call
    }

    private mutating func list(
        _ name: String, _ operands: [PlanOperand]
    ) throws(LarderError) -> SQL {
        var arguments: [SQL] = []
        for operand in operands {
            var argument = try self.argument(operand)
            if name != "COALESCE", operand.type == .attribute(.decimal) {
                argument = argument.collated(DecimalFunctions.collation)
            }
            arguments.append(argument)
        }
        return "\(function: name)\(arguments.joined(separator: ", ").inParentheses)"
    }

    private mutating func conditional(
        _ operands: [PlanOperand], _ type: OperandType
    ) throws(LarderError) -> SQL {
        let test: WrittenPredicate =
            switch operands[0] {
            case .predicate(let predicate): try self.predicate(predicate, .positive)
            default: .sql(try operand(operands[0]))
            }
        switch test {
        case .always(let bool): return try argument(operands[bool ? 1 : 2])
        case .sql(let fragment):
            let chosen: SQL = """
                CASE WHEN \(fragment) THEN \(try argument(operands[1])) \
                ELSE \(try argument(operands[2])) END
                """
            // The collation of the test does not apply to the result.
            return type == .attribute(.decimal) ? chosen : chosen.inByteOrder
        }
    }
}

extension PlanOperand {
    /// Whether SQLite computes it with integers as long as they fit into 64 bits.
    var isIntegerArithmetic: Bool {
        guard case .function(let function, _, .attribute(.int64), _) = self else { return false }
        switch function {
        case .add, .subtract, .multiply, .divide, .negate: return true
        default: return false
        }
    }

    /// Whether it needs no parentheses as an operand of an operator.
    fileprivate var isCall: Bool {
        guard case .function(let function, _, let type, _) = self else { return false }
        if isIntegerArithmetic { return !staysWithin64Bits }
        switch function.definition.form {
        // Between two dates it is a subtraction.
        case .call: return function != .distance
        case .time, .coalesce, .minimum, .maximum, .callOfNumber, .search, .join: return true
        case .arithmetic: return function == .abs || type == .attribute(.decimal)
        case .bitwise, .conditional: return type == .attribute(.decimal)
        }
    }

    /// Whether no step of its arithmetic can exceed 64 bits.
    fileprivate var staysWithin64Bits: Bool {
        guard case .function(_, let operands, _, _) = self, isIntegerArithmetic else { return true }
        return magnitudeBits < 63 && operands.allSatisfy(\.staysWithin64Bits)
    }

    /// The smallest known n for which the integer is between -2^n and 2^n.
    var magnitudeBits: Int {
        switch self {
        case .column(let column):
            switch column.type {
            case .attribute(.int16): return 15
            case .attribute(.int32): return 31
            default: return 63
            }
        case .value(let value):
            guard case .constant(.int(let integer)) = value.source else { return 63 }
            return 64 - integer.magnitude.leadingZeroBitCount
        case .function(let function, let operands, _, _):
            let bits = operands.map(\.magnitudeBits)
            switch function {
            case .add, .subtract: return (bits.max() ?? 63) + 1
            case .multiply: return bits.reduce(0, +)
            case .divide, .modulus: return bits.first ?? 63
            // A carry to a place before the point adds a digit.
            case .round where operands.count == 2: return 63
            case .negate, .abs, .floor, .ceiling, .round, .trunc: return bits.first ?? 63
            case .length, .month, .day, .hour, .minute, .second, .weekday: return 32
            case .coalesce, .minimum, .maximum: return bits.max() ?? 63
            case .conditional: return bits.dropFirst().max() ?? 63
            default: return 63
            }
        case .collection(let function, _, _, _, _), .aggregate(let function, _, _, _):
            return function == .count || function == .countDistinct ? 48 : 63
        case .predicate: return 1
        case .member, .converted, .join: return 63
        }
    }

    /// Whether the seconds are so few that adding them cannot make a stored date infinite.
    fileprivate var isUsualDistance: Bool {
        guard case .value(let value) = self else { return type?.isInteger ?? false }
        return switch value.source {
        case .constant(.int): true
        case .constant(.double(let seconds)): seconds.magnitude < 1e200
        default: false
        }
    }
}
