import LarderModel

/// A predicate with resolved names and types. It is true or false, never unknown: nil equals nil,
/// and an order comparison with nil is false.
package indirect enum TypedPredicate: Hashable, Sendable {
    case constant(Bool)
    /// A Boolean operand alone.
    case isTrue(TypedOperand)
    /// Decided by the values when the query is run.
    case decided(ValueComparison)
    case comparison(
        TypedOperand, Comparison.Operator, TypedOperand, options: Comparison.Options)
    case between(TypedOperand, TypedOperand, TypedOperand, options: Comparison.Options)
    case oneOf(TypedOperand, [TypedOperand], options: Comparison.Options)
    /// Equal to an element of a list that is one argument.
    case oneOfList(TypedOperand, TypedValue, options: Comparison.Options)
    /// The object at the end of the key path is of this entity. False if there is no object.
    case isKind(TypedKeyPath, Entity)
    case and([TypedPredicate])
    case or([TypedPredicate])
    case not(TypedPredicate)
    /// The collection has an element that satisfies the predicate.
    case exists(TypedCollection, TypedPredicate)
}

/// A comparison of two values of the query. It holds for all objects or for none.
package struct ValueComparison: Hashable, Sendable {
    package static let operators: Set<Comparison.Operator> = [
        .equal, .notEqual, .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual,
    ]

    /// Both have the same type; nil if only the parameters determine it.
    package var left: TypedValue
    package var `operator`: Comparison.Operator
    package var right: TypedValue

    package init(left: TypedValue, operator: Comparison.Operator, right: TypedValue) {
        self.left = left
        self.operator = `operator`
        self.right = right
    }

    /// - Parameter typed: Converts a value that the parameters supply to its type.
    package func holds(
        _ parameters: QueryParameters, _ conversion: QueryValueConversion,
        _ typed: (TypedValue) throws(LarderError) -> Value
    ) throws(LarderError) -> Bool {
        var (left, right) = (left, right)
        if left.type == nil {
            left.type = try ownType(parameters, conversion)
            right.type = left.type
        }
        if let type = left.type { try `operator`.check(type, left.name) }
        return `operator`.holds(try typed(left), try typed(right))
    }

    /// Whether it holds without arguments.
    func holds(conversion: QueryValueConversion) throws(LarderError) -> Bool {
        let parameters = QueryParameters()
        return try holds(parameters, conversion) { value throws(LarderError) in
            try conversion.typed(value, parameters)
        }
    }

    /// The type of the first value that has one of its own. The other value gets it too.
    private func ownType(
        _ parameters: QueryParameters, _ conversion: QueryValueConversion
    ) throws(LarderError) -> OperandType? {
        for value in [left, right] {
            let type = try conversion.value(value, parameters).attributeType
            if let type { return .attribute(type) }
        }
        return nil
    }
}

extension Comparison.Operator {
    /// Whether two values of one type are in this relation. Nil equals nil, and has no order.
    func holds(_ left: Value, _ right: Value) -> Bool {
        guard !left.isNull, !right.isNull else {
            switch self {
            case .equal: return left.isNull && right.isNull
            case .notEqual: return left.isNull != right.isNull
            default: return false
            }
        }
        let order = left.order(to: right)
        return switch self {
        case .equal: order == 0
        case .notEqual: order != 0
        case .lessThan: order < 0
        case .lessThanOrEqual: order <= 0
        case .greaterThan: order > 0
        case .greaterThanOrEqual: order >= 0
        case .in, .between, .beginsWith, .endsWith, .contains, .like, .matches: false
        }
    }
}
