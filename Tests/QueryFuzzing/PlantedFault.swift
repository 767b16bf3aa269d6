import LarderModel

/// A wrong rule, to see that the comparison of SQL and evaluator would find it: the evaluator is
/// asked a predicate that means something else.
public enum PlantedFault: CaseIterable, Sendable {
    /// `<` where `<=` was meant.
    case strictOrder
    /// Nil is not in a list.
    case listWithoutNil
    /// ALL does not hold over none.
    case allOverNone
    /// Options of strings are forgotten.
    case withoutOptions
    /// A condition of a SUBQUERY is forgotten.
    case unfilteredSubquery

    func changed(_ expression: QueryExpression) -> QueryExpression {
        let inner = expression.mapChildren(changed)
        switch (self, inner) {
        case (.unfilteredSubquery, .subquery(let collection, let variable, _)):
            return .subquery(collection, variable: variable, predicate: .constant(true))
        case (_, .comparison(let comparison)): return changed(comparison)
        default: return inner
        }
    }

    private func changed(_ comparison: Comparison) -> QueryExpression {
        var changed = comparison
        switch self {
        case .strictOrder:
            if comparison.operator == .lessThanOrEqual { changed.operator = .lessThan }
        case .listWithoutNil:
            if comparison.operator == .in, case .list(let elements) = comparison.right {
                changed.right = .list(elements.filter { $0 != .constant(.null) })
            }
        case .allOverNone:
            if comparison.modifier == .all {
                return .and([
                    .comparison(comparison),
                    .comparison(
                        Comparison(.collection(.count, comparison.left), .greaterThan, .constant(0))
                    ),
                ])
            }
        case .withoutOptions: changed.options = []
        case .unfilteredSubquery: break
        }
        return .comparison(changed)
    }
}

extension QueryExpression {
    /// The same node over other children.
    func mapChildren(_ change: (QueryExpression) -> QueryExpression) -> QueryExpression {
        switch self {
        case .constant, .argument, .object, .variable: return self
        case .list(let elements): return .list(elements.map(change))
        case .keyPath(let base, let steps): return .keyPath(change(base), steps)
        case .collection(let function, let operand):
            return .collection(function, change(operand))
        case .subquery(let collection, let variable, let predicate):
            return .subquery(
                change(collection), variable: variable, predicate: change(predicate))
        case .function(let function, let operands):
            return .function(function, operands.map(change))
        case .comparison(var comparison):
            comparison.left = change(comparison.left)
            comparison.right = change(comparison.right)
            return .comparison(comparison)
        case .typeTest(let operand, let entityName):
            return .typeTest(change(operand), entityName: entityName)
        case .and(let parts): return .and(parts.map(change))
        case .or(let parts): return .or(parts.map(change))
        case .not(let part): return .not(change(part))
        }
    }
}
