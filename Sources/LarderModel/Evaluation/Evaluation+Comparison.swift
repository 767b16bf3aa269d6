import FoundationEssentials

extension Evaluation {
    /// The maximum number of steps in one LIKE match, more than common patterns need for the
    /// longest string.
    private static let likeStepsMax = 64 << 20

    /// Compares two single values of comparable types.
    func holds(
        _ left: Value, _ name: Comparison.Operator, _ right: Value, _ options: Comparison.Options
    ) throws(LarderError) -> Bool {
        if left.isNull || right.isNull {
            switch name {
            case .equal: return left.isNull && right.isNull
            case .notEqual: return left.isNull != right.isNull
            default: return false
            }
        }
        switch name {
        case .equal: return Self.order(left, right, options) == 0
        case .notEqual: return Self.order(left, right, options) != 0
        case .lessThan: return Self.order(left, right, options) < 0
        case .lessThanOrEqual: return Self.order(left, right, options) <= 0
        case .greaterThan: return Self.order(left, right, options) > 0
        case .greaterThanOrEqual: return Self.order(left, right, options) >= 0
        case .beginsWith, .endsWith, .contains, .like, .matches:
            guard case (.string(let text), .string(let part)) = (left, right) else { return false }
            return try holds(text, name, part, options)
        case .in, .between: return false
        }
    }

    private func holds(
        _ text: String, _ name: Comparison.Operator, _ part: String, _ options: Comparison.Options
    ) throws(LarderError) -> Bool {
        if name == .matches { return try evaluator.matches(text, part, options) }
        let text = Self.folded(text, options)
        let part = Self.folded(part, options)
        switch name {
        case .beginsWith: return text.beginsWithCharacters(of: part)
        case .endsWith: return text.endsWithCharacters(of: part)
        case .contains: return text.containsCharacters(of: part)
        default:
            let pattern = LikePattern(part)
            guard let isLike = pattern.matches(text, stepsMax: Self.likeStepsMax) else {
                throw LarderError(
                    .resourceExhausted, "a LIKE match takes too many steps",
                    hint: "use fewer `*` in the pattern")
            }
            return isLike
        }
    }

    private static func folded(_ text: String, _ options: Comparison.Options) -> String {
        let folding = options.intersection([.caseInsensitive, .diacriticInsensitive])
        if folding.isEmpty { return text }
        return text.folded(
            caseInsensitive: folding.contains(.caseInsensitive),
            diacriticInsensitive: folding.contains(.diacriticInsensitive))
    }

    private static func order(
        _ left: Value, _ right: Value, _ options: Comparison.Options
    ) -> Int {
        guard case (.string(let left), .string(let right)) = (left, right) else {
            return left.order(to: right)
        }
        return Value.string(folded(left, options)).order(to: .string(folded(right, options)))
    }
}

extension Evaluator {
    func matches(
        _ text: String, _ pattern: String, _ options: Comparison.Options
    ) throws(LarderError) -> Bool {
        guard let matcher else {
            throw LarderError(.unsupported, "MATCHES is not available here")
        }
        return try matcher(text, pattern, options)
    }
}
