import FoundationEssentials
import LarderModel

/// Gives the values of a query the type of what they are compared with, as SQLite takes them.
///
/// Equal kinds pass; numbers are taken where they are the same number there; a text is read as a
/// date, UUID, URL, decimal, data or an object's URI where one of these is wanted, and, if
/// arguments come as text, as a number or bool as well. All else is `wrongType`. Numbers are not
/// held to the range of an attribute's type: an int16 may well be compared with 100000.
struct ValueConverter: Sendable {
    let storeIdentifier: UUID
    let schema: Schema
    /// Where the values stand in the query's texts, so that errors point at them.
    var places: [FormatPlaces] = []

    func binding(
        _ value: PlanValue, _ parameters: QueryParameters
    ) throws(LarderError) -> SQLBinding {
        try locating(value) { () throws(LarderError) in
            try binding(
                try self.value(value, parameters), for: value, isText: isText(value, parameters))
        }
    }

    func isText(_ value: PlanValue, _ parameters: QueryParameters) -> Bool {
        value.isArgument && parameters.argumentsAreText
    }

    func value(_ value: PlanValue, _ parameters: QueryParameters) throws(LarderError) -> Value {
        try locating(value) { () throws(LarderError) in
            switch try argument(value, parameters) {
            case .value(let single): return single
            case .list:
                throw LarderError(
                    .wrongType, "\(value.name) cannot be compared with a list",
                    hint: "a list that is an argument stands on the right side of IN or BETWEEN")
            }
        }
    }

    func locating<Result>(
        _ value: PlanValue, _ body: () throws(LarderError) -> Result
    ) throws(LarderError) -> Result {
        do throws(LarderError) { return try body() } catch {
            guard let expression = value.source.expression else { throw error }
            throw places.reduce(error) { $1.locating($0, at: expression) }
        }
    }

    func argument(
        _ value: PlanValue, _ parameters: QueryParameters
    ) throws(LarderError) -> QueryArgument {
        let argument = try given(value, parameters)
        guard let bound = value.bound else { return argument }
        let isText = isText(value, parameters)
        return .value(try argument.bounds(isText: isText, beside: value.name)[bound])
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
        case .argument(let place):
            guard parameters.arguments.indices.contains(place) else {
                throw LarderError(
                    .malformedPredicate,
                    "the query takes at least \(place + 1) arguments, and "
                        + "\(parameters.arguments.count) were given",
                    hint: "give a value for each %@ and %K")
            }
            return parameters.arguments[place]
        case .place(let place):
            precondition(place < parameters.after.count, "the plan has checked their number")
            return .value(parameters.after[place])
        }
    }

    func binding(
        _ value: Value, for place: PlanValue, isText: Bool
    ) throws(LarderError) -> SQLBinding {
        if case .null = value { return .null }
        switch place.type {
        case nil: return try naturalBinding(value, for: place)
        case .object:
            guard let identifier = try Self.identifier(value) else { throw mismatch(value, place) }
            return .integer(try key(of: identifier, for: place))
        case .attribute(let type):
            let typed = try value.read(as: type, isText: isText, beside: place.name)
            guard let binding = try storedBinding(typed, type, place) else {
                throw mismatch(value, place)
            }
            return binding
        }
    }

    /// The object that a value names, by a URI too; nil if it names none.
    static func identifier(_ value: Value) throws(LarderError) -> PersistentIdentifier? {
        switch value {
        case .object(let identifier): identifier
        case .string(let text): try PersistentIdentifier(uriRepresentation: text)
        default: nil
        }
    }

    func identifier(
        _ value: PlanValue, _ parameters: QueryParameters
    ) throws(LarderError) -> PersistentIdentifier? {
        try Self.identifier(try self.value(value, parameters))
    }

    /// Where it is found of which entity an object is; nil where the type tells, or is no object's.
    func entityTable(of type: OperandType?) -> String? {
        guard case .object(let name)? = type, schema.hasSubentities(name) else { return nil }
        return schema.entity(named: name).map { schema.root(of: $0).name }
    }

    private func storedBinding(
        _ value: Value, _ type: AttributeType, _ place: PlanValue
    ) throws(LarderError) -> SQLBinding? {
        switch type {
        case .bool:
            switch value {
            case .bool(let bool): return .integer(bool ? 1 : 0)
            case .int(let integer) where integer == 0 || integer == 1: return .integer(integer)
            default: return nil
            }
        case .int16, .int32, .int64: return try numberBesideIntegers(value, place)
        case .float, .double:
            guard let number = try number(value, place) else { return nil }
            return try floating(number, isFloat: type == .float, place)
        case .decimal: return try decimal(value, place).map { .text($0) }
        case .string, .date, .uuid, .url, .data, .json:
            guard Self.isSameKind(value, type) else { return nil }
            return try SQLBinding(storing: value, as: type, named: place.name)
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

    /// The key of an object of this store, which need not exist any more.
    func key(
        of identifier: PersistentIdentifier, for place: PlanValue
    ) throws(LarderError) -> Int64 {
        let key = try key(of: identifier)
        if case .object(let entityName) = place.type,
            !schema.isKind(identifier.entityName, of: entityName)
        {
            throw LarderError(
                .wrongType,
                "\(place.name) is an object of \(entityName), "
                    + "not of \(identifier.entityName)", uri: identifier.uriRepresentation)
        }
        return key
    }

    /// - Throws: `foreignIdentifier` for another store's and for a temporary one, `unknownEntity`.
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

    func mismatch(_ value: Value, _ place: PlanValue) -> LarderError {
        let wanted = place.type?.nounWithArticle ?? "a value"
        return LarderError(
            .wrongType,
            "\(place.name) is \(wanted) and cannot be compared with \(value.kindWithArticle)")
    }
}
