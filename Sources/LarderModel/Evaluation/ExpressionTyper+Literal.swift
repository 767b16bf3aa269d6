import FoundationEssentials

// Literals take the type of the value they are compared with. Values of that type are used as they
// are, numbers keep their value, text is converted by `Value.read` or read as the URI of an object.

extension ExpressionTyper {
    /// Whether the expression is a constant, an argument, or a variable that no SUBQUERY declares.
    func isLiteral(_ expression: QueryExpression) -> Bool {
        switch expression {
        case .constant, .argument: true
        case .variable(let name): variables[name] == nil
        default: false
        }
    }

    /// The value of a literal as the query supplies it.
    func suppliedArgument(
        _ expression: QueryExpression
    ) throws(LarderError) -> (argument: QueryArgument, reading: TextReading) {
        let parameters = evaluator.parameters
        switch expression {
        case .constant(let value): return (.value(value), parameters.reading(ofArgument: false))
        case .variable(let name):
            guard let argument = parameters.variables[name] else {
                throw LarderError(
                    .malformedPredicate, "no value for $\(name.prefix(32))",
                    hint: "pass the variable with the query, or declare it in a SUBQUERY")
            }
            return (argument, parameters.reading(ofArgument: true))
        case .argument(let index):
            guard parameters.arguments.indices.contains(index) else {
                throw LarderError(
                    .malformedPredicate,
                    "the query uses more than the \(parameters.arguments.count) arguments passed",
                    hint: "pass one value for each %@ and %K")
            }
            return (parameters.arguments[index], parameters.reading(ofArgument: true))
        default: throw LarderError(.wrongType, "expected a value")
        }
    }

    func literal(
        _ expression: QueryExpression, as type: OperandType?, comparedWith name: String
    ) throws(LarderError) -> TypedOperand {
        let (argument, reading) = try suppliedArgument(expression)
        guard case .value(let value) = argument else {
            throw LarderError(
                .wrongType, "\(name) cannot be compared with a list",
                hint: "a list argument is allowed on the right side of IN and BETWEEN only")
        }
        return TypedOperand(
            expression: .value(try typed(value, reading, as: type, comparedWith: name)),
            type: type, name: name)
    }

    func typed(
        _ value: Value, _ reading: TextReading, as type: OperandType?, comparedWith name: String
    ) throws(LarderError) -> Value {
        if value.isNull { return .null }
        switch type {
        case nil: return try untyped(value, comparedWith: name)
        case .object:
            let identifier: PersistentIdentifier
            switch value {
            case .object(let object): identifier = object
            case .string(let text):
                do throws(LarderError) {
                    identifier =
                        if let store = evaluator.store {
                            try PersistentIdentifier(text: text, in: store)
                        } else {
                            try PersistentIdentifier(uriRepresentation: text)
                        }
                } catch {
                    throw error.hinting(
                        at: value, asObjectOf: type, named: name, in: evaluator.schema)
                }
            default: throw Self.mismatch(type, name)
            }
            try check(identifier, as: type, comparedWith: name)
            return .object(identifier)
        case .attribute(let attributeType):
            let read = try value.read(as: attributeType, reading, comparedWith: name)
            return try attribute(read, attributeType, name)
        }
    }

    /// Checks a value that is compared with nothing that has a type.
    private func untyped(_ value: Value, comparedWith name: String) throws(LarderError) -> Value {
        switch value {
        case .int, .float, .double, .decimal: return try number(value, name)
        case .string(let text): return .string(text.normalized)
        case .object(let identifier):
            try check(identifier, as: nil, comparedWith: name)
            return value
        case .objects: throw Self.mismatch(nil, name)
        case .null, .bool, .date, .uuid, .url, .data, .json: return value
        }
    }

    private func check(
        _ identifier: PersistentIdentifier, as type: OperandType?, comparedWith name: String
    ) throws(LarderError) {
        if let store = evaluator.store, let given = identifier.store, given != store {
            throw LarderError(
                .foreignIdentifier, "the object belongs to another store",
                uri: identifier.uriRepresentation)
        }
        guard evaluator.schema.entity(named: identifier.entityName) != nil else {
            var error = LarderError.unknownEntity(
                identifier.entityName, in: evaluator.schema)
            error.uri = identifier.uriRepresentation
            throw error
        }
        if case .object(let entityName) = type,
            !evaluator.schema.isKind(identifier.entityName, of: entityName)
        {
            throw LarderError(
                .wrongType,
                "\(name) takes an object of \(entityName), not of \(identifier.entityName)",
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
            if value.isNumber { return try comparableWithIntegers(try number(value, name), name) }
        case (.double, _): if value.isNumber { return .double(try double(value, name)) }
        case (.float, _):
            // A float property is compared with the fraction rounded to a float, as it would be
            // stored.
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
                throw LarderError(.wrongType, "\(name) takes a finite date")
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
                .malformedValue, "\(name) cannot be compared with NaN")
        }
        return value
    }

    /// The number as a double. A number without an exact double is rejected, because an index
    /// lookup could not find it.
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
                .wrongType, "\(name) is a double, which cannot represent that number exactly")
        }
        return exact
    }

    /// Rejects decimals whose fraction is lost in a comparison with integers: doubles of 2^52 and
    /// more have no fractions.
    private func comparableWithIntegers(_ value: Value, _ name: String) throws(LarderError) -> Value
    {
        guard case .decimal(let decimal) = value, decimal.integer == nil else { return value }
        let halvesEnd = Decimal(Int64(1) << 52)
        let isBeyondIntegers =
            decimal >= Decimal(Int64.max) + 1 || decimal <= Decimal(Int64.min) - 1
        guard isBeyondIntegers || decimal.magnitude < halvesEnd else {
            throw LarderError(
                .wrongType,
                "\(name) cannot be compared with a fraction of that many digits")
        }
        return value
    }

    /// Converts a number to a decimal. A double becomes the decimal of its shortest text: 9.99
    /// becomes 9.99.
    private func decimal(_ value: Value, _ name: String) throws(LarderError) -> Value {
        guard let decimal = value.converted(to: .decimal) else {
            throw LarderError(
                .wrongType, "\(name) is a decimal, which cannot represent that number")
        }
        return decimal
    }

    private static func mismatch(_ type: OperandType?, _ name: String) -> LarderError {
        LarderError(
            .wrongType,
            "\(name) is \(type?.nounWithArticle ?? "a value") "
                + "and cannot be compared with the given value",
            hint: type == .attribute(.date) ? FormatHint.date : nil)
    }
}

extension Decimal {
    /// The decimal as a 64-bit integer; nil if it is not one.
    var integer: Int64? {
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

    /// The nearest double of a number; nil for other values.
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
