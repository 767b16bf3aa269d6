import LarderModel

/// SQL whose values are still to come: one or several texts, what stands for each `?`, and what of
/// the parameters the texts were made for.
struct SQLTemplate: Sendable {
    struct Statement: Sendable {
        var text: String
        var parameters: [SQLParameter]
    }

    var statements: [Statement]
    /// What was asked of the parameters while the texts were written. These serve all parameters
    /// that give the same answers.
    var conditions: [(question: ParameterQuestion, answer: Bool)]

    func serves(
        _ parameters: QueryParameters, _ converter: ValueConverter
    ) throws(LarderError) -> Bool {
        for condition in conditions {
            let answer = try condition.question.answer(parameters, converter)
            guard answer == condition.answer else { return false }
        }
        return true
    }

    func filled(
        _ parameters: QueryParameters, _ converter: ValueConverter
    ) throws(LarderError) -> [SQL] {
        var filled: [SQL] = []
        for statement in statements {
            var bindings: [SQLBinding] = []
            bindings.reserveCapacity(statement.parameters.count)
            for parameter in statement.parameters {
                bindings.append(try parameter.binding(parameters, converter))
            }
            filled.append(SQL(statement.text, bindings))
        }
        return filled
    }
}

/// What stands for one `?`.
enum SQLParameter: Hashable, Sendable {
    case value(PlanValue)
    /// A string without what the options ignore.
    case folded(PlanValue, Comparison.Options)
    /// The first string behind all that begin with this one.
    case prefixEnd(PlanValue)
    /// A regular expression, checked before it is used.
    case pattern(PlanValue)
    /// The keys of a list of objects, as a JSON array.
    case keys(PlanValue)
    case limit
    case offset

    func binding(
        _ parameters: QueryParameters, _ converter: ValueConverter
    ) throws(LarderError) -> SQLBinding {
        switch self {
        case .value(let value): return try converter.binding(value, parameters)
        case .folded(let value, let options):
            let binding = try converter.binding(value, parameters)
            guard case .text(let text) = binding else { return binding }
            return .text(StringFunctions.folded(text, options))
        case .prefixEnd(let value):
            let binding = try converter.binding(value, parameters)
            guard case .text(let text) = binding else { return binding }
            return StringFunctions.endOfPrefix(text)
        case .pattern(let value):
            let binding = try converter.binding(value, parameters)
            if case .text(let pattern) = binding { try PatternCache.check(pattern) }
            return binding
        case .keys(let value):
            let keys = try converter.keys(value, parameters)
            return .text("[\(keys.map(String.init).joined(separator: ","))]")
        case .limit: return .integer(parameters.limit ?? -1)
        case .offset: return .integer(parameters.offset ?? 0)
        }
    }
}

/// What the text of a statement depends on: chiefly whether a value is nil, because SQL compares
/// nil with operators of its own, and loses its indexes where it must be ready for both.
enum ParameterQuestion: Hashable, Sendable {
    case isNil(PlanValue)
    case isInteger(PlanValue, Int64)
    case holds(ValueComparison)
    case hasLimit
    case hasOffset
    /// Whether a fetch goes on after a place.
    case hasPlace

    func answer(
        _ parameters: QueryParameters, _ converter: ValueConverter
    ) throws(LarderError) -> Bool {
        switch self {
        case .isNil(let value): try converter.value(value, parameters).isNull
        case .isInteger(let value, let integer):
            try converter.binding(value, parameters) == .integer(integer)
        case .holds(let comparison): try comparison.holds(parameters, converter)
        case .hasLimit: parameters.limit != nil
        case .hasOffset: parameters.offset != nil
        case .hasPlace: !parameters.after.isEmpty
        }
    }
}
