import FoundationEssentials
import LarderModel

// The store computes all numbers, also captured ones: an undefined result is nil there, and does
// not trap.

extension PredicateExpressions.Arithmetic: TranslatableExpression {
    func term(in translation: inout Translation) throws(LarderError) -> Term<Output> {
        let function: ScalarFunction
        switch op {
        case .add: function = .add
        case .subtract: function = .subtract
        case .multiply: function = .multiply
        @unknown default: throw unsupported("an unknown arithmetic operator")
        }
        return try translation.function(function, lhs, rhs)
    }
}

extension PredicateExpressions.IntDivision: TranslatableExpression {
    func term(in translation: inout Translation) throws(LarderError) -> Term<Output> {
        try translation.function(.divide, lhs, rhs)
    }
}

extension PredicateExpressions.FloatDivision: TranslatableExpression {
    func term(in translation: inout Translation) throws(LarderError) -> Term<Output> {
        try translation.function(.divide, lhs, rhs)
    }
}

extension PredicateExpressions.IntRemainder: TranslatableExpression {
    func term(in translation: inout Translation) throws(LarderError) -> Term<Output> {
        try translation.function(.modulus, lhs, rhs)
    }
}

extension PredicateExpressions.UnaryMinus: TranslatableExpression {
    func term(in translation: inout Translation) throws(LarderError) -> Term<Output> {
        .computed(.function(.negate, [try translation.operand(wrapped)]))
    }
}

extension Translation {
    fileprivate mutating func function<Left: PredicateExpression, Right: PredicateExpression>(
        _ function: ScalarFunction, _ lhs: Left, _ rhs: Right
    ) throws(LarderError) -> Term<Left.Output> {
        .computed(.function(function, [try operand(lhs), try operand(rhs)]))
    }
}
