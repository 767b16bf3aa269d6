extension ExpressionTyper {
    /// Whether the expression takes its type from what it is compared with.
    func isUntyped(_ expression: QueryExpression) throws(LarderError) -> Bool {
        if isLiteral(expression) { return true }
        if let element, element.collection == expression { return !element.member.isEmpty }
        switch expression {
        case .keyPath(let base, let names): return try !keyPath(base, names).member.isEmpty
        case .function(let function, let operands):
            let typed = function.resultTypeOperands(operands)
            if typed.isEmpty { return false }
            // JSON members alone do not determine a type; a typed operand among them does.
            for operand in typed {
                if case .keyPath = operand { return false }
                guard try isUntyped(operand) else { return false }
            }
            return true
        default: return false
        }
    }

    /// Types a key path whose end may be a JSON member, which is read as `type`.
    func member(_ path: KeyPath, as type: OperandType?) throws(LarderError) -> TypedOperand {
        try member(path.member, of: single(path), as: type)
    }

    /// Types a member of a document; with an empty path, the document itself.
    func member(
        _ path: [String], of document: TypedOperand, as type: OperandType?
    ) throws(LarderError) -> TypedOperand {
        guard !path.isEmpty else { return document }
        let read: AttributeType
        switch type {
        case .attribute(let attribute): read = attribute
        case .object:
            throw LarderError(.wrongType, "\(document.name) does not contain objects")
        case nil: read = .json
        }
        let kind: MemberKind =
            read.isInteger || read == .float || read == .double ? .number : .attribute(read)
        let isNumber = if case .number = kind { true } else { false }
        return TypedOperand(
            expression: .member(path, of: document.expression, kind),
            type: .attribute(isNumber ? .double : read), name: document.name)
    }

    /// Types a function call.
    ///
    /// - Parameter type: The type that the context requires.
    mutating func call(
        _ function: ScalarFunction, _ operands: [QueryExpression], as type: OperandType?
    ) throws(LarderError) -> TypedOperand {
        guard function.operandCount.contains(operands.count) else {
            throw LarderError(
                .malformedPredicate, "\(function.rawValue) does not take \(operands.count) operands"
            )
        }
        var known: [TypedOperand?] = []
        var kinds: [OperandKind] = []
        for (index, operand) in operands.enumerated() {
            if function == .conditional, index == 0 {
                let test = TypedExpression.truth(try predicate(operand))
                known.append(TypedOperand(expression: test, type: .attribute(.bool), name: ""))
                kinds.append(.typed(.bool))
            } else if try isUntyped(operand) {
                known.append(nil)
                kinds.append(try kind(ofUntyped: operand))
            } else {
                let typed = try self.operand(operand)
                guard case .attribute(let attribute) = typed.type else {
                    throw LarderError(.wrongType, "\(function.rawValue) does not take objects")
                }
                known.append(typed)
                kinds.append(.typed(attribute))
            }
        }
        var wanted: AttributeType?
        if case .attribute(let attribute) = type { wanted = attribute }
        let signature = try function.signature(of: kinds, wanted: wanted)
        var expressions: [TypedExpression] = []
        for (index, operand) in operands.enumerated() {
            let type = signature.operands[index]
            var typed: TypedOperand
            if let operand = known[index] {
                typed = operand
            } else {
                typed = try self.operand(
                    operand, as: .attribute(type), comparedWith: function.rawValue)
                if case .value(let value) = typed.expression {
                    typed.expression = .value(
                        try checked(
                            value, as: type,
                            function.checkedOperand(at: index, of: operands.count), of: function))
                }
            }
            expressions.append(
                function.returnsOperand ? typed.converted(to: type) : typed.expression)
        }
        return TypedOperand(
            expression: .function(function, expressions), type: .attribute(signature.result),
            name: function.rawValue)
    }

    /// Checks a literal that is an operand: an integer has no fraction, a unit or a time zone
    /// exists, and a search text is one.
    private func checked(
        _ value: Value, as type: AttributeType, _ checkedOperand: CheckedOperand?,
        of function: ScalarFunction
    ) throws(LarderError) -> Value {
        switch value {
        case .string(let name):
            try checkedOperand?.check(name)
            return value
        case .float, .double, .decimal:
            guard type.isInteger else { return value }
            if case .decimal(let decimal) = value, let integer = decimal.integer {
                return .int(integer)
            }
            throw LarderError(
                .wrongType,
                "an operand of \(function.rawValue) is an integer, and a number with a fraction "
                    + "was given",
                hint: "multiply by 1.0, as in 1.0 * …, to compute with fractions")
        default: return value
        }
    }

    private func kind(ofUntyped expression: QueryExpression) throws(LarderError) -> OperandKind {
        switch expression {
        case .constant(let value): return .constant(value.attributeType)
        case .keyPath: return .member
        case .function(let function, let operands):
            var kinds: [OperandKind] = []
            for operand in function.resultTypeOperands(operands) {
                kinds.append(try kind(ofUntyped: operand))
            }
            return .combined(kinds)
        default: return .argument
        }
    }
}

extension TypedOperand {
    /// The operand converted to the type of the function's parameter.
    func converted(to type: AttributeType) -> TypedExpression {
        type == .double || type == .decimal ? .converted(expression, type) : expression
    }
}
