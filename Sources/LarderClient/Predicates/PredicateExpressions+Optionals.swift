import FoundationEssentials
import LarderModel

extension PredicateExpressions.ForcedUnwrap: TranslatableExpression {
    func term(in translation: inout Translation) throws(LarderError) -> Term<Wrapped> {
        switch try translation.term(inner) {
        case .captured(let value?): return .captured(value)
        case .captured(nil): throw unsupported("a captured nil that is unwrapped by force")
        case .computed(let expression): return .computed(expression)
        }
    }
}

/// Optional chaining and `if let` are this too.
extension PredicateExpressions.OptionalFlatMap: TranslatableExpression {
    func term(in translation: inout Translation) throws(LarderError) -> Term<Result?> {
        let condition: QueryExpression
        let inner: QueryExpression
        switch try translation.term(wrapped) {
        case .captured(nil): return .captured(nil)
        case .captured(let value?):
            translation.bind(variable, to: .captured(value))
            switch try translation.term(transform) {
            case .captured(let result): return .captured(result as? Result)
            case .computed(let expression): return .computed(expression)
            }
        case .computed(let expression):
            translation.bind(variable, to: .computed(expression))
            inner = expression
            condition = Self.isThere(expression)
        }
        let result = try translation.operand(transform)
        if result == .null { return .captured(nil) }
        let isNilAnyway = result.isNil(with: inner) && !(Wrapped.self is any EntityCollection.Type)
        return .computed(isNilAnyway ? result : .guarded(condition, result))
    }

    /// A to-many relationship is there wherever its owner is.
    private static func isThere(_ wrapped: QueryExpression) -> QueryExpression {
        guard Wrapped.self is any EntityCollection.Type else { return wrapped.isNil.negated }
        guard case .keyPath(let base, let steps) = wrapped, steps.count > 1 else { return .yes }
        return .compare(.keyPath(base, Array(steps.dropLast())), .notEqual, .null)
    }
}

extension PredicateExpressions.NilCoalesce: TranslatableExpression {
    func term(in translation: inout Translation) throws(LarderError) -> Term<Output> {
        let left: QueryExpression
        switch try translation.term(lhs) {
        case .captured(let value?): return .captured(value)
        case .captured(nil): return try translation.term(rhs)
        case .computed(let expression): left = expression
        }
        if Output.self is any EntityCollection.Type {
            guard case .captured(let other as any Collection) = try translation.term(rhs),
                other.isEmpty
            else { throw unsupported("a to-many relationship in the place of another") }
            return .computed(left)
        }
        let right = try translation.operand(rhs)
        if Output.self == Bool.self {
            if left.isPredicate { return .computed(left) }
            if let (condition, answer) = left.guarded, answer.isPredicate {
                return .computed(Self.answer(condition, answer, right.asPredicate))
            }
            if right == .no { return .computed(.compare(left, .equal, .yes)) }
            if right == .yes { return .computed(.compare(left, .notEqual, .no)) }
        }
        return .computed(.function(.coalesce, [left, right]))
    }

    private static func answer(
        _ condition: QueryExpression, _ answer: QueryExpression, _ other: QueryExpression
    ) -> QueryExpression {
        switch other {
        case .no: .both(condition: condition, answer)
        case .yes: .either(condition.negated, answer)
        default: .either(.both(condition: condition, answer), .both(condition.negated, other))
        }
    }
}
