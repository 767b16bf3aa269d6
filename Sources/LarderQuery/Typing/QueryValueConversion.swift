import FoundationEssentials
import LarderModel

/// Converts the values of a query to the types with which they are compared, for SQL and in memory
/// alike.
///
/// A value of the same kind is accepted. A number is accepted if the other type has the same
/// number. A text is read as a date, UUID, URL, decimal, data or an object's URI if one of these is
/// expected, and also as a number or bool if arguments are texts. Everything else is `wrongType`.
/// The range of an attribute's type does not limit a number: an int16 can be compared with 100000.
package struct QueryValueConversion: Sendable {
    package let schema: Schema
    /// The store to which objects must belong; nil to accept objects of any store.
    package let store: UUID?
    /// Whether objects may have temporary identifiers.
    package let acceptsTemporaryObjects: Bool
    /// Current names of entities, by their names in former schemas.
    package let formerNames: [String: String]
    /// The positions of the values in the query's format strings, for errors.
    package var sourceMaps: [FormatSourceMap] = []

    package init(
        schema: Schema, store: UUID?, acceptsTemporaryObjects: Bool,
        formerNames: [String: String] = [:]
    ) {
        self.schema = schema
        self.store = store
        self.acceptsTemporaryObjects = acceptsTemporaryObjects
        self.formerNames = formerNames
    }

    // MARK: The values of the parameters

    /// The single value that the parameters supply.
    package func value(
        _ value: TypedValue, _ parameters: QueryParameters, _ interruption: Interruption = .never
    ) throws(LarderError) -> Value {
        try locating(value) { () throws(LarderError) in
            switch try argument(value, parameters, interruption) {
            case .value(let single): return single
            case .list:
                throw LarderError(
                    .wrongType, "\(value.name) cannot be compared with a list",
                    hint: "use a list as an argument on the right side of IN or BETWEEN")
            }
        }
    }

    /// The value or the list that the parameters supply; of a list of two bounds, the bound.
    package func argument(
        _ value: TypedValue, _ parameters: QueryParameters, _ interruption: Interruption = .never
    ) throws(LarderError) -> QueryArgument {
        let argument = try given(value, parameters)
        let reading = reading(value, parameters)
        guard let bound = value.bound else {
            guard reading.isJSON || value.isPart, reading.isArgument, !value.isList,
                case .value(.string(let text)) = argument
            else { return argument }
            return .value(try Value(jsonArgument: text, for: value, interruption))
        }
        return .value(
            try argument.bounds(reading, comparedWith: value.name, interruption)[bound])
    }

    /// - Throws: `malformedPredicate` if the parameters have no value for an argument or variable.
    package func checkGiven(
        _ value: TypedValue, _ parameters: QueryParameters
    ) throws(LarderError) {
        try locating(value) { () throws(LarderError) in _ = try given(value, parameters) }
    }

    package func reading(_ value: TypedValue, _ parameters: QueryParameters) -> TextReading {
        var reading = parameters.reading(ofArgument: value.isArgument)
        reading.isJSON = value.isJSON && value.type == nil
        return reading
    }

    /// How a member of a JSON document is read that is compared with values.
    package func kind(
        comparedWith values: [TypedValue], _ parameters: QueryParameters,
        _ interruption: Interruption = .never
    ) throws(LarderError) -> MemberKind {
        var given: [Value] = []
        for value in values {
            // The elements of a list in a text are JSON.
            if value.isList, reading(value, parameters).isArgument { return .json }
            switch try argument(value, parameters, interruption) {
            case .value(let single): given.append(single)
            case .list(let elements): given += elements
            }
        }
        guard let first = values.first else { return .json }
        return try locating(first) { () throws(LarderError) in
            try MemberKind(comparedWith: given, named: first.name)
        }
    }

    private func given(
        _ value: TypedValue, _ parameters: QueryParameters
    ) throws(LarderError) -> QueryArgument {
        switch value.source {
        case .constant(let constant): return .value(constant)
        case .variable(let name):
            guard let variable = parameters.variables[name] else {
                throw LarderError(
                    .malformedPredicate, "there is no value for $\(LarderError.printable(name))",
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

    /// Adds the position of a value to an error.
    package func locating<Result>(
        _ value: TypedValue, _ body: () throws(LarderError) -> Result
    ) throws(LarderError) -> Result {
        do throws(LarderError) { return try body() } catch {
            guard let expression = value.source.expression else { throw error }
            throw sourceMaps.reduce(error) { $1.locating($0, at: expression) }
        }
    }

    // MARK: Conversion

    /// Checks a constant when a query is typed. Whether a date needs a time zone is decided when
    /// the query is run.
    package func check(_ constant: Value, for value: TypedValue) throws(LarderError) {
        _ = try typed(constant, for: value, TextReading(isArgument: false, assumesUTC: true))
    }

    /// Returns the value that the parameters supply, as its type.
    package func typed(
        _ value: TypedValue, _ parameters: QueryParameters
    ) throws(LarderError) -> Value {
        try locating(value) { () throws(LarderError) in
            try typed(self.value(value, parameters), for: value, reading(value, parameters))
        }
    }

    /// Returns a value as the type of the target: a number that equals it, a normalized string, an
    /// object.
    package func typed(
        _ value: Value, for target: TypedValue, _ reading: TextReading,
        _ interruption: Interruption = .never
    ) throws(LarderError) -> Value {
        if case .null = value { return .null }
        if target.isPart, target.type?.isString == true, value.attributeType != .string {
            return .null
        }
        let typed = try converted(value, for: target, reading, interruption)
        return target.isJSON ? typed.comparedJSON ?? typed : typed
    }

    private func converted(
        _ value: Value, for target: TypedValue, _ reading: TextReading,
        _ interruption: Interruption
    ) throws(LarderError) -> Value {
        switch target.type {
        case nil: return try natural(value, target, interruption)
        case .object:
            let identifier: PersistentIdentifier?
            do throws(LarderError) { identifier = try self.identifier(value) } catch {
                throw error.hinting(
                    at: value, asObjectOf: target.type, named: target.name, in: schema)
            }
            guard let identifier else { throw mismatch(value, target) }
            try check(identifier, for: target)
            return .object(identifier)
        case .attribute(let type):
            let read = try value.read(
                as: type, reading, comparedWith: target.name, interruption)
            guard let typed = try converted(read, to: type, target, interruption) else {
                throw mismatch(value, target)
            }
            if let operand = target.checkedOperand, case .string(let name) = typed {
                try operand.check(name)
            }
            return typed
        }
    }

    /// Returns the elements of a list that is one value, each as its type.
    func elements(
        of list: TypedValue, _ parameters: QueryParameters
    ) throws(LarderError) -> [Value] {
        try locating(list) { () throws(LarderError) in
            let reading = reading(list, parameters)
            let given = try argument(list, parameters).elements(reading, comparedWith: list.name)
            var elements: [Value] = []
            elements.reserveCapacity(given.count)
            for element in given { elements.append(try typed(element, for: list, reading)) }
            return elements
        }
    }

    /// A value that is only compared with another value, by its own type.
    private func natural(
        _ value: Value, _ target: TypedValue, _ interruption: Interruption
    ) throws(LarderError) -> Value {
        switch value {
        case .null, .bool, .date, .uuid, .url, .data, .json: return value
        case .int, .float, .double, .decimal: return try number(value, target)
        case .string(let string): return .string(string.normalized(interruption))
        case .object(let identifier):
            try check(identifier, for: target)
            return value
        case .objects: throw mismatch(value, target)
        }
    }

    /// Nil for a value of another kind.
    private func converted(
        _ value: Value, to type: AttributeType, _ target: TypedValue, _ interruption: Interruption
    ) throws(LarderError) -> Value? {
        switch (type, value) {
        case (.bool, .int(let integer)) where integer == 0 || integer == 1:
            .bool(integer == 1)
        case (.int16, _) where value.isNumber, (.int32, _) where value.isNumber,
            (.int64, _) where value.isNumber:
            try numberBesideIntegers(value, target)
        case (.float, _) where value.isNumber, (.double, _) where value.isNumber:
            .double(try double(value, isFloat: type == .float, target))
        case (.decimal, _) where value.isNumber: try decimal(value, target)
        case (.string, .string(let text)): .string(text.normalized(interruption))
        case (.bool, .bool), (.date, .date), (.uuid, .uuid), (.url, .url), (.data, .data),
            (.json, .json):
            value
        case (.json, _): value.comparedJSON
        default: nil
        }
    }

    // MARK: Objects

    /// The object that a value names, also by its URI or short identifier; nil if it names none.
    package func identifier(_ value: Value) throws(LarderError) -> PersistentIdentifier? {
        switch value {
        case .object(let identifier): identifier
        case .string(let text):
            if let store {
                try PersistentIdentifier(text: text, in: store)
            } else {
                try PersistentIdentifier(uriRepresentation: text)
            }
        default: nil
        }
    }

    /// The name of an object's entity in today's schema.
    package func currentName(of identifier: PersistentIdentifier) -> String {
        formerNames[identifier.entityName] ?? identifier.entityName
    }

    /// Checks that an object, which may have been deleted, is of the store.
    ///
    /// - Throws: `foreignIdentifier` for an identifier of another store and for a temporary one.
    package func checkStore(of identifier: PersistentIdentifier) throws(LarderError) {
        if !acceptsTemporaryObjects, identifier.permanentKey == nil || identifier.store == nil {
            throw LarderError(
                .foreignIdentifier, "a temporary identifier names no object of the store",
                hint: "use the identifier that the save gave", uri: identifier.uriRepresentation)
        }
        if let store, let other = identifier.store, other != store {
            throw LarderError(
                .foreignIdentifier, "the object belongs to another store",
                hint: "an identifier is good for the store that gave it",
                uri: identifier.uriRepresentation)
        }
    }

    /// Checks that an object can be that of the target.
    private func check(
        _ identifier: PersistentIdentifier, for target: TypedValue
    ) throws(LarderError) {
        try checkStore(of: identifier)
        if case .object(let entityName) = target.type,
            !schema.isKind(currentName(of: identifier), of: entityName)
        {
            throw LarderError(
                .wrongType,
                "\(target.name) is an object of \(entityName), "
                    + "not of \(identifier.entityName)", uri: identifier.uriRepresentation)
        }
    }

    package func mismatch(_ value: Value, _ target: TypedValue) -> LarderError {
        let wanted = target.type?.nounWithArticle ?? "a value"
        return LarderError(
            .wrongType,
            "\(target.name) is \(wanted) and cannot be compared with \(value.kindWithArticle)",
            hint: target.type == .attribute(.date) ? FormatHint.date : nil)
    }
}
