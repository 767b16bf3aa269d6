import FoundationEssentials

// What a query brings along takes the type of what it stands beside. Equal kinds pass; a number
// stays the number that it is; texts are read as `Value.read` says, and as an object's URI.

extension ExpressionTyper {
    /// What the query brings along: a constant, an argument, a variable of no SUBQUERY.
    func isLiteral(_ expression: QueryExpression) -> Bool {
        switch expression {
        case .constant, .argument: true
        case .variable(let name): variables[name] == nil
        default: false
        }
    }

    /// A literal as it was given.
    func given(
        _ expression: QueryExpression
    ) throws(LarderError) -> (argument: QueryArgument, isText: Bool) {
        let parameters = evaluator.parameters
        switch expression {
        case .constant(let value): return (.value(value), false)
        case .variable(let name):
            guard let argument = parameters.variables[name] else {
                throw LarderError(
                    .malformedPredicate, "there is no value for $\(name.prefix(32))",
                    hint: "a variable is given with the query, or named by a SUBQUERY around it")
            }
            return (argument, parameters.argumentsAreText)
        case .argument(let place):
            guard parameters.arguments.indices.contains(place) else {
                throw LarderError(
                    .malformedPredicate,
                    "the query takes more than the \(parameters.arguments.count) arguments "
                        + "that were given", hint: "give a value for each %@ and %K")
            }
            return (parameters.arguments[place], parameters.argumentsAreText)
        default: throw LarderError(.wrongType, "a value is needed here")
        }
    }

    func literal(
        _ expression: QueryExpression, as type: OperandType?, beside name: String
    ) throws(LarderError) -> TypedOperand {
        let (argument, isText) = try given(expression)
        guard case .value(let value) = argument else {
            throw LarderError(
                .wrongType, "\(name) cannot be compared with a list",
                hint: "a list that is an argument stands on the right side of IN or BETWEEN")
        }
        return TypedOperand(
            expression: .value(try typed(value, isText: isText, as: type, beside: name)),
            type: type, name: name)
    }

    func typed(
        _ value: Value, isText: Bool, as type: OperandType?, beside name: String
    ) throws(LarderError) -> Value {
        if value.isNull { return .null }
        switch type {
        case nil: return try untyped(value, beside: name)
        case .object:
            let identifier: PersistentIdentifier
            switch value {
            case .object(let object): identifier = object
            case .string(let text): identifier = try PersistentIdentifier(uriRepresentation: text)
            default: throw Self.mismatch(type, name)
            }
            try check(identifier, as: type, beside: name)
            return .object(identifier)
        case .attribute(let attributeType):
            let read = try value.read(as: attributeType, isText: isText, beside: name)
            return try attribute(read, attributeType, name)
        }
    }

    /// A value beside which nothing has a type.
    private func untyped(_ value: Value, beside name: String) throws(LarderError) -> Value {
        switch value {
        case .int, .float, .double, .decimal: return try number(value, name)
        case .string(let text): return .string(text.normalized)
        case .object(let identifier):
            try check(identifier, as: nil, beside: name)
            return value
        case .objects: throw Self.mismatch(nil, name)
        case .null, .bool, .date, .uuid, .url, .data, .json: return value
        }
    }

    private func check(
        _ identifier: PersistentIdentifier, as type: OperandType?, beside name: String
    ) throws(LarderError) {
        if let store = evaluator.store, let given = identifier.store, given != store {
            throw LarderError(
                .foreignIdentifier, "the object belongs to another store",
                uri: identifier.uriRepresentation)
        }
        guard evaluator.schema.entity(named: identifier.entityName) != nil else {
            throw LarderError(
                .unknownEntity, "there is no entity \"\(identifier.entityName.prefix(32))\"",
                uri: identifier.uriRepresentation)
        }
        if case .object(let entityName) = type,
            !evaluator.schema.isKind(identifier.entityName, of: entityName)
        {
            throw LarderError(
                .wrongType,
                "\(name) is an object of \(entityName), not of \(identifier.entityName)",
                uri: identifier.uriRepresentation)
        }
    }

    private func attribute(
        _ value: Value, _ type: AttributeType, _ name: String
    ) throws(LarderError) -> Value {
        switch (type, value) {
        case (.bool, .bool): return value
        case (.bool, .int(let integer)) where integer == 0 || integer == 1:
            return .bool(integer == 1)
        case (.int16, _), (.int32, _), (.int64, _):
            if value.isNumber { return try besideIntegers(try number(value, name), name) }
        case (.double, _): if value.isNumber { return .double(try double(value, name)) }
        case (.float, _):
            // A fraction meets a float as the float that it would be stored as.
            if value.isNumber {
                let double = try double(value, name)
                let float = Float(double)
                return .double(float.isFinite ? Double(float) : double)
            }
        case (.decimal, .decimal): return try number(value, name)
        case (.decimal, _): if value.isNumber { return try decimal(value, name) }
        case (.string, .string(let text)): return .string(text.normalized)
        case (.date, .date(let date)):
            guard date.timeIntervalSinceReferenceDate.isFinite else {
                throw LarderError(.wrongType, "\(name) takes a date within its range")
            }
            return value
        case (.uuid, .uuid), (.url, .url), (.data, .data), (.json, .json): return value
        default: break
        }
        throw Self.mismatch(.attribute(type), name)
    }

    private func number(_ value: Value, _ name: String) throws(LarderError) -> Value {
        let isNumber =
            switch value {
            case .double(let double): !double.isNaN
            case .float(let float): !float.isNaN
            case .decimal(let decimal): !decimal.isNaN
            default: true
            }
        guard isNumber else {
            throw LarderError(
                .malformedValue, "\(name) cannot be compared with what is not a number")
        }
        return value
    }

    /// What no double is equal to, no stored one is compared with: an index could not find it.
    private func double(_ value: Value, _ name: String) throws(LarderError) -> Double {
        var number = try number(value, name)
        if case .decimal(let decimal) = number, let integer = decimal.integer {
            number = .int(integer)
        }
        let exact: Double?
        if case .int(let integer) = number {
            exact = Double(exactly: integer)
        } else {
            exact = number.nearestDouble
        }
        guard let exact else {
            throw LarderError(
                .wrongType, "\(name) is a double, which cannot be that number exactly")
        }
        return exact
    }

    /// The fraction of a decimal is known beside integers as long as doubles have halves.
    private func besideIntegers(_ value: Value, _ name: String) throws(LarderError) -> Value {
        guard case .decimal(let decimal) = value, decimal.integer == nil else { return value }
        let halvesEnd = Decimal(Int64(1) << 52)
        let isBeyondIntegers =
            decimal >= Decimal(Int64.max) + 1 || decimal <= Decimal(Int64.min) - 1
        guard isBeyondIntegers || decimal.magnitude < halvesEnd else {
            throw LarderError(
                .wrongType, "\(name) cannot be compared with so large a number's fraction")
        }
        return value
    }

    /// A double stands for the shortest decimal that is this double: 9.99 is 9.99.
    private func decimal(_ value: Value, _ name: String) throws(LarderError) -> Value {
        guard let decimal = value.converted(to: .decimal) else {
            throw LarderError(.wrongType, "\(name) is a decimal and cannot be that number")
        }
        return decimal
    }

    private static func mismatch(_ type: OperandType?, _ name: String) -> LarderError {
        LarderError(
            .wrongType,
            "\(name) is \(type?.nounWithArticle ?? "a value") "
                + "and cannot be compared with what was given")
    }
}

extension Decimal {
    /// Nil unless it is an integer of 64 bits.
    fileprivate var integer: Int64? {
        let text = description
        return Int64(text.hasSuffix(".0") ? String(text.dropLast(2)) : text)
    }
}

extension Value {
    var isNumber: Bool {
        switch self {
        case .int, .float, .double, .decimal: true
        default: false
        }
    }

    /// The number as a double, rounded where it has none.
    var nearestDouble: Double? {
        switch self {
        case .int(let integer): Double(integer)
        case .float(let float): Double(float)
        case .double(let double): double
        case .decimal(let decimal): Double(decimal.description)
        default: nil
        }
    }
}
