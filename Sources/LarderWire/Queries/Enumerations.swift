internal import CLarderProto
internal import LarderModel

// The enumerations of Proto/expression.proto.

extension AggregateFunction {
    init(_ wire: Larder__V1__AggregateFunction) throws(LarderError) {
        guard let function = Self.allCases.first(where: { $0.wireFunction == wire }) else {
            throw .malformed("the aggregate has no known function")
        }
        self = function
    }

    var wireFunction: Larder__V1__AggregateFunction {
        switch self {
        case .count: LARDER__V1__AGGREGATE_FUNCTION__AGGREGATE_FUNCTION_COUNT
        case .countDistinct: LARDER__V1__AGGREGATE_FUNCTION__AGGREGATE_FUNCTION_COUNT_DISTINCT
        case .sum: LARDER__V1__AGGREGATE_FUNCTION__AGGREGATE_FUNCTION_SUM
        case .average: LARDER__V1__AGGREGATE_FUNCTION__AGGREGATE_FUNCTION_AVERAGE
        case .minimum: LARDER__V1__AGGREGATE_FUNCTION__AGGREGATE_FUNCTION_MINIMUM
        case .maximum: LARDER__V1__AGGREGATE_FUNCTION__AGGREGATE_FUNCTION_MAXIMUM
        case .median: LARDER__V1__AGGREGATE_FUNCTION__AGGREGATE_FUNCTION_MEDIAN
        case .mode: LARDER__V1__AGGREGATE_FUNCTION__AGGREGATE_FUNCTION_MODE
        case .stddev: LARDER__V1__AGGREGATE_FUNCTION__AGGREGATE_FUNCTION_STDDEV
        }
    }
}

extension ScalarFunction {
    init(_ wire: Larder__V1__ScalarFunction) throws(LarderError) {
        guard let function = ScalarFunction(rawValue: wire.rawValue) else {
            throw .malformed(
                "a node of the expression has the function \(wire.rawValue), which this version "
                    + "does not have")
        }
        self = function
    }

    var wireFunction: Larder__V1__ScalarFunction {
        Larder__V1__ScalarFunction(rawValue: rawValue)
    }
}

extension Comparison.Operator {
    var wireOperator: Larder__V1__ComparisonOperator {
        switch self {
        case .equal: LARDER__V1__COMPARISON_OPERATOR__COMPARISON_OPERATOR_EQUAL
        case .notEqual: LARDER__V1__COMPARISON_OPERATOR__COMPARISON_OPERATOR_NOT_EQUAL
        case .lessThan: LARDER__V1__COMPARISON_OPERATOR__COMPARISON_OPERATOR_LESS_THAN
        case .lessThanOrEqual:
            LARDER__V1__COMPARISON_OPERATOR__COMPARISON_OPERATOR_LESS_THAN_OR_EQUAL
        case .greaterThan: LARDER__V1__COMPARISON_OPERATOR__COMPARISON_OPERATOR_GREATER_THAN
        case .greaterThanOrEqual:
            LARDER__V1__COMPARISON_OPERATOR__COMPARISON_OPERATOR_GREATER_THAN_OR_EQUAL
        case .in: LARDER__V1__COMPARISON_OPERATOR__COMPARISON_OPERATOR_IN
        case .between: LARDER__V1__COMPARISON_OPERATOR__COMPARISON_OPERATOR_BETWEEN
        case .beginsWith: LARDER__V1__COMPARISON_OPERATOR__COMPARISON_OPERATOR_BEGINS_WITH
        case .endsWith: LARDER__V1__COMPARISON_OPERATOR__COMPARISON_OPERATOR_ENDS_WITH
        case .contains: LARDER__V1__COMPARISON_OPERATOR__COMPARISON_OPERATOR_CONTAINS
        case .like: LARDER__V1__COMPARISON_OPERATOR__COMPARISON_OPERATOR_LIKE
        case .matches: LARDER__V1__COMPARISON_OPERATOR__COMPARISON_OPERATOR_MATCHES
        }
    }
}

extension Comparison.Modifier {
    var wireModifier: Larder__V1__ComparisonModifier {
        switch self {
        case .direct: LARDER__V1__COMPARISON_MODIFIER__COMPARISON_MODIFIER_DIRECT
        case .any: LARDER__V1__COMPARISON_MODIFIER__COMPARISON_MODIFIER_ANY
        case .all: LARDER__V1__COMPARISON_MODIFIER__COMPARISON_MODIFIER_ALL
        }
    }
}
