import LarderModel

/// A sort order that has been checked against the schema. Objects with equal keys are ordered by
/// identifier, as in the store.
package struct EvaluatedOrder: Sendable {
    struct Key: Sendable {
        let operand: BoundOperand
        let direction: SortDirection
    }

    let keys: [Key]
    let evaluator: Evaluator

    /// Returns the objects in this order.
    ///
    /// - Throws: The errors of ``EvaluatedPredicate/holds(for:reading:)``.
    package func sorted(
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
            for (index, key) in keys.enumerated() {
                let order = key.direction.order(left.values[index], right.values[index])
                if order != 0 { return order < 0 }
            }
            return Value.object(left.object).order(to: .object(right.object)) < 0
        }
        return rows.map(\.object)
    }

}

/// The order of the values of one sort key.
package struct SortDirection: Hashable, Sendable {
    private let isDescending: Bool
    private let nilComesFirst: Bool
    private let stringOrder: StringOrder

    package init(_ key: SortKey) {
        isDescending = key.isDescending
        nilComesFirst = key.nilComesFirst
        stringOrder = key.stringOrder
    }

    /// Returns a negative number, zero or a positive number if the left value precedes, equals or
    /// follows the right one.
    package func order(_ left: Value, _ right: Value) -> Int {
        let order: Int
        switch (left, right) {
        case (.null, .null): return 0
        case (.null, _): return nilComesFirst ? -1 : 1
        case (_, .null): return nilComesFirst ? 1 : -1
        case (.string(let left), .string(let right)): order = stringOrder.compare(left, right)
        default: order = left.order(to: right)
        }
        return isDescending ? -order : order
    }
}

extension Evaluator {
    /// Checks sort keys against the schema. Format strings take no arguments here; trees refer to
    /// the evaluator's arguments by index.
    ///
    /// - Throws: The error in the keys, before any object is read.
    package func order(_ keys: [SortKey]) throws(LarderError) -> EvaluatedOrder {
        guard keys.count <= Limits.queryColumnsMax else {
            throw LarderError(
                .resourceExhausted, "a query takes at most \(Limits.queryColumnsMax) sort keys")
        }
        let binding = ValueBinding(evaluator: self)
        var bound: [EvaluatedOrder.Key] = []
        for (key, typed) in zip(keys, try makeTyper().order(keys)) {
            guard case .operand(let operand) = typed.key else {
                preconditionFailure("an order of objects has no output columns")
            }
            bound.append(
                EvaluatedOrder.Key(
                    operand: try binding.operand(operand), direction: SortDirection(key)))
        }
        return EvaluatedOrder(keys: bound, evaluator: self)
    }
}
