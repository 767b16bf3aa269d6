import FoundationEssentials
import LarderModel

/// Converts the values of a query to the types with which they are compared, in their stored form.
///
/// A value of the same kind is accepted. A number is accepted if the other type has the same
/// number. A text is read as a date, UUID, URL, decimal, data or an object's URI if one of these is
/// expected, and also as a number or bool if arguments are texts. Everything else is `wrongType`.
/// The range of an attribute's type does not limit a number: an int16 can be compared with 100000.
struct ValueConverter: Sendable {
    let storeIdentifier: UUID
    let schema: Schema
    /// The clock of `now()`.
    var clock: @Sendable () -> Date = { Date() }
    /// See ``Layout/formerNames``.
    var formerNames: [String: String] = [:]
    /// The positions of the values in the query's format strings, for errors.
    var sourceMaps: [FormatSourceMap] = []
    /// The conversions for the read that is being prepared; nil while a query is planned.
    var conversions: Conversions?

    /// The stored form of a value, without what the options ignore if it is a string.
    func binding(
        _ value: PlanValue, _ parameters: QueryParameters, _ options: Comparison.Options = []
    ) throws(LarderError) -> SQLValue {
        try locating(value) { () throws(LarderError) in
            let given = try self.value(value, parameters)
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
        _ given: Value, _ value: PlanValue, _ parameters: QueryParameters,
        _ options: Comparison.Options
    ) throws(LarderError) -> SQLValue {
        let binding = try binding(given, for: value, reading(value, parameters))
        return options.isEmpty ? binding : folded(binding, options)
    }

    func folded(_ binding: SQLValue, _ options: Comparison.Options) -> SQLValue {
        guard case .text(let text) = binding else { return binding }
        return .text(StringFunctions.folded(text, options, interruption))
    }

    /// The query of an index of parts of texts; nil if a pattern requires no part that it has.
    func trigrams(
        of value: PlanValue, _ comparison: Comparison.Operator, _ options: Comparison.Options,
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
        _ value: PlanValue, _ parameters: QueryParameters
    ) throws(LarderError) -> Bool {
        guard case .text(let text) = try binding(value, parameters, .caseInsensitive) else {
            return false
        }
        return text.unicodeScalars.contains(SearchForm.foldedMark)
    }

    /// A longer pattern costs more to prepare than its index saves: hardly a text has it.
    private static let indexedPatternBytesMax = 64 << 10

    var interruption: Interruption { conversions?.interruption ?? .never }

    func reading(_ value: PlanValue, _ parameters: QueryParameters) -> TextReading {
        parameters.reading(ofArgument: value.isArgument)
    }

    /// Checks a constant when a query is planned. Whether a date needs a time zone is decided when
    /// the query is run.
    func check(_ constant: Value, for value: PlanValue) throws(LarderError) {
        _ = try binding(constant, for: value, TextReading(isArgument: false, assumesUTC: true))
    }

    func value(_ value: PlanValue, _ parameters: QueryParameters) throws(LarderError) -> Value {
        try locating(value) { () throws(LarderError) in
            switch try argument(value, parameters) {
            case .value(let single): return single
            case .list:
                throw LarderError(
                    .wrongType, "\(value.name) cannot be compared with a list",
                    hint: "use a list as an argument on the right side of IN or BETWEEN")
            }
        }
    }

    func locating<Result>(
        _ value: PlanValue, _ body: () throws(LarderError) -> Result
    ) throws(LarderError) -> Result {
        do throws(LarderError) { return try body() } catch {
            guard let expression = value.source.expression else { throw error }
            throw sourceMaps.reduce(error) { $1.locating($0, at: expression) }
        }
    }

    func argument(
        _ value: PlanValue, _ parameters: QueryParameters
    ) throws(LarderError) -> QueryArgument {
        let argument = try given(value, parameters)
        guard let bound = value.bound else { return argument }
        let reading = reading(value, parameters)
        return .value(
            try argument.bounds(reading, comparedWith: value.name, interruption)[bound])
    }

    /// - Throws: `malformedPredicate` if the parameters have no value for an argument or variable.
    func checkGiven(_ value: PlanValue, _ parameters: QueryParameters) throws(LarderError) {
        try locating(value) { () throws(LarderError) in _ = try given(value, parameters) }
    }

    private func given(
        _ value: PlanValue, _ parameters: QueryParameters
    ) throws(LarderError) -> QueryArgument {
        switch value.source {
        case .constant(let constant): return .value(constant)
        case .variable(let name):
            guard let variable = parameters.variables[name] else {
                throw LarderError(
                    .malformedPredicate,
                    "there is no value for $\(QueryResolver.printable(name))",
                    hint: "a variable is given with the query, or named by a SUBQUERY around it")
            }
            return variable
        case .argument(let index):
            guard parameters.arguments.indices.contains(index) else {
                throw LarderError(
                    .malformedPredicate,
                    "the query takes at least \(index + 1) arguments, and "
                        + "\(parameters.arguments.count) were given",
                    hint: "give a value for each %@ and %K")
            }
            return parameters.arguments[index]
        case .cursor(let index):
            precondition(index < parameters.after.count, "the plan has checked their number")
            return .value(parameters.after[index])
        }
    }

    func binding(
        _ value: Value, for target: PlanValue, _ reading: TextReading
    ) throws(LarderError) -> SQLValue {
        if case .null = value { return .null }
        try conversions?.count(value, isDecimal: target.type == .attribute(.decimal))
        switch target.type {
        case nil: return try naturalBinding(value, for: target)
        case .object:
            let identifier: PersistentIdentifier?
            do throws(LarderError) { identifier = try self.identifier(value) } catch {
                throw error.hinting(
                    at: value, asObjectOf: target.type, named: target.name, in: schema)
            }
            guard let identifier else { throw mismatch(value, target) }
            return .integer(try key(of: identifier, for: target))
        case .attribute(let type):
            let typed = try value.read(
                as: type, reading, comparedWith: target.name, interruption)
            guard let binding = try storedBinding(typed, type, target) else {
                throw mismatch(value, target)
            }
            if let operand = target.checkedOperand, case .text(let name) = binding {
                try operand.check(name)
            }
            return binding
        }
    }

    /// The object that a value names, also by its URI or short identifier; nil if it names none.
    func identifier(_ value: Value) throws(LarderError) -> PersistentIdentifier? {
        switch value {
        case .object(let identifier): identifier
        case .string(let text): try PersistentIdentifier(text: text, in: storeIdentifier)
        default: nil
        }
    }

    func identifier(
        _ value: PlanValue, _ parameters: QueryParameters
    ) throws(LarderError) -> PersistentIdentifier? {
        try identifier(try self.value(value, parameters))
    }

    /// The table with the entity of an object; nil if the type determines it, or is no object's.
    func entityTable(of type: OperandType?) -> String? {
        guard case .object(let name)? = type, schema.hasSubentities(name) else { return nil }
        return schema.entity(named: name).map { schema.root(of: $0).name }
    }

    private func storedBinding(
        _ value: Value, _ type: AttributeType, _ target: PlanValue
    ) throws(LarderError) -> SQLValue? {
        switch type {
        case .bool:
            switch value {
            case .bool(let bool): return .integer(bool ? 1 : 0)
            case .int(let integer) where integer == 0 || integer == 1: return .integer(integer)
            default: return nil
            }
        case .int16, .int32, .int64: return try numberBesideIntegers(value, target)
        case .float, .double:
            guard let number = try number(value, target) else { return nil }
            return try floating(number, isFloat: type == .float, target)
        case .decimal: return try decimal(value, target).map { .text($0) }
        case .string, .date, .uuid, .url, .data, .json:
            guard Self.isSameKind(value, type) else { return nil }
            return try SQLValue(
                storing: value, as: type, named: target.name, interruption)
        }
    }

    private static func isSameKind(_ value: Value, _ type: AttributeType) -> Bool {
        switch (value, type) {
        case (.string, .string), (.date, .date), (.uuid, .uuid), (.url, .url), (.data, .data),
            (.json, .json):
            true
        default: false
        }
    }

    /// The key of an object of this store, which may have been deleted.
    func key(
        of identifier: PersistentIdentifier, for target: PlanValue
    ) throws(LarderError) -> Int64 {
        let key = try key(of: identifier)
        if case .object(let entityName) = target.type,
            !schema.isKind(currentName(of: identifier), of: entityName)
        {
            throw LarderError(
                .wrongType,
                "\(target.name) is an object of \(entityName), "
                    + "not of \(identifier.entityName)", uri: identifier.uriRepresentation)
        }
        return key
    }

    /// The name of an object's entity in today's schema.
    func currentName(of identifier: PersistentIdentifier) -> String {
        formerNames[identifier.entityName] ?? identifier.entityName
    }

    /// - Throws: `foreignIdentifier` for an identifier of another store and for a temporary one.
    func key(of identifier: PersistentIdentifier) throws(LarderError) -> Int64 {
        guard let key = identifier.permanentKey, let store = identifier.store else {
            throw LarderError(
                .foreignIdentifier, "a temporary identifier names no object of the store",
                hint: "use the identifier that the save gave", uri: identifier.uriRepresentation)
        }
        guard store == storeIdentifier else {
            throw LarderError(
                .foreignIdentifier, "the object belongs to another store",
                hint: "an identifier is good for the store that gave it",
                uri: identifier.uriRepresentation)
        }
        return key
    }

    func mismatch(_ value: Value, _ target: PlanValue) -> LarderError {
        let wanted = target.type?.nounWithArticle ?? "a value"
        return LarderError(
            .wrongType,
            "\(target.name) is \(wanted) and cannot be compared with \(value.kindWithArticle)",
            hint: target.type == .attribute(.date) ? FormatHint.date : nil)
    }
}
