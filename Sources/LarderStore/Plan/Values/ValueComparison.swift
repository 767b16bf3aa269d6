import LarderModel

/// A comparison of two values of the query. It holds for all objects or for none.
struct ValueComparison: Hashable, Sendable {
    static let operators: Set<Comparison.Operator> = [
        .equal, .notEqual, .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual,
    ]

    var left: PlanValue
    var `operator`: Comparison.Operator
    var right: PlanValue

    func holds(
        _ parameters: QueryParameters, _ converter: ValueConverter
    ) throws(LarderError) -> Bool {
        var (leftValue, rightValue) = (self.left, self.right)
        if leftValue.type == nil {
            leftValue.type = try ownType(parameters, converter)
            rightValue.type = leftValue.type
        }
        if let type = leftValue.type { try `operator`.check(type, leftValue.name) }
        let left = try converter.binding(leftValue, parameters)
        let right = try converter.binding(rightValue, parameters)
        if left == .null || right == .null {
            switch `operator` {
            case .equal: return left == right
            case .notEqual: return left != right
            default: return false
            }
        }
        try converter.conversions?.count(bytes: min(left.byteCount, right.byteCount))
        guard let order = Self.order(left, right, isDecimal: leftValue.type == .attribute(.decimal))
        else {
            throw LarderError(.wrongType, "two values of different types cannot be compared")
        }
        switch `operator` {
        case .equal: return order == 0
        case .notEqual: return order != 0
        case .lessThan: return order < 0
        case .lessThanOrEqual: return order <= 0
        case .greaterThan: return order > 0
        case .greaterThanOrEqual: return order >= 0
        default: preconditionFailure("the resolver admits no other operator")
        }
    }

    /// The type of the first value that has one of its own. The other value gets it too.
    private func ownType(
        _ parameters: QueryParameters, _ converter: ValueConverter
    ) throws(LarderError) -> OperandType? {
        for value in [left, right] {
            let type = try converter.value(value, parameters).attributeType
            if let type { return .attribute(type) }
        }
        return nil
    }

    /// Negative, zero or positive; nil for values without a common order.
    private static func order(_ left: SQLValue, _ right: SQLValue, isDecimal: Bool) -> Int? {
        switch (left, right) {
        case (.integer(let left), .integer(let right)): sign(left, right)
        case (.real(let left), .real(let right)): sign(left, right)
        case (.integer(let left), .real(let right)): order(left, right)
        case (.real(let left), .integer(let right)): -order(right, left)
        case (.text(let left), .text(let right)):
            isDecimal
                ? DecimalText.compare(left, right)
                : StringOrder.plain.compare(left, right)
        case (.blob(let left), .blob(let right)):
            left == right ? 0 : (left.lexicographicallyPrecedes(right) ? -1 : 1)
        default: nil
        }
    }

    /// Exact, also for integers that no double represents.
    private static func order(_ integer: Int64, _ real: Double) -> Int {
        guard let whole = Int64(exactly: real.rounded(.towardZero)) else {
            return real > 0 ? -1 : 1
        }
        if integer != whole { return sign(integer, whole) }
        return sign(real.rounded(.towardZero), real)
    }

    private static func sign<Element: Comparable>(_ left: Element, _ right: Element) -> Int {
        left == right ? 0 : (left < right ? -1 : 1)
    }
}

extension PlanValue {
    /// The constant's own type; nil for nil and for arguments.
    var constantType: OperandType? {
        guard case .constant(let value) = source else { return nil }
        return OperandType(of: value)
    }
}
