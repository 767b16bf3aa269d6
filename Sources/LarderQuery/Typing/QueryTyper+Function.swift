import FoundationEssentials
import LarderModel

extension QueryTyper {
    /// A call of a scalar function. Its operands get the types of the function's signature.
    ///
    /// - Parameter wanted: The type of the operand with which the call is compared or combined.
    func function(
        _ function: ScalarFunction, _ expressions: [QueryExpression], as wanted: OperandType?
    ) throws(LarderError) -> TypedOperand {
        let name = "the result of \(function.name)"
        var kinds: [OperandKind] = []
        var typed: [TypedOperand?] = []
        for (index, expression) in expressions.enumerated() {
            if function == .conditional, index == 0 {
                typed.append(.predicate(try predicate(expression)))
                kinds.append(.typed(.bool))
            } else if let kind = openKind(of: expression) {
                typed.append(nil)
                kinds.append(kind)
            } else {
                let operand = try operand(expression)
                typed.append(operand)
                kinds.append(try Self.kind(of: operand, function))
            }
        }
        let wantedType: AttributeType? =
            if case .attribute(let type) = wanted { type } else { nil }
        let signature = try signature(of: function, kinds, expressions, as: wantedType)
        var operands: [TypedOperand] = []
        for (index, type) in signature.operands.enumerated() {
            if let known = typed[index] {
                operands.append(Self.adapted(known, to: type, for: function))
            } else {
                let operand = try operand(
                    expressions[index], as: .attribute(type),
                    name: "an operand of \(function.name)")
                let meaning = function.checkedOperand(at: index, of: expressions.count)
                operands.append(
                    try locating(expressions[index]) { () throws(LarderError) in
                        try checked(operand, as: meaning)
                    })
            }
        }
        let result = OperandType.attribute(signature.result)
        if let value = try folded(function, operands, signature) {
            return .value(TypedValue(source: .constant(value), type: result, name: name))
        }
        return .function(function, operands, result, name: name)
    }

    /// The types of a call. An argument takes the type of the other operands. Its own type decides,
    /// as that of a constant, if no other operand has one, and beside integers, because a fraction
    /// makes them doubles.
    private func signature(
        of function: ScalarFunction, _ kinds: [OperandKind], _ expressions: [QueryExpression],
        as wanted: AttributeType?
    ) throws(LarderError) -> FunctionSignature {
        let deciding = function.resultTypeOperands(expressions)
        guard deciding.contains(where: { openKind(of: $0) == .argument }) else {
            return try function.signature(of: kinds, wanted: wanted)
        }
        let open = try? function.signature(of: kinds, wanted: wanted)
        if let open, !open.result.isInteger { return open }
        let given = zip(kinds, expressions).map { kind, expression in
            kind == .argument ? openKind(of: expression, decides: true) ?? kind : kind
        }
        return try function.signature(of: given, wanted: wanted)
    }

    /// A value that must be a search text, or name a unit or a time zone. A constant is checked
    /// when the query is typed, an argument when it is run.
    private func checked(
        _ operand: TypedOperand, as checkedOperand: CheckedOperand?
    ) throws(LarderError) -> TypedOperand {
        guard let checkedOperand, case .value(var value) = operand else { return operand }
        value.checkedOperand = checkedOperand
        if case .constant(let constant) = value.source {
            try conversion.check(constant, for: value)
        }
        return .value(value)
    }

    /// An expression that takes the type of the other operand: a value of the query, or a
    /// computation of such values. Nil for an expression with a type of its own.
    ///
    /// - Parameter decides: Whether an argument has the type of its value.
    func openKind(of expression: QueryExpression, decides: Bool = false) -> OperandKind? {
        switch expression {
        case .constant(let value): return .constant(value.attributeType)
        case .argument(let index):
            return decides ? source.decidingKind(of: .argument(index)) : .argument
        case .variable(let name):
            guard isValue(expression) else { return nil }
            return decides ? source.decidingKind(of: .variable(name)) : .argument
        case .function(let function, let operands):
            let typed = function.resultTypeOperands(operands)
            if typed.isEmpty { return nil }
            var kinds: [OperandKind] = []
            for operand in typed {
                guard let kind = openKind(of: operand, decides: decides) else { return nil }
                kinds.append(kind)
            }
            return .combined(kinds)
        default: return nil
        }
    }

    private static func kind(
        of operand: TypedOperand, _ function: ScalarFunction
    ) throws(LarderError) -> OperandKind {
        if operand.member != nil { return .member }
        guard case .attribute(let type) = operand.type else {
            throw LarderError(
                .wrongType, "\(operand.name) is an object, and \(function.name) takes values")
        }
        return .typed(type)
    }

    /// An operand converted to the type of a function's parameter.
    private static func adapted(
        _ operand: TypedOperand, to type: AttributeType, for function: ScalarFunction
    ) -> TypedOperand {
        if operand.member != nil {
            return operand.reading(as: type == .json ? .json : .attribute(type))
        }
        let isConverted =
            function.returnsOperand && operand.type?.isInteger == true
            && (type == .double || type == .decimal)
        return isConverted ? .converted(operand, .attribute(type)) : operand
    }

    /// The value of a function of constants; nil if an operand is not constant.
    private func folded(
        _ function: ScalarFunction, _ operands: [TypedOperand], _ signature: FunctionSignature
    ) throws(LarderError) -> Value? {
        guard function != .now else { return nil }
        var values: [Value] = []
        for (operand, type) in zip(operands, signature.operands) {
            guard case .value(let value) = operand, case .constant(let constant) = value.source
            else { return nil }
            // Whether a date needs a time zone is decided when the query is run.
            if type == .date, case .string = constant { return nil }
            let typed = try conversion.typed(
                constant, for: value, TextReading(isArgument: false, assumesUTC: false))
            guard typed.isComputed(as: type) else { return nil }
            values.append(typed)
        }
        return try function.value(of: values, now: Date(timeIntervalSinceReferenceDate: 0))
    }
}

extension Value {
    /// Whether it is nil, or of one of the types in which functions compute.
    fileprivate func isComputed(as type: AttributeType) -> Bool {
        switch (self, type.widened) {
        case (.null, _), (.int, .int64), (.bool, .bool), (.double, .double), (.date, .date),
            (.string, .string), (.decimal, .decimal):
            true
        default: false
        }
    }
}
