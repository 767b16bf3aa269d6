import FoundationEssentials
import LarderModel

extension PredicateExpressions.ForcedUnwrap: TranslatableExpression {
    func term(in translation: inout Translation) throws(LarderError) -> Term<Wrapped> {
        switch try translation.term(inner) {
        case .captured(let value?): return .captured(value)
        case .captured(nil): throw unsupported("a forced unwrap of a captured nil")
        case .computed(let expression): return .computed(expression)
        }
    }
}

/// Also optional chaining and `if let`.
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
            condition = Self.isNotNil(expression)
        }
        let result = try translation.operand(transform)
        if result == .null { return .captured(nil) }
        let isNilWithWrapped =
            result.isNil(with: inner) && !(Wrapped.self is any EntityCollection.Type)
        return .computed(isNilWithWrapped ? result : .guarded(condition, result))
    }

    /// Whether the optional is not nil. A to-many relationship is nil only if its owner is.
    private static func isNotNil(_ wrapped: QueryExpression) -> QueryExpression {
        guard Wrapped.self is any EntityCollection.Type else { return wrapped.isNil.negated }
        guard case .keyPath(let base, let steps) = wrapped, steps.count > 1 else { return .yes }
        return .compare(.keyPath(base, Array(steps.dropLast())), .notEqual, .null)
    }
}

extension PredicateExpressions.NilCoalesce: TranslatableExpression {
    func term(in translation: inout Translation) throws(LarderError) -> Term<Output> {
        var left: QueryExpression
        switch try translation.term(lhs) {
        case .captured(let value?): return .captured(value)
        case .captured(nil): return try translation.term(rhs)
        case .computed(let expression): left = expression
        }
        if Output.self is any EntityCollection.Type {
            guard case .captured(let other as any Collection) = try translation.term(rhs),
                other.isEmpty
            else {
                throw unsupported(
                    "a to-many relationship with a default other than an empty collection")
            }
            return .computed(left)
        }
        let other = try translation.term(rhs)
        left = try translation.typed(left, as: other)
        let right = try translation.operand(other)
        if Output.self == Bool.self {
            if left.isPredicate { return .computed(left) }
            if let (condition, value) = left.guarded, value.isPredicate {
                return .computed(Self.value(condition, value, right.asPredicate))
            }
            if right == .no { return .computed(.compare(left, .equal, .yes)) }
            if right == .yes { return .computed(.compare(left, .notEqual, .no)) }
        }
        return .computed(.function(.coalesce, [left, right]))
    }

    /// The value if the condition holds, else the other one.
    private static func value(
        _ condition: QueryExpression, _ value: QueryExpression, _ other: QueryExpression
    ) -> QueryExpression {
        switch other {
        case .no: .both(condition: condition, value)
        case .yes: .either(condition.negated, value)
        default: .either(.both(condition: condition, value), .both(condition.negated, other))
        }
    }
}
