import FoundationEssentials
import LarderModel

extension Evaluation {
    /// Compares two single values of comparable types.
    func holds(
        _ left: Value, _ name: Comparison.Operator, _ right: Value, _ options: Comparison.Options
    ) throws(LarderError) -> Bool {
        switch name {
        case .equal, .notEqual, .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual:
            return name.holds(left.folded(options), right.folded(options))
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
        return try StringOperator(name, part.normalized, options).holds(text.normalized)
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
