import FoundationEssentials
import LarderModel

extension PredicateExpressions.Equal: TranslatableExpression {
    func term(in translation: inout Translation) throws(LarderError) -> Term<Bool> {
        try translation.equality(lhs, rhs)
    }
}

extension PredicateExpressions.NotEqual: TranslatableExpression {
    func term(in translation: inout Translation) throws(LarderError) -> Term<Bool> {
        switch try translation.equality(lhs, rhs) {
        case .captured(let isEqual): .captured(!isEqual)
        case .computed(let expression): .computed(expression.negated)
        }
    }
}

extension PredicateExpressions.Comparison: TranslatableExpression {
    func term(in translation: inout Translation) throws(LarderError) -> Term<Bool> {
        let (left, right) = (try translation.term(lhs), try translation.term(rhs))
        if case (.captured(let left), .captured(let right)) = (left, right) {
            switch op {
            case .lessThan: return .captured(left < right)
            case .lessThanOrEqual: return .captured(left <= right)
            case .greaterThan: return .captured(left > right)
            case .greaterThanOrEqual: return .captured(left >= right)
            @unknown default: throw unsupported("an unknown comparison operator")
            }
        }
        let comparisonOperator: Comparison.Operator
        switch op {
        case .lessThan: comparisonOperator = .lessThan
        case .lessThanOrEqual: comparisonOperator = .lessThanOrEqual
        case .greaterThan: comparisonOperator = .greaterThan
        case .greaterThanOrEqual: comparisonOperator = .greaterThanOrEqual
        @unknown default: throw unsupported("an unknown comparison operator")
        }
        return .computed(
            .compare(
                try translation.operand(left), comparisonOperator,
                try translation.operand(right)))
    }

    private typealias Comparison = LarderModel.Comparison
}

extension Translation {
    fileprivate mutating func equality<Left: PredicateExpression, Right: PredicateExpression>(
        _ lhs: Left, _ rhs: Right
    ) throws(LarderError) -> Term<Bool>
    where Left.Output == Right.Output, Left.Output: Equatable {
        if let strings = lhs as? any StringComparison {
            return .computed(try strings.predicate(ComparisonResult(of: term(rhs)), in: &self))
        }
        if let strings = rhs as? any StringComparison {
            return .computed(try strings.predicate(ComparisonResult(of: term(lhs)), in: &self))
        }
        let (left, right) = (try term(lhs), try term(rhs))
        switch (left, right) {
        case (.captured(let left), .captured(let right)): return .captured(left == right)
        case (.computed(let expression), .captured(let captured)),
            (.captured(let captured), .computed(let expression)):
            try checkSingle(Left.Output.self)
            switch try Value(captured: captured, in: entity) {
            case .null: return Term(predicate: expression.isNil)
            case .bool(let bool): return Term(predicate: expression.equals(bool))
            default: break
            }
        case (.computed, .computed): try checkSingle(Left.Output.self)
        }
        return .computed(.compare(try operand(left), .equal, try operand(right)))
    }

    private func checkSingle<Output>(_ type: Output.Type) throws(LarderError) {
        guard type is any EntityCollection.Type else { return }
        throw unsupported(
            "the equality of a to-many relationship and a collection",
            hint: "test its elements with contains(where:) or allSatisfy")
    }
}

extension ComparisonResult {
    fileprivate init<Output>(of term: Term<Output>) throws(LarderError) {
        guard case .captured(let result as ComparisonResult) = term else {
            throw unsupported("the equality of two comparison results")
        }
        self = result
    }
}
