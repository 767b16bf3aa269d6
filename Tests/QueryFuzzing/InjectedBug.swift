import LarderModel

/// A deliberate bug in the evaluator, to verify that the comparison with SQL finds it: the
/// evaluator evaluates a predicate with a different meaning.
public enum InjectedBug: CaseIterable, Sendable {
    /// `<` instead of `<=`.
    case strictOrder
    /// Nil is never in a list.
    case listWithoutNil
    /// ALL is false for an empty collection.
    case allOverNone
    /// String options are ignored.
    case withoutOptions
    /// The condition of a SUBQUERY is ignored.
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
