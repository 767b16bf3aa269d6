import FoundationEssentials
import LarderModel

extension PredicateExpressions.Conjunction: TranslatableExpression {
    func term(in translation: inout Translation) throws(LarderError) -> Term<Bool> {
        let left = try translation.predicate(lhs)
        // As in Swift, the right side of a false left side is not evaluated.
        if left == .no { return .captured(false) }
        return Term(predicate: .both(left, try translation.predicate(rhs)))
    }
}

extension PredicateExpressions.Disjunction: TranslatableExpression {
    func term(in translation: inout Translation) throws(LarderError) -> Term<Bool> {
        let left = try translation.predicate(lhs)
        if left == .yes { return .captured(true) }
        return Term(predicate: .either(left, try translation.predicate(rhs)))
    }
}

extension PredicateExpressions.Negation: TranslatableExpression {
    func term(in translation: inout Translation) throws(LarderError) -> Term<Bool> {
        Term(predicate: try translation.predicate(wrapped).negated)
    }
}

extension PredicateExpressions.Conditional: TranslatableExpression {
    func term(in translation: inout Translation) throws(LarderError) -> Term<Output> {
        let test = try translation.predicate(test)
        if test == .yes { return try translation.term(trueBranch) }
        if test == .no { return try translation.term(falseBranch) }
        let yes = try translation.operand(trueBranch)
        let no = try translation.operand(falseBranch)
        guard Output.self == Bool.self else {
            return .computed(.function(.conditional, [test, yes, no]))
        }
        switch (yes, no) {
        case (_, .no): return .computed(.both(test, yes.asPredicate))
        case (_, .yes): return .computed(.either(test.negated, yes.asPredicate))
        case (.yes, _): return .computed(.either(test, no.asPredicate))
        case (.no, _): return .computed(.both(test.negated, no.asPredicate))
        default: return .computed(.function(.conditional, [test, yes, no]))
        }
    }
}

extension Term where Output == Bool {
    /// A constant predicate is captured, so that the predicates around it may become constant.
    init(predicate: QueryExpression) {
        self =
            switch predicate {
            case .constant(.bool(let bool)): .captured(bool)
            default: .computed(predicate)
            }
    }
}
