import LarderModel

/// Where a fetch goes on after a place in its order: the rows that are like the place in the first
/// keys, and behind it in the next one.
struct PlaceSegment {
    enum Step {
        /// The next key has a value that comes later.
        case laterValue
        case isNil
        case isNotNil
    }

    var equalCount: Int
    var step: Step
}

extension SQLWriter {
    /// The statements that give the answer, one after the other: one, unless a fetch goes on after
    /// a place.
    ///
    /// What lies behind a place is cut into segments that are each a range in the order, so that
    /// with an index each begins where its first row stands, however far behind that is.
    mutating func statements(_ query: ResolvedQuery) throws(LarderError) -> [SQLFragment] {
        guard query.verb == .fetch, try ask(.hasPlace) else { return [try statement(query)] }
        var statements: [SQLFragment] = []
        for equalCount in query.order.indices.reversed() {
            for step in try steps(behind: equalCount, query.order[equalCount]) {
                statements.append(
                    try statement(query, PlaceSegment(equalCount: equalCount, step: step)))
            }
        }
        return statements
    }

    private mutating func steps(
        behind place: Int, _ order: ResolvedQuery.Order
    ) throws(LarderError) -> [PlaceSegment.Step] {
        let operand = Self.operand(order)
        if try ask(.isNil(Self.value(place, operand))) {
            return order.nilComesFirst ? [.isNotNil] : []
        }
        return !order.nilComesFirst && operand.isNullable ? [.laterValue, .isNil] : [.laterValue]
    }

    /// The conditions that make a segment.
    mutating func conditions(
        _ segment: PlaceSegment, _ query: ResolvedQuery
    ) throws(LarderError) -> [SQLFragment] {
        var conditions: [SQLFragment] = []
        for place in 0..<segment.equalCount {
            let operand = Self.operand(query.order[place])
            let isEqual = PlanPredicate.comparison(
                operand, .equal, .value(Self.value(place, operand)), options: [])
            guard case .sql(let test) = try predicate(isEqual, negated: false) else { continue }
            conditions.append(test)
        }
        let order = query.order[segment.equalCount]
        let operand = Self.operand(order)
        var test = try ordered(operand, order.stringOrder)
        switch segment.step {
        case .isNil: test += " IS NULL"
        case .isNotNil: test += " IS NOT NULL"
        case .laterValue:
            test += order.isDescending ? " < " : " > "
            test += SQLFragment("?", [.value(Self.value(segment.equalCount, operand))])
        }
        conditions.append(test)
        return conditions
    }

    /// The key of an order of objects.
    private static func operand(_ order: ResolvedQuery.Order) -> PlanOperand {
        guard case .operand(let operand) = order.key else {
            preconditionFailure("only objects have places, and those are not sorted by outputs")
        }
        return operand
    }

    private static func value(_ place: Int, _ operand: PlanOperand) -> PlanValue {
        PlanValue(source: .place(place), type: operand.type, name: operand.name)
    }

    // MARK: Terms

    /// The terms of the ORDER BY clause; of a segment only those in which its rows differ.
    mutating func terms(
        of query: ResolvedQuery, _ segment: PlaceSegment?
    ) throws(LarderError) -> [SQLFragment] {
        var terms: [SQLFragment] = []
        for (place, order) in query.order.enumerated() {
            if let segment {
                let isFixed =
                    segment.step == .isNil
                    ? place <= segment.equalCount : place < segment.equalCount
                if isFixed { continue }
            }
            var term: SQLFragment
            let isNullable: Bool
            switch order.key {
            case .operand(let operand):
                isNullable = operand.isNullable && place != segment?.equalCount
                term = try ordered(operand, order.stringOrder)
                // SQLite would take an integer for the place of a column. It orders nothing.
                if Int64(term.text) != nil { continue }
                // A plus hides the column's own order. Without it SQLite would rather read the
                // whole table in the order of its keys than a range of an index and sort that.
                if query.hasIndexedRange, segment == nil, try !ask(.hasLimit) { term = "+" + term }
            case .output(let place):
                let column = query.columns[place]
                isNullable = column.isNullable
                term = SQLFragment("\(place + 1)")
                if let collation = Self.collation(column.kind, order.stringOrder) {
                    term = term.collated(collation)
                }
            }
            if order.isDescending { term += " DESC" }
            if isNullable, order.nilComesFirst == order.isDescending {
                term += order.nilComesFirst ? " NULLS FIRST" : " NULLS LAST"
            }
            terms.append(term)
        }
        return terms
    }

    private mutating func ordered(
        _ operand: PlanOperand, _ stringOrder: StringOrder
    ) throws(LarderError) -> SQLFragment {
        guard let collation = StringCollations.name(of: stringOrder) else {
            return try ordered(operand)
        }
        return try self.operand(operand).inParentheses.collated(collation)
    }

    /// What a function gives has no collation of its own.
    private static func collation(_ kind: Column.Kind, _ stringOrder: StringOrder) -> String? {
        kind == .attribute(.decimal)
            ? DecimalFunctions.collation : StringCollations.name(of: stringOrder)
    }
}

extension ResolvedQuery.OutputColumn {
    fileprivate var isNullable: Bool {
        if case .operand(let operand) = content { operand.isNullable } else { false }
    }
}
