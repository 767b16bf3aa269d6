import LarderModel

extension SQLWriter {
    mutating func operand(_ operand: PlanOperand) throws(LarderError) -> SQLFragment {
        if let place = groupPlaces[operand] { return SQLFragment(GroupFunctions.column(place)) }
        switch operand {
        case .column(let column): return SQLFragment(Self.text(column.reference))
        case .value(let value): return object(value) ?? SQLFragment("?", [.value(value)])
        case .member(let member): return try self.member(member)
        case .function(let function, let operands, let type, _):
            return try self.function(function, operands, type)
        case .converted(let operand, let type):
            let storage = type == .attribute(.decimal) ? "TEXT" : "REAL"
            return try "CAST(" + self.operand(operand) + " AS \(storage))"
        case .predicate(let predicate):
            switch try self.predicate(predicate, negated: false) {
            case .always(let bool): return SQLFragment(bool ? "1" : "0")
            case .sql(let fragment): return (fragment.inParentheses + " IS 1").inParentheses
            }
        case .collection(let function, let collection, let element, let type, _):
            return try self.collection(function, collection, element, type)
        case .aggregate(let function, let argument, let type, _):
            return try aggregate(function, argument, type)
        }
    }

    /// An operand as it enters a comparison: folded as the options say, with its collation.
    mutating func compared(
        _ operand: PlanOperand, _ options: Comparison.Options = []
    ) throws(LarderError) -> SQLFragment {
        if !options.isEmpty {
            if case .value(let value) = operand {
                return SQLFragment("?", [.folded(value, options)])
            }
            let folded =
                try "\(StringFunctions.fold)(" + self.operand(operand) + ", \(options.rawValue))"
            return folded.inOrderOfBytes
        }
        return try ordered(operand)
    }

    /// An operand with the order of its type. What is computed has no collation of its own.
    mutating func ordered(_ operand: PlanOperand) throws(LarderError) -> SQLFragment {
        let written = try self.operand(operand)
        let isDecimal = operand.type == .attribute(.decimal)
        switch operand {
        case .column, .value: return written
        case _ where !isDecimal: return written.inOrderOfBytes
        default: return written.collated(DecimalFunctions.collation)
        }
    }

    /// A value that names an object of one of several entities: its key, or one that no object has
    /// if the object with this key is of another entity. Nil for other values.
    private func object(_ value: PlanValue) -> SQLFragment? {
        if case .place = value.source { return nil }
        guard let table = converter.entityTable(of: value.type) else { return nil }
        return SQLFragment(
            "IIF(EXISTS (\(Self.other(in: table, "?", "?"))), -1, ?)",
            [.value(value), .entityName(value), .value(value)], depth: 2)
    }

    /// Finds the object with a key if it is not of an entity.
    static func other(in table: String, _ key: String, _ entityName: String) -> String {
        "SELECT 1 FROM \(SQL.quoted(table)) AS k WHERE k.\(SQL.quoted(Layout.keyColumn)) = \(key) "
            + "AND k.\(SQL.quoted(Layout.entityColumn)) <> \(entityName)"
    }

    private mutating func member(_ member: PlanMember) throws(LarderError) -> SQLFragment {
        var kind = member.kind
        if case .like(let value) = kind {
            kind = .text
            for candidate in PlanMember.Kind.decided where try ask(.isRead(value, candidate)) {
                kind = candidate
                break
            }
        }
        var call = SQLFragment(
            "\(ScalarFunctions.member)(\(Self.text(member.document.reference)), '\(kind.word)'")
        for step in member.path {
            let name = PlanValue(
                source: .constant(.string(step)), type: .attribute(.string), name: member.name)
            call += SQLFragment(", ?", [.value(name)])
        }
        return call + ")"
    }

    // MARK: Aggregates

    private mutating func collection(
        _ function: AggregateFunction, _ collection: PlanCollection, _ element: PlanOperand?,
        _ type: OperandType
    ) throws(LarderError) -> SQLFragment {
        let result = try aggregate(function, element, type)
        guard var query = try select(result, collection)?.inParentheses else {
            // No element satisfies the predicate, whatever is stored.
            guard function.isZeroOverNone else { return SQLFragment("NULL") }
            // As it is stored.
            let isDecimal = type == .attribute(.decimal)
            return SQLFragment(isDecimal ? "'0'" : type == .attribute(.double) ? "0.0" : "0")
        }
        query.depth += Self.existsDepth
        return query
    }

    private mutating func aggregate(
        _ function: AggregateFunction, _ operand: PlanOperand?, _ type: OperandType
    ) throws(LarderError) -> SQLFragment {
        guard let operand else { return SQLFragment("COUNT(*)") }
        let argument = try self.operand(operand)
        let isDecimal = operand.type == .attribute(.decimal)
        let isInteger = operand.type?.isInteger ?? false
        switch function {
        case .count: return "COUNT(" + argument + ")"
        case .countDistinct: return "COUNT(DISTINCT " + argument + ")"
        case .sum where isDecimal: return DecimalFunctions.sum + "(" + argument + ")"
        case .sum where isInteger:
            // SQLite's own sum cannot leave 64 bits where the numbers are small.
            if operand.magnitudeBits <= 32 { return "COALESCE(SUM(" + argument + "), 0)" }
            return IntegerFunctions.sum + "(" + Self.halves(argument) + ")"
        case .sum: return RealFunctions.sum + "(" + argument + ")"
        case .average where isDecimal: return DecimalFunctions.average + "(" + argument + ")"
        case .average where isInteger && operand.magnitudeBits <= 32:
            return "CAST(SUM(" + argument + ") AS REAL) / COUNT(" + argument + ")"
        // AVG adds doubles, which lose what is small beside large integers.
        case .average where isInteger:
            return IntegerFunctions.average + "(" + Self.halves(argument) + ", COUNT(" + argument
                + "))"
        case .average: return RealFunctions.average + "(" + argument + ")"
        case .minimum: return try "MIN(" + ordered(operand) + ")"
        case .maximum: return try "MAX(" + ordered(operand) + ")"
        case .median where isDecimal: return DecimalFunctions.median + "(" + argument + ")"
        case .median: return StatisticFunctions.median + "(" + argument + ")"
        case .mode where isDecimal: return ModeFunctions.decimalMode + "(" + argument + ")"
        case .mode: return ModeFunctions.mode + "(" + argument + ")"
        case .stddev where isDecimal: return DecimalFunctions.stddev + "(" + argument + ")"
        case .stddev: return StatisticFunctions.stddev + "(" + argument + ")"
        }
    }

    /// Summed by halves, integers stay exact.
    private static func halves(_ argument: SQLFragment) -> SQLFragment {
        "SUM((" + argument + ") >> 32), SUM((" + argument + ") & 4294967295)"
    }
}

extension PlanMember.Kind {
    /// The kinds that a value may decide for, but text.
    static let decided: [PlanMember.Kind] = [
        .number, .attribute(.string), .attribute(.bool), .attribute(.decimal), .attribute(.date),
        .attribute(.uuid), .attribute(.url), .attribute(.data),
    ]
}
