import FoundationEssentials
import LarderModel
import LarderQuery

/// Converts the values of a query to the types with which they are compared, in their stored form.
package struct ValueConverter: Sendable {
    package var conversion: QueryValueConversion
    /// The clock of `now()`.
    package var clock: @Sendable () -> Date
    /// The conversions for the read that is being prepared; nil while a query is planned.
    package var conversions: Conversions?

    package let storeIdentifier: UUID
    /// That of the statements for which values are converted.
    package let dialect: SQLDialect

    /// - Parameter formerNames: See ``Layout/formerNames``.
    package init(
        storeIdentifier: UUID, schema: Schema, clock: @escaping @Sendable () -> Date = { Date() },
        formerNames: [String: String] = [:], dialect: SQLDialect = .sqlite
    ) {
        self.storeIdentifier = storeIdentifier
        self.dialect = dialect
        self.clock = clock
        conversion = QueryValueConversion(
            schema: schema, store: storeIdentifier, acceptsTemporaryObjects: false,
            formerNames: formerNames)
    }

    package var schema: Schema { conversion.schema }

    /// The stored form of a value, without what the options ignore if it is a string.
    package func binding(
        _ value: TypedValue, _ parameters: QueryParameters, _ options: Comparison.Options = []
    ) throws(LarderError) -> SQLValue {
        try conversion.locating(value) { () throws(LarderError) in
            let given = try conversion.value(value, parameters, interruption)
            guard let conversions, Conversions.isLarge(.value(given)),
                let key = Conversions.Key(value, .single(options))
            else { return try convert(given, value, parameters, options) }
            let result = try conversions.result(key) { () throws(LarderError) in
                .single(try convert(given, value, parameters, options))
            }
            guard case .single(let binding) = result else { preconditionFailure("a single value") }
            return binding
        }
    }

    private func convert(
        _ given: Value, _ value: TypedValue, _ parameters: QueryParameters,
        _ options: Comparison.Options
    ) throws(LarderError) -> SQLValue {
        let binding = try binding(given, for: value, conversion.reading(value, parameters))
        return options.isEmpty ? binding : folded(binding, options)
    }

    package func folded(_ binding: SQLValue, _ options: Comparison.Options) -> SQLValue {
        guard case .text(let text) = binding else { return binding }
        return .text(StringFunctions.folded(text, options, interruption))
    }

    /// The query of an index of parts of texts; nil if a pattern requires no part that it has.
    package func trigrams(
        of value: TypedValue, _ comparison: Comparison.Operator, _ options: Comparison.Options,
        _ parameters: QueryParameters
    ) throws(LarderError) -> String? {
        // A regular expression is matched without case, not folded.
        let ignored =
            comparison == .matches ? options.intersection(.diacriticInsensitive) : options
        guard case .text(let pattern) = try binding(value, parameters, ignored),
            pattern.utf8.count <= Self.indexedPatternBytesMax
        else { return nil }
        try conversions?.count(bytes: pattern.utf8.count)
        return TrigramQuery.text(of: pattern, comparison, options)
    }

    /// See ``SearchForm/foldedMark``.
    func hasFoldedMark(
        _ value: TypedValue, _ parameters: QueryParameters
    ) throws(LarderError) -> Bool {
        guard case .text(let text) = try binding(value, parameters, .caseInsensitive) else {
            return false
        }
        return text.unicodeScalars.contains(SearchForm.foldedMark)
    }

    /// A longer pattern costs more to prepare than its index saves: hardly a text has it.
    private static let indexedPatternBytesMax = 64 << 10

    package var interruption: Interruption { conversions?.interruption ?? .never }

    /// A value as its type, without its stored form.
    package func typed(
        _ value: TypedValue, _ parameters: QueryParameters
    ) throws(LarderError) -> Value {
        try conversion.locating(value) { () throws(LarderError) in
            try typed(
                conversion.value(value, parameters, interruption), for: value,
                conversion.reading(value, parameters))
        }
    }

    private func typed(
        _ value: Value, for target: TypedValue, _ reading: TextReading
    ) throws(LarderError) -> Value {
        if case .null = value { return .null }
        try conversions?.count(value, isDecimal: target.type == .attribute(.decimal))
        return try conversion.typed(value, for: target, reading, interruption)
    }

    package func binding(
        _ value: Value, for target: TypedValue, _ reading: TextReading
    ) throws(LarderError) -> SQLValue {
        try stored(typed(value, for: target, reading), target)
    }

    /// The stored form of a value that has the target's type.
    private func stored(_ typed: Value, _ target: TypedValue) throws(LarderError) -> SQLValue {
        switch typed {
        case .null: return .null
        case .bool(let bool): return .integer(bool ? 1 : 0)
        case .int(let integer): return .integer(integer)
        case .float(let float): return .real(Double(float))
        case .double(let double): return .real(double)
        case .decimal(let decimal): return Self.stored(decimal, as: target.type)
        case .string(let text): return .text(text)
        case .json(let text) where target.isJSON:
            return .blob(JSONKey(text: text).bytes)
        case .date, .uuid, .url, .data, .json:
            guard let type = typed.attributeType else { preconditionFailure("a value has a type") }
            return try SQLValue(storing: typed, as: type, named: target.name, interruption)
        case .object(let identifier):
            guard let key = identifier.permanentKey else {
                preconditionFailure("a temporary identifier is rejected")
            }
            return target.type == nil
                ? .text("\(conversion.currentName(of: identifier))/\(key)") : .integer(key)
        case .objects: throw conversion.mismatch(typed, target)
        }
    }

    /// SQLite compares integers and doubles exactly, so a fraction can be compared with integers.
    ///
    /// The nearest double to a fractional decimal may be an integer. Therefore a fraction becomes
    /// the half between the same two integers, and a number outside the range of integers becomes
    /// infinity.
    private static func stored(_ decimal: Decimal, as type: OperandType?) -> SQLValue {
        guard let text = DecimalText.canonical(decimal) else { return .null }
        if type == .attribute(.decimal) { return .text(text) }
        if let integer = Int64(text) { return .integer(integer) }
        guard type?.isInteger == true else { return Double(text).map { .real($0) } ?? .null }
        let sign = text.hasPrefix("-") ? -1.0 : 1.0
        guard let whole = Int64(text.prefix { $0 != "." }) else { return .real(sign * .infinity) }
        return .real(Double(whole) + sign / 2)
    }

    /// The object that a value of the query names; nil if it names none.
    package func identifier(
        _ value: TypedValue, _ parameters: QueryParameters
    ) throws(LarderError) -> PersistentIdentifier? {
        try conversion.identifier(conversion.value(value, parameters))
    }

    /// The table with the entity of an object; nil if the type determines it, or is no object's.
    package func entityTable(of type: OperandType?) -> String? {
        guard case .object(let name)? = type, schema.hasSubentities(name) else { return nil }
        return schema.entity(named: name).map { schema.root(of: $0).name }
    }
}
