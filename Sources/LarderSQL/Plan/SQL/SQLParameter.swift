import LarderModel
import LarderQuery

/// The source of the value of a `?`; of several for ``elements``.
package enum SQLParameter: Hashable, Sendable {
    /// A value that is known when the statement is written.
    case constant(SQLValue)
    /// The form for PostgreSQL, whose parameters have types. The type is nil if the value has it.
    case typed(SQLValue, AttributeType?)
    case value(TypedValue)
    /// The operand of a function. It must be an integer in a computation with integers.
    case operand(TypedValue)
    /// The time at which the query began.
    case now
    /// A string without what the options ignore.
    case folded(TypedValue, Comparison.Options)
    /// The first string after all strings with this prefix, without what the options ignore.
    case prefixEnd(TypedValue, Comparison.Options)
    /// The terms of an index of parts of texts that the matches of a pattern have.
    case trigrams(TypedValue, Comparison.Operator, Comparison.Options)
    /// The query of an index of words for a search text, in the given columns or in all.
    case words(TypedValue, columns: [Int]?)
    /// The bits of the terms of such a query that are not excluded.
    case requiredTerms(TypedValue)
    /// A regular expression, which is compiled to check it.
    case pattern(TypedValue)
    /// The elements of a list except nil, without what the options ignore. One is repeated up to
    /// the count.
    case elements(TypedValue, Comparison.Options, count: Int)
    /// These elements as the argument of a ``ListTable``.
    case elementRows(TypedValue, Comparison.Options)
    /// The name of the entity of a value that names an object.
    case entityName(TypedValue)
    /// The objects of a list except nil, as a JSON array of pairs: key and entity name.
    case objects(TypedValue)
    case limit
    case offset
    /// The key of an object, or keys as a JSON array: see ``KeyStatement``. In the last statement
    /// of a ``ParallelRead``, the keys that were found, or the number of groups.
    case key
    /// The bounds of the keys that one statement of a ``ParallelRead`` reads, inclusive.
    case firstKey
    case lastKey

    /// How many `?` it is bound to.
    package var valueCount: Int {
        if case .elements(_, _, let count) = self { count } else { 1 }
    }

    /// The approximate size of its value, if that is known.
    var byteCount: Int {
        switch self {
        case .constant(let value), .typed(let value, _): value.byteCount
        default: 0
        }
    }

    package func value(
        _ parameters: QueryParameters, _ converter: ValueConverter
    ) throws(LarderError) -> SQLValue {
        switch self {
        case .constant(let value), .typed(let value, _): return value
        case .value(let value): return try converter.binding(value, parameters)
        case .operand(let value):
            let binding = try converter.binding(value, parameters)
            if case .real = binding, value.type?.isInteger == true {
                throw LarderError(
                    .wrongType,
                    "\(value.name) is an integer, and a number with a fraction was given",
                    hint: "multiply by 1.0, as in 1.0 * …, to compute with fractions")
            }
            return binding
        case .folded(let value, let options):
            return try converter.binding(value, parameters, options)
        case .prefixEnd(let value, let options):
            let binding = try converter.binding(value, parameters, options)
            guard case .text(let text) = binding else { return binding }
            return StringFunctions.endOfPrefix(text)
        case .trigrams(let value, let comparison, let options):
            return try converter.trigrams(of: value, comparison, options, parameters)
                .map { .text($0) } ?? .null
        case .words(let value, let columns):
            guard case .text(let text) = try converter.binding(value, parameters) else {
                return .null
            }
            return .text(WordQuery.text(of: try SearchText(text), columns: columns))
        case .requiredTerms(let value):
            guard case .text(let text) = try converter.binding(value, parameters) else {
                return .null
            }
            let terms = WordQuery.requiredTerms(of: try SearchText(text))
            return .integer(Int64(bitPattern: terms))
        case .pattern(let value):
            let binding = try converter.binding(value, parameters)
            guard case .text(let pattern) = binding else { return binding }
            try converter.conversions?.count(bytes: Self.bytesPerPatternByte * pattern.utf8.count)
            try converter.conversion.locating(value) { () throws(LarderError) in
                try PatternCache.check(pattern)
            }
            return binding
        case .entityName(let value):
            return try converter.identifier(value, parameters).map { .text($0.entityName) } ?? .null
        case .objects(let list): return try converter.objects(list, parameters)
        case .elementRows(let list, let options):
            let elements = try converter.elements(list, parameters, options).values
            guard let encoded = ListTable.encoded(elements) else { throw SQLTemplate.tooManyBytes }
            return .blob(encoded)
        case .elements, .now: preconditionFailure("the template computes these")
        case .key, .firstKey, .lastKey:
            preconditionFailure("these are known when the statement is run")
        case .limit: return .integer(parameters.limit ?? -1)
        case .offset: return .integer(parameters.offset ?? 0)
        }
    }

    /// The parameter with its value.
    func filled(
        _ parameters: QueryParameters, _ converter: ValueConverter
    ) throws(LarderError) -> SQLParameter {
        known(try value(parameters, converter), converter.dialect)
    }

    /// A value of the parameter.
    func known(_ value: SQLValue, _ dialect: SQLDialect) -> SQLParameter {
        dialect == .sqlite ? .constant(value) : .typed(value, attributeType)
    }

    /// The type of its values; nil if they have it.
    private var attributeType: AttributeType? {
        switch self {
        case .typed(_, let type): return type
        case .value(let value), .operand(let value):
            guard case .attribute(let type)? = value.type else { return nil }
            return type
        case .elements(let list, _, _):
            guard case .attribute(let type)? = list.type else { return nil }
            return type
        case .now: return .double
        default: return nil
        }
    }

    package static func elements(
        of list: TypedValue, _ options: Comparison.Options, _ count: Int,
        _ parameters: QueryParameters, _ converter: ValueConverter
    ) throws(LarderError) -> [SQLValue] {
        let elements = try converter.elements(list, parameters, options).values
        guard var repeated = elements.last else { return elements }
        // A long text must not be bound many times.
        if repeated.byteCount > shortBytesMax {
            repeated = elements.min { $0.byteCount < $1.byteCount } ?? repeated
        }
        return elements + [SQLValue](repeating: repeated, count: count - elements.count)
    }

    private static let shortBytesMax = 64
    /// How many times longer it takes to compile a pattern than to convert a text.
    private static let bytesPerPatternByte = 8
}
