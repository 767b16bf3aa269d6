import FoundationEssentials
import LarderModel

extension PredicateExpressions.CollectionContainsCollection: TranslatableExpression {
    func term(in translation: inout Translation) throws(LarderError) -> Term<Bool> {
        try translation.strings(base, .contains, other) { $0.containsCharacters(of: $1) }
    }
}

extension PredicateExpressions.SequenceStartsWith: TranslatableExpression {
    func term(in translation: inout Translation) throws(LarderError) -> Term<Bool> {
        try translation.strings(base, .beginsWith, prefix) { $0.beginsWithCharacters(of: $1) }
    }
}

extension PredicateExpressions.StringLocalizedStandardContains: TranslatableExpression {
    func term(in translation: inout Translation) throws(LarderError) -> Term<Bool> {
        try translation.strings(
            root, .contains, other, [.caseInsensitive, .diacriticInsensitive]
        ) { $0.localizedStandardContains($1) }
    }
}

extension Translation {
    /// - Parameter decide: The result for two captured strings.
    fileprivate mutating func strings<Left: PredicateExpression, Right: PredicateExpression>(
        _ lhs: Left, _ operator: Comparison.Operator, _ rhs: Right,
        _ options: Comparison.Options = [], decide: (String, String) -> Bool
    ) throws(LarderError) -> Term<Bool> {
        guard Left.Output.self is any StringProtocol.Type,
            Right.Output.self is any StringProtocol.Type
        else {
            throw unsupported(
                "\(`operator`.rawValue) of collections other than strings",
                hint: "test the elements with contains(where:) or allSatisfy")
        }
        let (left, right) = (try term(lhs), try term(rhs))
        if case .captured(let left as any StringProtocol) = left,
            case .captured(let right as any StringProtocol) = right
        {
            return .captured(decide(String(left), String(right)))
        }
        return .computed(.compare(try operand(left), `operator`, try operand(right), options))
    }
}

/// A comparison of two strings. It becomes a predicate when its result is compared.
protocol StringComparison {
    func predicate(
        _ result: ComparisonResult, in translation: inout Translation
    ) throws(LarderError) -> QueryExpression
}

extension PredicateExpressions.StringCaseInsensitiveCompare: StringComparison,
    TranslatableExpression
{
    func predicate(
        _ result: ComparisonResult, in translation: inout Translation
    ) throws(LarderError) -> QueryExpression {
        let (left, right) = (try translation.operand(root), try translation.operand(other))
        return switch result {
        case .orderedAscending: .compare(left, .lessThan, right, .caseInsensitive)
        case .orderedSame: .compare(left, .equal, right, .caseInsensitive)
        case .orderedDescending: .compare(left, .greaterThan, right, .caseInsensitive)
        }
    }

    func term(in translation: inout Translation) throws(LarderError) -> Term<ComparisonResult> {
        throw unsupported(
            "caseInsensitiveCompare without == or != and a ComparisonResult")
    }
}

extension PredicateExpressions.StringLocalizedCompare: StringComparison, TranslatableExpression {
    func predicate(
        _ result: ComparisonResult, in translation: inout Translation
    ) throws(LarderError) -> QueryExpression {
        guard result == .orderedSame else {
            throw unsupported(
                "localizedCompare with a result other than orderedSame",
                hint: "compare with < and >, or with caseInsensitiveCompare")
        }
        let (left, right) = (try translation.operand(root), try translation.operand(other))
        return .compare(left, .equal, right)
    }

    func term(in translation: inout Translation) throws(LarderError) -> Term<ComparisonResult> {
        throw unsupported("localizedCompare without == or != and a ComparisonResult")
    }
}
