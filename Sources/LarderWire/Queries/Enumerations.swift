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
        guard let function = Self.allCases.first(where: { $0.wireFunction == wire }) else {
            throw .malformed(
                "a node of the expression has the function \(wire.rawValue), which this version "
                    + "does not have")
        }
        self = function
    }

    var wireFunction: Larder__V1__ScalarFunction {
        switch self {
        case .add: LARDER__V1__SCALAR_FUNCTION__SCALAR_FUNCTION_ADD
        case .subtract: LARDER__V1__SCALAR_FUNCTION__SCALAR_FUNCTION_SUBTRACT
        case .multiply: LARDER__V1__SCALAR_FUNCTION__SCALAR_FUNCTION_MULTIPLY
        case .divide: LARDER__V1__SCALAR_FUNCTION__SCALAR_FUNCTION_DIVIDE
        case .modulus: LARDER__V1__SCALAR_FUNCTION__SCALAR_FUNCTION_MODULUS
        case .power: LARDER__V1__SCALAR_FUNCTION__SCALAR_FUNCTION_POWER
        case .negate: LARDER__V1__SCALAR_FUNCTION__SCALAR_FUNCTION_NEGATE
        case .abs: LARDER__V1__SCALAR_FUNCTION__SCALAR_FUNCTION_ABS
        case .floor: LARDER__V1__SCALAR_FUNCTION__SCALAR_FUNCTION_FLOOR
        case .ceiling: LARDER__V1__SCALAR_FUNCTION__SCALAR_FUNCTION_CEILING
        case .round: LARDER__V1__SCALAR_FUNCTION__SCALAR_FUNCTION_ROUND
        case .trunc: LARDER__V1__SCALAR_FUNCTION__SCALAR_FUNCTION_TRUNC
        case .sqrt: LARDER__V1__SCALAR_FUNCTION__SCALAR_FUNCTION_SQRT
        case .exp: LARDER__V1__SCALAR_FUNCTION__SCALAR_FUNCTION_EXP
        case .ln: LARDER__V1__SCALAR_FUNCTION__SCALAR_FUNCTION_LN
        case .log: LARDER__V1__SCALAR_FUNCTION__SCALAR_FUNCTION_LOG
        case .minimum: LARDER__V1__SCALAR_FUNCTION__SCALAR_FUNCTION_MINIMUM
        case .maximum: LARDER__V1__SCALAR_FUNCTION__SCALAR_FUNCTION_MAXIMUM
        case .bitwiseAnd: LARDER__V1__SCALAR_FUNCTION__SCALAR_FUNCTION_BITWISE_AND
        case .bitwiseOr: LARDER__V1__SCALAR_FUNCTION__SCALAR_FUNCTION_BITWISE_OR
        case .bitwiseXor: LARDER__V1__SCALAR_FUNCTION__SCALAR_FUNCTION_BITWISE_XOR
        case .onesComplement: LARDER__V1__SCALAR_FUNCTION__SCALAR_FUNCTION_ONES_COMPLEMENT
        case .leftShift: LARDER__V1__SCALAR_FUNCTION__SCALAR_FUNCTION_LEFT_SHIFT
        case .rightShift: LARDER__V1__SCALAR_FUNCTION__SCALAR_FUNCTION_RIGHT_SHIFT
        case .length: LARDER__V1__SCALAR_FUNCTION__SCALAR_FUNCTION_LENGTH
        case .uppercase: LARDER__V1__SCALAR_FUNCTION__SCALAR_FUNCTION_UPPERCASE
        case .lowercase: LARDER__V1__SCALAR_FUNCTION__SCALAR_FUNCTION_LOWERCASE
        case .canonical: LARDER__V1__SCALAR_FUNCTION__SCALAR_FUNCTION_CANONICAL
        case .now: LARDER__V1__SCALAR_FUNCTION__SCALAR_FUNCTION_NOW
        case .year: LARDER__V1__SCALAR_FUNCTION__SCALAR_FUNCTION_YEAR
        case .month: LARDER__V1__SCALAR_FUNCTION__SCALAR_FUNCTION_MONTH
        case .day: LARDER__V1__SCALAR_FUNCTION__SCALAR_FUNCTION_DAY
        case .hour: LARDER__V1__SCALAR_FUNCTION__SCALAR_FUNCTION_HOUR
        case .minute: LARDER__V1__SCALAR_FUNCTION__SCALAR_FUNCTION_MINUTE
        case .second: LARDER__V1__SCALAR_FUNCTION__SCALAR_FUNCTION_SECOND
        case .distance: LARDER__V1__SCALAR_FUNCTION__SCALAR_FUNCTION_DISTANCE
        case .coalesce: LARDER__V1__SCALAR_FUNCTION__SCALAR_FUNCTION_COALESCE
        case .conditional: LARDER__V1__SCALAR_FUNCTION__SCALAR_FUNCTION_CONDITIONAL
        case .concat: LARDER__V1__SCALAR_FUNCTION__SCALAR_FUNCTION_CONCAT
        case .substring: LARDER__V1__SCALAR_FUNCTION__SCALAR_FUNCTION_SUBSTRING
        case .trim: LARDER__V1__SCALAR_FUNCTION__SCALAR_FUNCTION_TRIM
        case .trimStart: LARDER__V1__SCALAR_FUNCTION__SCALAR_FUNCTION_TRIM_START
        case .trimEnd: LARDER__V1__SCALAR_FUNCTION__SCALAR_FUNCTION_TRIM_END
        case .replace: LARDER__V1__SCALAR_FUNCTION__SCALAR_FUNCTION_REPLACE
        case .split: LARDER__V1__SCALAR_FUNCTION__SCALAR_FUNCTION_SPLIT
        case .padStart: LARDER__V1__SCALAR_FUNCTION__SCALAR_FUNCTION_PAD_START
        case .padEnd: LARDER__V1__SCALAR_FUNCTION__SCALAR_FUNCTION_PAD_END
        case .format: LARDER__V1__SCALAR_FUNCTION__SCALAR_FUNCTION_FORMAT
        case .weekday: LARDER__V1__SCALAR_FUNCTION__SCALAR_FUNCTION_WEEKDAY
        case .startOf: LARDER__V1__SCALAR_FUNCTION__SCALAR_FUNCTION_START_OF
        case .search: LARDER__V1__SCALAR_FUNCTION__SCALAR_FUNCTION_SEARCH
        case .score: LARDER__V1__SCALAR_FUNCTION__SCALAR_FUNCTION_SCORE
        case .highlight: LARDER__V1__SCALAR_FUNCTION__SCALAR_FUNCTION_HIGHLIGHT
        case .snippet: LARDER__V1__SCALAR_FUNCTION__SCALAR_FUNCTION_SNIPPET
        }
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
