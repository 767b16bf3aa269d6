import LarderModel
import LarderQuery

/// A part of the rows after a keyset cursor: they are equal to the cursor in the first sort keys,
/// and come after it in the next one.
package struct KeysetSegment {
    package enum Step {
        /// The next key has a later value.
        case laterValue
        case isNil
        case isNotNil
    }

    var equalCount: Int
    package var step: Step
}

extension SQLWriter {
    /// The statements of a query, which are run one after the other: one, unless the fetch
    /// continues after a keyset cursor.
    ///
    /// The rows after a cursor are divided into segments. Each is a range in the sort order, so
    /// that an index finds its first row directly.
    package mutating func statements(_ query: ResolvedQuery) throws(LarderError) -> [SQL] {
        guard query.verb == .fetch, try ask(.hasCursor) else { return [try statement(query)] }
        var statements: [SQL] = []
        for equalCount in query.order.indices.reversed() {
            for step in try steps(after: equalCount, query.order[equalCount]) {
                statements.append(
                    try statement(query, KeysetSegment(equalCount: equalCount, step: step)))
            }
        }
        return statements
    }

    private mutating func steps(
        after keyIndex: Int, _ order: ResolvedQuery.Order
    ) throws(LarderError) -> [KeysetSegment.Step] {
        let operand = Self.operand(order)
        if try ask(.isNil(Self.value(keyIndex, operand))) {
            return order.nilComesFirst ? [.isNotNil] : []
        }
        return !order.nilComesFirst && operand.isNullable ? [.laterValue, .isNil] : [.laterValue]
    }

    /// The conditions for the rows of a segment.
    package mutating func conditions(
        _ segment: KeysetSegment, _ query: ResolvedQuery
    ) throws(LarderError) -> [SQL] {
        var conditions: [SQL] = []
        for keyIndex in 0..<segment.equalCount {
            let operand = Self.operand(query.order[keyIndex])
            let isEqual = PlanPredicate.comparison(
                operand, .equal, .value(Self.value(keyIndex, operand)), options: [])
            guard case .sql(let test) = try predicate(isEqual, .positive) else { continue }
            conditions.append(test)
        }
        let order = query.order[segment.equalCount]
        let operand = Self.operand(order)
        let caseless = caseless(operand, order.stringOrder)
        if let caseless, segment.step == .laterValue {
            // The range that the index finds.
            let value = Self.value(segment.equalCount, operand)
            let symbol: SQL = order.isDescending ? "<=" : ">="
            conditions.append("\(caseless) \(symbol) \(.folded(value, .caseInsensitive))")
        }
        var test = try ordered(operand, order.stringOrder)
        switch segment.step {
        case .isNil: test += " IS NULL"
        case .isNotNil: test += " IS NOT NULL"
        case .laterValue:
            test += order.isDescending ? " < " : " > "
            test += SQL([.value(Self.value(segment.equalCount, operand))])
        }
        conditions.append(test)
        return conditions
    }

    /// The operand of a sort key of objects.
    private static func operand(_ order: ResolvedQuery.Order) -> PlanOperand {
        guard case .operand(let operand) = order.key else {
            preconditionFailure("only fetches of objects have keyset cursors; no output sorts them")
        }
        return operand
    }

    private static func value(_ keyIndex: Int, _ operand: PlanOperand) -> TypedValue {
        var value = TypedValue(source: .cursor(keyIndex), type: operand.type, name: operand.name)
        value.isJSON = operand.type == .attribute(.json)
        return value
    }

    // MARK: Terms

    /// The terms of the ORDER BY clause. For a segment, only those in which its rows differ.
    package mutating func terms(
        of query: ResolvedQuery, _ segment: KeysetSegment?
    ) throws(LarderError) -> [SQL] {
        var terms: [SQL] = []
        for (keyIndex, order) in query.order.enumerated() {
            if let segment {
                let isFixed =
                    segment.step == .isNil
                    ? keyIndex <= segment.equalCount : keyIndex < segment.equalCount
                if isFixed { continue }
            }
            var keys: [SQL]
            let isNullable: Bool
            switch order.key {
            case .operand(let operand):
                isNullable = operand.isNullable && keyIndex != segment?.equalCount
                if let caseless = caseless(operand, order.stringOrder) {
                    keys = [caseless, try self.operand(operand)]
                } else {
                    keys = [try ordered(operand, order.stringOrder)]
                }
                // SQLite would read an integer as a column's index. A constant orders nothing.
                if Int64(keys[0].text) != nil { continue }
                // The plus hides the column's own order. Without it SQLite prefers to read the
                // whole table in key order rather than to sort a range of an index.
                if query.hasIndexedRange, segment == nil, try !ask(.hasLimit) {
                    keys[0] = dialect.hidden(keys[0])
                }
            case .output(let index):
                let column = query.columns[index]
                isNullable = column.isNullable
                keys = ["\(index + 1)"]
                try dialect.require(order.stringOrder.postgresForm, "this order of strings")
                if let collation = collation(column.kind, order.stringOrder) {
                    keys[0] = keys[0].collated(collation)
                }
            }
            for var term in keys {
                term += dialect.direction(
                    isDescending: order.isDescending, isNullable: isNullable,
                    nilComesFirst: order.nilComesFirst)
                terms.append(term)
            }
        }
        return terms
    }

    private mutating func ordered(
        _ operand: PlanOperand, _ stringOrder: StringOrder
    ) throws(LarderError) -> SQL {
        try dialect.require(stringOrder.postgresForm, "this order of strings")
        guard let collation = StringCollations.name(of: stringOrder) else {
            return try ordered(operand)
        }
        return try self.operand(operand).inParentheses.collated(collation)
    }

    /// The first of the two keys that give the order `:caseinsensitive`, if an index has them.
    private func caseless(_ operand: PlanOperand, _ stringOrder: StringOrder) -> SQL? {
        guard dialect == .sqlite, stringOrder == .caseInsensitive,
            case .column(let column) = operand,
            column.textIndexes.contains(.caseless)
        else { return nil }
        return "\(function: IndexFunctions.caseless)(\(column.reference.sql))"
    }

    /// The collation of an output column; the result of a function has none of its own.
    private func collation(_ kind: Column.Kind, _ stringOrder: StringOrder) -> String? {
        guard dialect == .sqlite else { return nil }
        return kind == .attribute(.decimal)
            ? DecimalFunctions.collation : StringCollations.name(of: stringOrder)
    }
}

extension ResolvedQuery.OutputColumn {
    fileprivate var isNullable: Bool {
        if case .operand(let operand) = content { operand.isNullable } else { false }
    }
}
