/// An order of objects that is ready to be used: by sort keys, and by identifier where these are
/// equal, as the store has it.
public struct EvaluatedOrder: Sendable {
    struct Key: Sendable {
        let operand: TypedExpression
        let isDescending: Bool
        let nilComesFirst: Bool
        let stringOrder: StringOrder
    }

    let keys: [Key]
    let evaluator: Evaluator

    /// The objects in this order.
    ///
    /// - Throws: As ``EvaluatedPredicate/holds(for:reading:)``.
    public func sorted(
        _ objects: [PersistentIdentifier], reading reader: @escaping Evaluator.Reader
    ) throws(LarderError) -> [PersistentIdentifier] {
        var rows: [(object: PersistentIdentifier, values: [Value])] = []
        for object in objects {
            var evaluation = Evaluation(evaluator, object, reader)
            var values: [Value] = []
            for key in keys { values.append(try evaluation.value(of: key.operand)) }
            rows.append((object, values))
        }
        rows.sort { left, right in
            for (place, key) in keys.enumerated() {
                let order = order(left.values[place], right.values[place], by: key)
                if order != 0 { return order < 0 }
            }
            return Value.object(left.object).order(to: .object(right.object)) < 0
        }
        return rows.map(\.object)
    }

    private func order(_ left: Value, _ right: Value, by key: Key) -> Int {
        let order: Int
        switch (left, right) {
        case (.null, .null): return 0
        case (.null, _): return key.nilComesFirst ? -1 : 1
        case (_, .null): return key.nilComesFirst ? 1 : -1
        case (.string(let left), .string(let right)):
            order = key.stringOrder.compare(left, right)
        default: order = left.order(to: right)
        }
        return key.isDescending ? -order : order
    }
}

extension Evaluator {
    /// Sort keys as format strings take no arguments here; a tree names its own.
    ///
    /// - Throws: What is wrong with the sort keys, before any object is asked.
    public func order(_ keys: [SortKey]) throws(LarderError) -> EvaluatedOrder {
        guard keys.count <= Limits.queryColumnsMax else {
            throw LarderError(
                .resourceExhausted, "a query has \(Limits.queryColumnsMax) sort keys at most")
        }
        var typed: [EvaluatedOrder.Key] = []
        for key in keys { typed.append(try self.key(key)) }
        return EvaluatedOrder(keys: typed, evaluator: self)
    }

    private func key(_ key: SortKey) throws(LarderError) -> EvaluatedOrder.Key {
        let expression: QueryExpression
        switch key.term {
        case .tree(let tree): expression = tree
        case .format(let text):
            expression = try PredicateFormat.parseExpression(text, name: "sort key").expression
        }
        try expression.checkLimits()
        var typer = ExpressionTyper(self)
        let operand = try typer.operand(expression)
        guard let type = operand.type else {
            throw LarderError(.wrongType, "a sort key is an argument alone, the same for all rows")
        }
        guard key.stringOrder == .plain || type.isString else {
            throw LarderError(
                .wrongType,
                "an order of strings needs strings, and "
                    + "\(operand.name) is \(type.nounWithArticle)")
        }
        return EvaluatedOrder.Key(
            operand: operand.expression, isDescending: key.isDescending,
            nilComesFirst: key.nilComesFirst, stringOrder: key.stringOrder)
    }
}
