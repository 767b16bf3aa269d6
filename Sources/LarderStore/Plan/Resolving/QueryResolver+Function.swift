import FoundationEssentials
import LarderModel

extension QueryResolver {
    /// A call of a scalar function. Its operands get the types of the function's signature.
    ///
    /// - Parameter wanted: The type of the operand with which the call is compared or combined.
    func function(
        _ function: ScalarFunction, _ expressions: [QueryExpression], in scope: ResolverScope,
        as wanted: OperandType?
    ) throws(LarderError) -> PlanOperand {
        let name = "the result of \(function.rawValue)"
        var kinds: [OperandKind] = []
        var resolved: [PlanOperand?] = []
        for (place, expression) in expressions.enumerated() {
            if function == .conditional, place == 0 {
                resolved.append(.predicate(try predicate(expression, in: scope)))
                kinds.append(.typed(.bool))
            } else if let kind = openKind(of: expression, in: scope) {
                resolved.append(nil)
                kinds.append(kind)
            } else {
                let operand = try operand(expression, in: scope)
                resolved.append(operand)
                kinds.append(try Self.kind(of: operand, function))
            }
        }
        let wantedType: AttributeType? =
            if case .attribute(let type) = wanted { type } else { nil }
        let signature = try function.signature(of: kinds, wanted: wantedType)
        var operands: [PlanOperand] = []
        for (place, type) in signature.operands.enumerated() {
            if let known = resolved[place] {
                operands.append(Self.adapted(known, to: type, for: function))
            } else {
                let operand = try operand(
                    expressions[place], in: scope, as: .attribute(type),
                    name: "an operand of \(function.rawValue)")
                let meaning = function.checkedOperand(at: place, of: expressions.count)
                operands.append(
                    try locating(expressions[place]) { () throws(LarderError) in
                        try checked(operand, as: meaning)
                    })
            }
        }
        let result = OperandType.attribute(signature.result)
        if let value = try folded(function, operands, signature) {
            return .value(PlanValue(source: .constant(value), type: result, name: name))
        }
        return .function(function, operands, result, name: name)
    }

    /// A value that must be a search text, or name a unit or a time zone. A constant is checked
    /// when the query is planned, an argument when it is run.
    private func checked(
        _ operand: PlanOperand, as checkedOperand: CheckedOperand?
    ) throws(LarderError) -> PlanOperand {
        guard let checkedOperand, case .value(var value) = operand else { return operand }
        value.checkedOperand = checkedOperand
        if case .constant(let constant) = value.source {
            try converter.locating(value) { () throws(LarderError) in
                try converter.check(constant, for: value)
            }
        }
        return .value(value)
    }

    /// An expression that takes the type of the other operand: a value of the query, or a
    /// computation of such values. Nil for an expression with a type of its own.
    func openKind(of expression: QueryExpression, in scope: ResolverScope) -> OperandKind? {
        switch expression {
        case .constant(let value): return .constant(value.attributeType)
        case .argument: return .argument
        case .variable: return isValue(expression, in: scope) ? .argument : nil
        case .function(let function, let operands):
            let typed = function.resultTypeOperands(operands)
            if typed.isEmpty { return nil }
            var kinds: [OperandKind] = []
            for operand in typed {
                guard let kind = openKind(of: operand, in: scope) else { return nil }
                kinds.append(kind)
            }
            return .combined(kinds)
        default: return nil
        }
    }

    private static func kind(
        of operand: PlanOperand, _ function: ScalarFunction
    ) throws(LarderError) -> OperandKind {
        if case .member = operand { return .member }
        guard case .attribute(let type) = operand.type else {
            throw LarderError(
                .wrongType, "\(operand.name) is an object, and \(function.rawValue) takes values")
        }
        return .typed(type)
    }

    /// An operand converted to the type of a function's parameter.
    private static func adapted(
        _ operand: PlanOperand, to type: AttributeType, for function: ScalarFunction
    ) -> PlanOperand {
        if case .member(var member) = operand {
            member.kind = type == .json ? .text : .attribute(type)
            return .member(member)
        }
        let isConverted =
            function.returnsOperand && operand.type?.isInteger == true
            && (type == .double || type == .decimal)
        return isConverted ? .converted(operand, .attribute(type)) : operand
    }

    /// The value of a function of constants; nil if an operand is not constant.
    private func folded(
        _ function: ScalarFunction, _ operands: [PlanOperand], _ signature: FunctionSignature
    ) throws(LarderError) -> Value? {
        guard function != .now else { return nil }
        var values: [Value] = []
        for (operand, type) in zip(operands, signature.operands) {
            guard case .value(let value) = operand, case .constant(let constant) = value.source
            else { return nil }
            // Whether a date needs a time zone is decided when the query is run.
            if type == .date, case .string = constant { return nil }
            let binding = try converter.binding(
                constant, for: value, TextReading(isArgument: false, assumesUTC: false))
            guard let stored = Value(stored: binding, as: type) else { return nil }
            values.append(stored)
        }
        return try function.value(of: values, now: Date(timeIntervalSinceReferenceDate: 0))
    }
}

extension Value {
    /// The value as one of the types in which functions compute; nil for other types.
    fileprivate init?(stored binding: SQLValue, as type: AttributeType) {
        switch (binding, type.widened) {
        case (.null, _): self = .null
        case (.integer(let integer), .int64): self = .int(integer)
        case (.integer(let integer), .bool): self = .bool(integer != 0)
        case (.real(let real), .double): self = .double(real)
        case (.real(let real), .date): self = .date(Date(timeIntervalSinceReferenceDate: real))
        case (.text(let text), .string): self = .string(text)
        case (.text(let text), .decimal):
            guard let decimal = Decimal(exactly: text) else { return nil }
            self = .decimal(decimal)
        default: return nil
        }
    }
}
