import LarderModel
import LarderQuery

/// A property of the parameters on which the text of a statement depends. Most ask whether a value
/// is nil: SQL has operators of its own for NULL, and does not use an index where both may occur.
package enum ParameterQuestion: Hashable, Sendable {
    case isNil(TypedValue)
    case isInteger(TypedValue, Int64)
    /// Whether a list's elements except nil need this number of parameters, or rows if it is nil.
    case hasElements(TypedValue, count: Int?)
    /// Whether nil is among a list's elements.
    case hasNil(TypedValue)
    /// Whether a member of a JSON document that is compared with the values is read as this kind.
    case isRead([TypedValue], MemberKind)
    case holds(ValueComparison)
    /// Whether an index of parts of texts finds the texts that may match a pattern.
    case hasTrigrams(TypedValue, Comparison.Operator, Comparison.Options)
    /// Whether a text without case has the letter to which a mark may have been folded.
    case hasFoldedMark(TypedValue)
    case hasLimit
    case hasOffset
    /// Whether at least ``longOffsetMin`` rows precede the page, so that only keys are sorted.
    case hasLongOffset
    /// Whether a fetch continues after a keyset cursor.
    case hasCursor

    func answer(
        _ parameters: QueryParameters, _ converter: ValueConverter
    ) throws(LarderError) -> Bool {
        switch self {
        case .isNil(let value):
            try converter.conversion.value(value, parameters, converter.interruption).isNull
        case .isInteger(let value, let integer):
            try converter.binding(value, parameters) == .integer(integer)
        case .hasElements(let list, let count):
            try SQLWriter.parameterCount(
                for: converter.elements(list, parameters).values.count) == count
        case .isRead(let values, let kind):
            try converter.conversion.kind(
                comparedWith: values, parameters, converter.interruption) == kind
        case .hasTrigrams(let value, let comparison, let options):
            try converter.trigrams(of: value, comparison, options, parameters) != nil
        case .hasFoldedMark(let value):
            try converter.hasFoldedMark(value, parameters)
        case .hasNil(let list): try converter.elements(list, parameters).hasNil
        case .holds(let comparison):
            try comparison.holds(parameters, converter.conversion) { value throws(LarderError) in
                try converter.typed(value, parameters)
            }
        case .hasLimit: parameters.limit != nil
        case .hasOffset: parameters.offset != nil
        case .hasLongOffset:
            parameters.limit != nil && (parameters.offset ?? 0) >= Self.longOffsetMin
        case .hasCursor: !parameters.after.isEmpty
        }
    }
}

extension ParameterQuestion {
    /// With fewer rows than this before the page, SQLite's own LIMIT is as fast or faster.
    static let longOffsetMin: Int64 = 1 << 17

    /// Whether the answer may differ for other parameters.
    package var isOpen: Bool {
        switch self {
        case .isNil(let value), .isInteger(let value, _), .hasElements(let value, _),
            .hasNil(let value), .hasTrigrams(let value, _, _), .hasFoldedMark(let value):
            value.isArgument
        case .isRead(let values, _): values.contains(where: \.isArgument)
        case .holds(let comparison): comparison.left.isArgument || comparison.right.isArgument
        case .hasLimit, .hasOffset, .hasLongOffset, .hasCursor: true
        }
    }
}
