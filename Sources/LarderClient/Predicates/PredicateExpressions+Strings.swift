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
    /// - Parameter decide: The answer for two strings that are both captured.
    fileprivate mutating func strings<Left: PredicateExpression, Right: PredicateExpression>(
        _ lhs: Left, _ operator: Comparison.Operator, _ rhs: Right,
        _ options: Comparison.Options = [], decide: (String, String) -> Bool
    ) throws(LarderError) -> Term<Bool> {
        guard Left.Output.self is any StringProtocol.Type,
            Right.Output.self is any StringProtocol.Type
        else {
            throw unsupported(
                "\(`operator`.rawValue) of collections other than strings",
                hint: "say what must hold of the elements: contains(where:), allSatisfy")
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

/// Two strings, asked in which order they stand; an answer is a predicate.
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
            "caseInsensitiveCompare without == or != and a ComparisonResult beside it")
    }
}

extension PredicateExpressions.StringLocalizedCompare: StringComparison, TranslatableExpression {
    func predicate(
        _ result: ComparisonResult, in translation: inout Translation
    ) throws(LarderError) -> QueryExpression {
        guard result == .orderedSame else {
            throw unsupported(
                "localizedCompare for less or greater",
                hint: "compare with < and >, or with caseInsensitiveCompare")
        }
        let (left, right) = (try translation.operand(root), try translation.operand(other))
        return .compare(left, .equal, right)
    }

    func term(in translation: inout Translation) throws(LarderError) -> Term<ComparisonResult> {
        throw unsupported("localizedCompare without == or != and a ComparisonResult beside it")
    }
}
