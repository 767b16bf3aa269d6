import LarderModel
import LarderQuery

extension SQLWriter {
    package mutating func comparison(
        _ left: PlanOperand, _ name: Comparison.Operator, _ right: PlanOperand,
        _ options: Comparison.Options, _ polarity: Polarity
    ) throws(LarderError) -> WrittenPredicate {
        if let written = try count(left, name, right, polarity) { return written }
        prefersKeyList = false
        switch name {
        case .equal: return try equality(left, right, options, polarity)
        case .notEqual: return try equality(left, right, options, polarity.opposite)
        case .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual:
            return try order(left, name, right, options, polarity)
        case .beginsWith, .endsWith, .contains, .like, .matches:
            return try string(left, name, right, options, polarity)
        case .in, .between:
            preconditionFailure("the resolver has predicates of their own for these")
        }
    }

    // MARK: Equality and order

    private mutating func equality(
        _ left: PlanOperand, _ right: PlanOperand, _ options: Comparison.Options,
        _ polarity: Polarity
    ) throws(LarderError) -> WrittenPredicate {
        if case (.value(let one), .value(let other)) = (left, right) {
            let comparison = ValueComparison(left: one, operator: .equal, right: other)
            return polarity.always(try ask(.holds(comparison)))
        }
        let isNull: SQL = polarity == .negated ? " IS NOT NULL" : " IS NULL"
        if try isNil(right) { return .sql(try operand(left) + isNull) }
        if try isNil(left) { return .sql(try operand(right) + isNull) }
        let mayBothBeNil = Self.isNullableColumn(left) && Self.isNullableColumn(right)
        let symbol: SQL =
            polarity == .negated ? dialect.isDifferent : mayBothBeNil ? dialect.isSame : " = "
        if !mayBothBeNil, let order = try decimalOrder(left, right) {
            return .sql("\(order)\(symbol)0")
        }
        let (one, other) = (try compared(left, options), try compared(right, options))
        if polarity == .positive, let found = try canonicalEquality(left, right, options) {
            // The plus keeps SQLite from putting the value for the column into the other term,
            // which the index would then not have.
            var both: SQL =
                Self.isValue(left)
                ? "\(found) AND \(one)\(symbol)+\(other)" : "\(found) AND +\(one)\(symbol)\(other)"
            both.junction = .and
            return .sql(both)
        }
        return .sql("\(one)\(symbol)\(other)")
    }

    /// The equality without case and accents, if an index finds only that: texts that are equal
    /// with fewer options are equal with these.
    private mutating func canonicalEquality(
        _ left: PlanOperand, _ right: PlanOperand, _ options: Comparison.Options
    ) throws(LarderError) -> SQL? {
        switch (left, right) {
        case (.column(let column), .value(let value)), (.value(let value), .column(let column)):
            guard !column.isIndexed(for: options), column.isIndexed(for: .insensitive) else {
                return nil
            }
            // The exception of `[c]`; see SearchForm.
            if options == .caseInsensitive, try ask(.hasFoldedMark(value)) { return nil }
            return "\(try compared(left, .insensitive)) = \(try compared(right, .insensitive))"
        default: return nil
        }
    }

    private static func isValue(_ operand: PlanOperand) -> Bool {
        if case .value = operand { true } else { false }
    }

    private static func isComputedText(_ operand: PlanOperand) -> Bool {
        switch operand {
        case .column, .value: false
        default: operand.type?.isString == true
        }
    }

    private static func isNullableColumn(_ operand: PlanOperand) -> Bool {
        !isValue(operand) && operand.isNullable
    }

    private mutating func order(
        _ left: PlanOperand, _ name: Comparison.Operator, _ right: PlanOperand,
        _ options: Comparison.Options, _ polarity: Polarity
    ) throws(LarderError) -> WrittenPredicate {
        if try isAnyNil([left, right]) { return polarity.always(false) }
        let isUnknownPossible = Self.isNullableColumn(left) || Self.isNullableColumn(right)
        let symbol = (polarity == .negated && !isUnknownPossible ? name.opposite : name).sql
        let test: SQL =
            if let order = try decimalOrder(left, right) {
                "\(order) \(symbol) 0"
            } else {
                "\(try compared(left, options)) \(symbol) \(try compared(right, options))"
            }
        return .sql(isUnknownPossible ? finished(test, polarity) : test)
    }

    package mutating func between(
        _ value: PlanOperand, _ lower: PlanOperand, _ upper: PlanOperand,
        _ options: Comparison.Options, _ polarity: Polarity
    ) throws(LarderError) -> WrittenPredicate {
        if try isAnyNil([value, lower, upper]) { return polarity.always(false) }
        var least = try compared(lower, options)
        // PostgreSQL's grammar has no COLLATE before AND.
        if dialect.namesByteOrder, Self.isComputedText(lower) { least = least.inParentheses }
        let test: SQL = """
            \(try compared(value, options)) BETWEEN \(least) AND \(try compared(upper, options))
            """
        return .sql(finished(test, polarity))
    }

    /// Equal to one of a list, as Swift's `contains`: nil is an element like others.
    mutating func oneOf(
        _ left: PlanOperand, _ list: [PlanOperand], _ options: Comparison.Options,
        _ polarity: Polarity
    ) throws(LarderError) -> WrittenPredicate {
        var values: [PlanOperand] = []
        var others: [PlanOperand] = []
        for element in list {
            let isNil = try isNil(element)
            if Self.isValue(element), !isNil, !Self.isValue(left) {
                values.append(element)
            } else {
                others.append(element)
            }
        }
        var parts: [SQL] = []
        if !values.isEmpty {
            var elements: [SQL] = []
            for value in values { elements.append(try compared(value, options)) }
            let list = elements.joined(separator: ", ").inParentheses
            parts.append(finished("\(try compared(left, options)) IN \(list)", polarity))
        }
        for other in others {
            switch try equality(left, other, options, polarity) {
            case .always(let bool): if bool != (polarity == .negated) { return .always(bool) }
            case .sql(let fragment): parts.append(fragment)
            }
        }
        return Self.connected(parts, isAnd: polarity == .negated)
    }

    /// The form for a list that is one argument. The number of its parameters is a power of two, so
    /// that few texts serve lists of all sizes. The elements of a long list are rows of a table.
    mutating func oneOfList(
        _ left: PlanOperand, _ list: TypedValue, _ options: Comparison.Options, _ polarity: Polarity
    ) throws(LarderError) -> WrittenPredicate {
        var parts: [SQL] = []
        let table = converter.entityTable(of: list.type)
        if let table {
            let (pairs, element, entityName) = dialect.objectPairs(SQL([.objects(list)]))
            let other = Self.other(in: table, element, entityName)
            var test: SQL = """
                \(try operand(left)) IN (SELECT \(element) FROM \(pairs) AS e \
                WHERE NOT EXISTS (\(other)))
                """
            test.depth = max(test.depth, 2 * Self.existsDepth)
            parts.append(finished(test, polarity))
        }
        if table == nil, let elements = try elements(of: list, options) {
            parts.append(finished("\(try compared(left, options)) IN (\(elements))", polarity))
        }
        if try ask(.hasNil(list)) {
            let isNull: SQL = polarity == .negated ? " IS NOT NULL" : " IS NULL"
            parts.append(try operand(left) + isNull)
        }
        return Self.connected(parts, isAnd: polarity == .negated)
    }

    /// The elements of a list except nil, after IN; nil if there are none.
    private mutating func elements(
        of list: TypedValue, _ options: Comparison.Options
    ) throws(LarderError) -> SQL? {
        let elements = try converter.elements(list, parameters)
        let count = Self.parameterCount(for: elements.values.count)
        _ = try ask(.hasElements(list, count: count))
        guard let count else {
            try dialect.refuse("a list of more than \(Self.elementParametersMax) elements")
            let rows = SQLParameter.elementRows(list, options)
            var select: SQL =
                "SELECT \(name: ListTable.column) FROM \(name: ListTable.table)(\(rows))"
            select.depth = Self.existsDepth
            return select
        }
        return count == 0 ? nil : SQL(elements: .elements(list, options, count: count))
    }

    /// The next power of two. The parameters after the elements repeat one of them.
    ///
    /// - Returns: nil if there are too many elements for a text with all of them.
    package static func parameterCount(for elementCount: Int) -> Int? {
        guard elementCount <= elementParametersMax else { return nil }
        var count = elementCount > 0 ? 1 : 0
        while count < elementCount { count *= 2 }
        return count
    }

    private static let elementParametersMax = 1 << 12

    // MARK: Strings

    private mutating func string(
        _ left: PlanOperand, _ name: Comparison.Operator, _ right: PlanOperand,
        _ options: Comparison.Options, _ polarity: Polarity
    ) throws(LarderError) -> WrittenPredicate {
        if try isAnyNil([left, right]) { return polarity.always(false) }
        try dialect.require(name.postgresForm, name.rawValue)
        guard let function = StringFunctions.name(of: name) else {
            preconditionFailure("\(name) is no operator of strings")
        }
        var pattern = try operand(right)
        if name == .matches, case .value(let value) = right {
            pattern = SQL([.pattern(value)])
        }
        let call: SQL =
            "\(function: function)(\(try operand(left)), \(pattern), \(options.rawValue))"
        if polarity == .negated { return .sql(call + " IS NOT 1") }
        // The strings with a prefix are one range of the binary order, which an index finds.
        if name == .beginsWith, case .column(let column) = left, case .value(let prefix) = right,
            options.isEmpty || column.isIndexed(for: options)
        {
            let text = try compared(left, options)
            var test: SQL = """
                \(text) >= \(try compared(right, options)) \
                AND \(text) < \(.prefixEnd(prefix, options)) AND \(call)
                """
            test.junction = .and
            return .sql(test)
        }
        if case .column(let column) = left, case .value(let value) = right,
            let found = try candidates(column, name, value, options)
        {
            var test: SQL = "\(found) AND \(call)"
            test.junction = .and
            return .sql(test)
        }
        return .sql(call)
    }

    /// Tests whether an object is among those that the index of the parts of its texts finds.
    private mutating func candidates(
        _ column: PlanColumn, _ name: Comparison.Operator, _ value: TypedValue,
        _ options: Comparison.Options
    ) throws(LarderError) -> SQL? {
        guard let table = column.searchTable, try ask(.hasTrigrams(value, name, options)) else {
            return nil
        }
        let key = ColumnReference(alias: column.reference.alias, column: Layout.keyColumn)
        let index: SQL = "\(name: table)"
        let terms: SQL = """
            \(function: SearchFunctions.selectiveTerms)(\(literal: table), \
            \(.trigrams(value, name, options)))
            """
        var test: SQL = """
            \(key.sql) IN (SELECT rowid FROM \(index) WHERE \(index) MATCH \(terms))
            """
        test.depth += Self.existsDepth
        return test
    }

    // MARK: Counts

    /// The comparison of a count with a value, if there is a better way than to count per object.
    private mutating func count(
        _ left: PlanOperand, _ name: Comparison.Operator, _ right: PlanOperand, _ polarity: Polarity
    ) throws(LarderError) -> WrittenPredicate? {
        switch (left, right) {
        case (.collection(.count, let collection, nil, _, _), .value(let value)):
            return try count(collection, name, value, polarity)
        case (.value(let value), .collection(.count, let collection, nil, _, _)):
            return try count(collection, name.swapped, value, polarity)
        default: return nil
        }
    }

    private mutating func count(
        _ collection: PlanCollection, _ name: Comparison.Operator, _ value: TypedValue,
        _ polarity: Polarity
    ) throws(LarderError) -> WrittenPredicate? {
        let mayBeKeyList = prefersKeyList && polarity == .positive
        if let written = try emptiness(collection, name, value, polarity) { return written }
        guard mayBeKeyList, try asksForSome(name, value) else { return nil }
        let having: SQL = "COUNT(*) \(name.sql) \(.value(value))"
        return try keyList(collection, having: having).map { .sql($0) }
    }

    /// Whether a count for which the comparison holds is at least 1.
    private mutating func asksForSome(
        _ name: Comparison.Operator, _ value: TypedValue
    ) throws(LarderError) -> Bool {
        let least: Int64
        switch name {
        case .greaterThan: least = 0
        case .greaterThanOrEqual, .equal: least = 1
        default: return false
        }
        let bound = TypedValue(source: .constant(.int(least)), type: value.type, name: value.name)
        return try ask(
            .holds(ValueComparison(left: value, operator: .greaterThanOrEqual, right: bound)))
    }

    /// `@count > 0` and similar comparisons ask only whether there is an element.
    private mutating func emptiness(
        _ collection: PlanCollection, _ name: Comparison.Operator, _ value: TypedValue,
        _ polarity: Polarity
    ) throws(LarderError) -> WrittenPredicate? {
        if try ask(.isNil(value)) { return polarity.always(name == .notEqual) }
        let number: Int64
        let asksForElement: Bool
        switch name {
        case .greaterThan, .notEqual: (number, asksForElement) = (0, true)
        case .greaterThanOrEqual: (number, asksForElement) = (1, true)
        case .equal, .lessThanOrEqual: (number, asksForElement) = (0, false)
        case .lessThan: (number, asksForElement) = (1, false)
        default: return nil
        }
        guard try ask(.isInteger(value, number)) else { return nil }
        return try predicate(
            .exists(collection), asksForElement ? polarity : polarity.opposite)
    }
}

extension Comparison.Operator {
    fileprivate var sql: SQL {
        switch self {
        case .equal: "="
        case .notEqual: "<>"
        case .lessThan: "<"
        case .lessThanOrEqual: "<="
        case .greaterThan: ">"
        case .greaterThanOrEqual: ">="
        case .beginsWith, .endsWith, .contains, .like, .matches, .in, .between:
            preconditionFailure("\(self) has no symbol in SQL")
        }
    }

    /// The operator that holds exactly if this one does not.
    fileprivate var opposite: Self {
        switch self {
        case .lessThan: .greaterThanOrEqual
        case .lessThanOrEqual: .greaterThan
        case .greaterThan: .lessThanOrEqual
        case .greaterThanOrEqual: .lessThan
        default: self
        }
    }

    /// The operator that holds for the exchanged sides exactly if this one holds.
    fileprivate var swapped: Self {
        switch self {
        case .lessThan: .greaterThan
        case .lessThanOrEqual: .greaterThanOrEqual
        case .greaterThan: .lessThan
        case .greaterThanOrEqual: .lessThanOrEqual
        default: self
        }
    }
}
