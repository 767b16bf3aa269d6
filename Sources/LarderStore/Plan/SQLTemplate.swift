import FoundationEssentials
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
        // One moment for the whole answer.
        var now: SQLBinding?
        for statement in statements {
            var bindings: [SQLBinding] = []
            bindings.reserveCapacity(statement.parameters.count)
            for parameter in statement.parameters {
                switch parameter {
                case .elements(let list, let options, let places):
                    bindings += try SQLParameter.elements(
                        of: list, options, places, parameters, converter)
                case .now:
                    let moment = now ?? .real(Date.now.timeIntervalSinceReferenceDate)
                    now = moment
                    bindings.append(moment)
                default: bindings.append(try parameter.binding(parameters, converter))
                }
            }
            filled.append(SQL(statement.text, bindings))
        }
        return filled
    }
}

/// What stands for one `?`, or for the many of a list.
enum SQLParameter: Hashable, Sendable {
    case value(PlanValue)
    /// The operand of a function: where integers are computed, an integer.
    case operand(PlanValue)
    /// When the query began.
    case now
    /// A string without what the options ignore.
    case folded(PlanValue, Comparison.Options)
    /// The first string behind all that begin with this one.
    case prefixEnd(PlanValue)
    /// A regular expression, checked before it is used.
    case pattern(PlanValue)
    /// The elements of a list that are not nil, without what the options ignore.
    case elements(PlanValue, Comparison.Options, places: Int)
    /// The name of the entity of a value that names an object.
    case entityName(PlanValue)
    /// The objects of a list that are not nil, as a JSON array of pairs: key and entity's name.
    case objects(PlanValue)
    case limit
    case offset

    /// How many `?` it stands for.
    var bindingCount: Int {
        if case .elements(_, _, let places) = self { places } else { 1 }
    }

    func binding(
        _ parameters: QueryParameters, _ converter: ValueConverter
    ) throws(LarderError) -> SQLBinding {
        switch self {
        case .value(let value): return try converter.binding(value, parameters)
        case .operand(let value):
            let binding = try converter.binding(value, parameters)
            if case .real = binding, value.type?.isInteger == true {
                throw LarderError(
                    .wrongType,
                    "\(value.name) is an integer, and a number with a fraction was given",
                    hint: "write a fraction beside it, as in 1.0 * …, to compute with fractions")
            }
            return binding
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
            guard case .text(let pattern) = binding else { return binding }
            try converter.locating(value) { () throws(LarderError) in
                try PatternCache.check(pattern)
            }
            return binding
        case .entityName(let value):
            return try converter.identifier(value, parameters).map { .text($0.entityName) } ?? .null
        case .objects(let list): return try converter.objects(list, parameters)
        case .elements, .now: preconditionFailure("these are bound with the others in view")
        case .limit: return .integer(parameters.limit ?? -1)
        case .offset: return .integer(parameters.offset ?? 0)
        }
    }

    static func elements(
        of list: PlanValue, _ options: Comparison.Options, _ places: Int,
        _ parameters: QueryParameters, _ converter: ValueConverter
    ) throws(LarderError) -> [SQLBinding] {
        var elements = try converter.elements(list, parameters).bindings
        if !options.isEmpty {
            elements = elements.map { element in
                if case .text(let text) = element {
                    .text(StringFunctions.folded(text, options))
                } else {
                    element
                }
            }
        }
        guard let last = elements.last else { return elements }
        return elements + [SQLBinding](repeating: last, count: places - elements.count)
    }
}

/// What the text of a statement depends on: chiefly whether a value is nil, because SQL compares
/// nil with operators of its own, and loses its indexes where it must be ready for both.
enum ParameterQuestion: Hashable, Sendable {
    case isNil(PlanValue)
    case isInteger(PlanValue, Int64)
    /// Whether a list's elements, nil left out, need so many places.
    case hasElements(PlanValue, places: Int)
    /// Whether nil is among a list's elements.
    case hasNil(PlanValue)
    /// Whether a member of a JSON document that stands beside the value is read as this.
    case isRead(PlanValue, PlanMember.Kind)
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
        case .hasElements(let list, let places):
            try SQLWriter.places(for: converter.elements(list, parameters).bindings.count)
                == places
        case .isRead(let value, let kind): try converter.kind(beside: value, parameters) == kind
        case .hasNil(let list): try converter.elements(list, parameters).hasNil
        case .holds(let comparison): try comparison.holds(parameters, converter)
        case .hasLimit: parameters.limit != nil
        case .hasOffset: parameters.offset != nil
        case .hasPlace: !parameters.after.isEmpty
        }
    }
}
