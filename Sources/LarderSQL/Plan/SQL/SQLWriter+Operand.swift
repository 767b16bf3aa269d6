import LarderModel
import LarderQuery

extension SQLWriter {
    package mutating func operand(_ operand: PlanOperand) throws(LarderError) -> SQL {
        if let column = groupColumns[operand] {
            return "\(function: GroupFunctions.column(column))"
        }
        switch operand {
        case .column(let column): return column.reference.sql
        case .value(let value): return object(value) ?? SQL([.value(value)])
        case .member(let member): return try self.member(member)
        case .converted(let operand, .attribute(.json)): return try self.operand(operand)
        case .function(let function, let operands, let type, _):
            return try self.function(function, operands, type)
        case .converted(let operand, let type):
            let storage =
                type == .attribute(.decimal) ? dialect.decimalType : dialect.doubleType
            return "CAST(\(try self.operand(operand)) AS \(storage))"
        case .predicate(let predicate):
            switch try self.predicate(predicate, .positive) {
            case .always(let bool): return dialect.truth(bool)
            case .sql(let test): return dialect.value(of: test.inParentheses)
            }
        case .join(let join): return try self.join(join)
        case .collection, .aggregate:
            let result = try self.result(operand)
            return operand.type == .attribute(.json)
                ? "\(function: JSONFunctions.text)(\(result))" : result
        }
    }

    /// An operand as a statement computes it: JSON as its key, which can be compared.
    package mutating func result(_ operand: PlanOperand) throws(LarderError) -> SQL {
        if groupColumns[operand] != nil { return try self.operand(operand) }
        switch operand {
        case .collection(let function, let collection, let element, let type, _):
            return try self.collection(function, collection, element, type)
        case .aggregate(let function, let argument, let type, _):
            return try aggregate(function, argument, type)
        case .value: return try self.operand(operand)
        case .member(let member): return try self.member(member, isCompared: true)
        default:
            let written = try self.operand(operand)
            guard operand.type == .attribute(.json) else { return written }
            try dialect.refuse("a comparison of JSON documents")
            var form = AttributeType.json.rawValue
            if case .converted(let other, _) = operand { form = Self.jsonKind(of: other).rawValue }
            return "\(function: JSONFunctions.key)(\(written), \(literal: form))"
        }
    }

    private static func jsonKind(of operand: PlanOperand) -> JSONKind {
        operand.type?.isString == true
            ? .string : operand.type == .attribute(.bool) ? .bool : .number
    }

    /// An operand of a comparison: folded according to the options, with its collation.
    package mutating func compared(
        _ operand: PlanOperand, _ options: Comparison.Options = []
    ) throws(LarderError) -> SQL {
        if !options.isEmpty {
            try dialect.refuse("a comparison without case or accents")
            if case .value(let value) = operand {
                return SQL([.folded(value, options)])
            }
            if case .column(let column) = operand, column.isIndexed(for: options) {
                return "\(function: IndexFunctions.canonical)(\(column.reference.sql))"
            }
            let folded: SQL = """
                \(function: StringFunctions.fold)(\(try self.operand(operand)), \
                \(options.rawValue))
                """
            return folded.inByteOrder
        }
        return try ordered(operand)
    }

    /// An operand with the order of its type. A computed operand has no collation of its own.
    package mutating func ordered(_ operand: PlanOperand) throws(LarderError) -> SQL {
        let written = try result(operand)
        let isDecimal = operand.type == .attribute(.decimal)
        switch operand {
        case .column, .value: return written
        case _ where dialect.namesByteOrder:
            return operand.type?.isString == true
                ? "\(written.inParentheses) COLLATE \"C\"" : written
        case _ where !isDecimal: return written.inByteOrder
        default: return written.collated(DecimalFunctions.collation)
        }
    }

    /// A value that names an object of one of several entities: its key, or -1, which no object
    /// has, if the object with this key is of another entity. Nil for other values.
    private func object(_ value: TypedValue) -> SQL? {
        if case .cursor = value.source { return nil }
        guard let table = converter.entityTable(of: value.type) else { return nil }
        let other = Self.other(in: table, SQL([.value(value)]), SQL([.entityName(value)]))
        var key: SQL = dialect.choice("EXISTS (\(other))", "-1", SQL([.value(value)]))
        key.depth = 2
        return key
    }

    /// Finds the object with a key if it is not of an entity.
    package static func other(in table: String, _ key: SQL, _ entityName: SQL) -> SQL {
        """
        SELECT 1 FROM \(name: table) AS k WHERE k.\(name: Layout.keyColumn) = \(key) \
        AND k.\(name: Layout.entityColumn) <> \(entityName)
        """
    }

    /// - Parameter isCompared: Whether JSON is written as its key, and not as its text.
    private mutating func member(
        _ member: PlanMember, isCompared: Bool = false
    ) throws(LarderError) -> SQL {
        try dialect.refuse("a member of a JSON document")
        var kind = member.kind
        if case .like(let values) = kind {
            kind = .json
            for candidate in MemberKind.decided where try ask(.isRead(values, candidate)) {
                kind = candidate
                break
            }
        }
        let form: String
        switch kind {
        case .json, .like: form = isCompared ? JSONFunctions.keyForm : AttributeType.json.rawValue
        case .jsonOf(let kind): form = "\(JSONFunctions.keyForm) \(kind.rawValue)"
        case .attribute(let type): form = type.rawValue
        }
        var call: SQL = """
            \(function: JSONFunctions.member)(\(try operand(member.document)), \(literal: form)
            """
        for step in member.path {
            let name = TypedValue(
                source: .constant(.string(step)), type: .attribute(.string), name: member.name)
            call += ", \(.value(name))"
        }
        return "\(call))"
    }

    // MARK: Aggregates

    private mutating func collection(
        _ function: AggregateFunction, _ collection: PlanCollection, _ element: PlanOperand?,
        _ type: OperandType
    ) throws(LarderError) -> SQL {
        let result = try aggregate(function, element, type)
        guard var query = try select(result, collection)?.inParentheses else {
            // No element can satisfy the predicate.
            guard function.isZeroOverNone else { return "NULL" }
            // In its stored form.
            let isDecimal = type == .attribute(.decimal) && dialect == .sqlite
            return isDecimal ? "'0'" : type == .attribute(.double) ? "0.0" : "0"
        }
        query.depth += Self.existsDepth
        return query
    }

    private mutating func join(_ join: PlanJoin) throws(LarderError) -> SQL {
        try dialect.require(
            ScalarFunction.join.postgresForm(.attribute(.string), operandCount: 2), "join")
        var arguments = [try argument(join.text), try argument(join.separator)]
        if let position = join.position { arguments += [position.index.sql, position.key.sql] }
        let list = arguments.joined(separator: ", ").inParentheses
        let result: SQL = "\(function: JoinFunctions.join)\(list)"
        guard var query = try select(result, join.collection)?.inParentheses else { return "NULL" }
        query.depth += Self.existsDepth
        return query
    }

    private mutating func aggregate(
        _ function: AggregateFunction, _ operand: PlanOperand?, _ type: OperandType
    ) throws(LarderError) -> SQL {
        guard let operand else { return "COUNT(*)" }
        try dialect.require(function.postgresForm(operand.type), function.rawValue)
        if dialect == .postgres, let written = try numeric(function, operand) { return written }
        let isDecimal = operand.type == .attribute(.decimal)
        if operand.isDecimalArithmetic, [.sum, .average, .median, .stddev].contains(function) {
            return try decimalCall(Self.functionName(function, isDecimal: true), [operand])
        }
        if function == .count { return "COUNT(\(try self.operand(operand)))" }
        let argument = try result(operand)
        let isInteger = operand.type?.isInteger ?? false
        switch function {
        case .count: return "COUNT(\(argument))"
        case .countDistinct: return "COUNT(DISTINCT \(argument))"
        // SQLite's own sum cannot exceed 64 bits if the numbers are small.
        case .sum where isInteger && operand.magnitudeBits <= 32:
            return "COALESCE(SUM(\(argument)), 0)"
        case .sum where isInteger:
            return "\(function: IntegerFunctions.sum)(\(Self.halves(argument)))"
        case .average where isInteger && operand.magnitudeBits <= 32:
            return "CAST(SUM(\(argument)) AS REAL) / COUNT(\(argument))"
        // AVG adds doubles, which lose small numbers next to large ones.
        case .average where isInteger:
            let halves = Self.halves(argument)
            return "\(function: IntegerFunctions.average)(\(halves), COUNT(\(argument)))"
        case .minimum: return "MIN(\(try ordered(operand)))"
        case .maximum: return "MAX(\(try ordered(operand)))"
        case .sum, .average, .median, .mode, .stddev:
            let name = Self.functionName(function, isDecimal: isDecimal)
            return "\(function: name)(\(argument))"
        }
    }

    private static func functionName(_ function: AggregateFunction, isDecimal: Bool) -> String {
        switch function {
        case .sum: isDecimal ? DecimalFunctions.sum : RealFunctions.sum
        case .average: isDecimal ? DecimalFunctions.average : RealFunctions.average
        case .median: isDecimal ? DecimalFunctions.median : StatisticFunctions.median
        case .mode: isDecimal ? ModeFunctions.decimalMode : ModeFunctions.mode
        case .stddev: isDecimal ? DecimalFunctions.stddev : StatisticFunctions.stddev
        case .count, .countDistinct, .minimum, .maximum:
            preconditionFailure("SQLite has \(function) itself")
        }
    }

    /// The sums of the upper and the lower halves of integers, which stay exact.
    private static func halves(_ argument: SQL) -> SQL {
        "SUM((\(argument)) >> 32), SUM((\(argument)) & 4294967295)"
    }
}

extension MemberKind {
    /// The kinds that a value may select, except JSON of any type.
    static let decided =
        JSONKind.allCases.map { MemberKind.jsonOf($0) }
        + [.attribute(.date), .attribute(.uuid), .attribute(.url), .attribute(.data)]
}
