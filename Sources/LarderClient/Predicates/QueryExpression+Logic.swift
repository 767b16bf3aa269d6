import LarderModel

// Construction of predicates, simplified where parts are constant. An optional value other than a
// property becomes `ternary(condition, value, NULL)`, where the condition is that it is not nil.

extension QueryExpression {
    static let yes = QueryExpression.constant(.bool(true))
    static let no = QueryExpression.constant(.bool(false))
    static let null = QueryExpression.constant(.null)

    static func compare(
        _ left: QueryExpression, _ operator: Comparison.Operator, _ right: QueryExpression,
        _ options: Comparison.Options = []
    ) -> QueryExpression {
        .comparison(Comparison(left, `operator`, right, options: options))
    }

    static func both(_ left: QueryExpression, _ right: QueryExpression) -> QueryExpression {
        if left == .no || right == .no { return .no }
        if left == .yes { return right }
        if right == .yes { return left }
        return .and(left.conjuncts + right.conjuncts)
    }

    static func either(_ left: QueryExpression, _ right: QueryExpression) -> QueryExpression {
        if left == .yes || right == .yes { return .yes }
        if left == .no { return right }
        if right == .no { return left }
        return .or(left.disjuncts + right.disjuncts)
    }

    private var conjuncts: [QueryExpression] {
        if case .and(let parts) = self { parts } else { [self] }
    }

    private var disjuncts: [QueryExpression] {
        if case .or(let parts) = self { parts } else { [self] }
    }

    /// The opposite of a predicate.
    var negated: QueryExpression {
        switch self {
        case .yes: return .no
        case .no: return .yes
        case .not(let operand): return operand
        case .comparison(var comparison) where comparison.modifier == .direct:
            switch comparison.operator {
            case .equal: comparison.operator = .notEqual
            case .notEqual: comparison.operator = .equal
            default: return .not(self)
            }
            return .comparison(comparison)
        default: return .not(self)
        }
    }

    /// Whether the expression is true or false, and never nil.
    var isPredicate: Bool {
        switch self {
        case .comparison, .typeTest, .and, .or, .not, .constant(.bool), .function(.search, _): true
        default: false
        }
    }

    var asPredicate: QueryExpression {
        switch self {
        case .keyPath: self
        default: isPredicate ? self : .compare(self, .equal, .yes)
        }
    }

    /// Whether this equals a Bool, or nil.
    func equals(_ value: Bool?) -> QueryExpression {
        guard let value else { return isNil }
        if isPredicate { return value ? self : negated }
        if let (condition, wrapped) = guarded, wrapped.isPredicate {
            return .both(condition: condition, value ? wrapped : wrapped.negated)
        }
        return .compare(self, .equal, .constant(.bool(value)))
    }

    var isNil: QueryExpression {
        if isPredicate { return .no }
        if let (condition, value) = guarded { return .either(condition.negated, value.isNil) }
        return self == .null ? .yes : .compare(self, .equal, .null)
    }

    /// The condition and the value of an optional that is nil unless the condition holds.
    var guarded: (condition: QueryExpression, value: QueryExpression)? {
        guard case .function(.conditional, let operands) = self, operands.count == 3,
            operands[2] == .null
        else { return nil }
        return (operands[0], operands[1])
    }

    static func guarded(
        _ condition: QueryExpression, _ value: QueryExpression
    ) -> QueryExpression {
        condition == .yes ? value : .function(.conditional, [condition, value, .null])
    }

    /// Both, without a condition `x != nil` that the value implies.
    static func both(
        condition: QueryExpression, _ value: QueryExpression
    ) -> QueryExpression {
        if case .comparison(let comparison) = condition, comparison.operator == .notEqual,
            comparison.right == .null, value.isFalse(ifNil: comparison.left)
        {
            return value
        }
        return .both(condition, value)
    }

    /// Whether the predicate is certainly false if the other expression is nil.
    private func isFalse(ifNil other: QueryExpression) -> Bool {
        switch self {
        case .and(let parts): return parts.contains { $0.isFalse(ifNil: other) }
        case .comparison(let comparison) where comparison.modifier == .direct:
            let (left, right) = (comparison.left, comparison.right)
            switch comparison.operator {
            case .equal:
                // An argument is never nil, because nil is a constant.
                if case .argument = right { return left.isNil(with: other) }
                if case .argument = left { return right.isNil(with: other) }
                return false
            case .notEqual, .in: return false
            case .between: return left.isNil(with: other)
            default: return left.isNil(with: other) || right.isNil(with: other)
            }
        case .typeTest(let operand, _): return operand.isNil(with: other)
        default: return false
        }
    }

    /// Whether this is certainly nil if the other is.
    func isNil(with other: QueryExpression) -> Bool {
        if self == other { return true }
        switch (self, other) {
        case (.keyPath(let base, let steps), .keyPath(let otherBase, let otherSteps)):
            return base == otherBase && steps.starts(with: otherSteps)
        case (.function(let function, let operands), _):
            guard function != .coalesce, function != .conditional else { return false }
            return operands.contains { $0.isNil(with: other) }
        default: return false
        }
    }
}
