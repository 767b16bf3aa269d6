extension ExpressionTyper {
    /// Whether only what it stands beside can tell the type of an expression.
    func isOpen(_ expression: QueryExpression) throws(LarderError) -> Bool {
        if isLiteral(expression) { return true }
        if let element, element.collection == expression { return !element.member.isEmpty }
        switch expression {
        case .keyPath(let base, let names): return try !keyPath(base, names).member.isEmpty
        case .function(let function, let operands):
            let typed = function.operandsOfResult(operands)
            if typed.isEmpty { return false }
            // Among members alone nothing tells; a value beside them does.
            for operand in typed {
                if case .keyPath = operand { return false }
                guard try isOpen(operand) else { return false }
            }
            return true
        default: return false
        }
    }

    /// A key path that may lead into a JSON document, whose member is read as the type.
    func member(_ path: KeyPath, as type: OperandType?) throws(LarderError) -> TypedOperand {
        try member(path.member, of: single(path), as: type)
    }

    /// The same of a document; without a path it is what is there.
    func member(
        _ path: [String], of document: TypedOperand, as type: OperandType?
    ) throws(LarderError) -> TypedOperand {
        guard !path.isEmpty else { return document }
        let read: AttributeType
        switch type {
        case .attribute(let attribute): read = attribute
        case .object:
            throw LarderError(.wrongType, "\(document.name) holds no objects")
        case nil: read = .json
        }
        let kind: MemberKind =
            read.isInteger || read == .float || read == .double ? .number : .attribute(read)
        let isNumber = if case .number = kind { true } else { false }
        return TypedOperand(
            expression: .member(path, of: document.expression, kind),
            type: .attribute(isNumber ? .double : read), name: document.name)
    }

    /// A call of a function.
    ///
    /// - Parameter type: What its place asks for.
    mutating func call(
        _ function: ScalarFunction, _ operands: [QueryExpression], as type: OperandType?
    ) throws(LarderError) -> TypedOperand {
        guard function.operandCount.contains(operands.count) else {
            throw LarderError(
                .malformedPredicate, "\(function.rawValue) takes another number of operands")
        }
        var known: [TypedOperand?] = []
        var kinds: [OperandKind] = []
        for (place, operand) in operands.enumerated() {
            if function == .conditional, place == 0 {
                let test = TypedExpression.truth(try predicate(operand))
                known.append(TypedOperand(expression: test, type: .attribute(.bool), name: ""))
                kinds.append(.typed(.bool))
            } else if try isOpen(operand) {
                known.append(nil)
                kinds.append(try kind(ofOpen: operand))
            } else {
                let typed = try self.operand(operand)
                guard case .attribute(let attribute) = typed.type else {
                    throw LarderError(.wrongType, "\(function.rawValue) takes no objects")
                }
                known.append(typed)
                kinds.append(.typed(attribute))
            }
        }
        var wanted: AttributeType?
        if case .attribute(let attribute) = type { wanted = attribute }
        let signature = try function.signature(of: kinds, wanted: wanted)
        var expressions: [TypedExpression] = []
        for (place, operand) in operands.enumerated() {
            let type = signature.operands[place]
            let typed: TypedOperand
            if let operand = known[place] {
                typed = operand
            } else {
                typed = try self.operand(
                    operand, as: .attribute(type), beside: function.rawValue)
            }
            expressions.append(
                function.givesOperand ? typed.converted(to: type) : typed.expression)
        }
        return TypedOperand(
            expression: .function(function, expressions), type: .attribute(signature.result),
            name: function.rawValue)
    }

    private func kind(ofOpen expression: QueryExpression) throws(LarderError) -> OperandKind {
        switch expression {
        case .constant(let value): .constant(value.attributeType)
        case .keyPath: .member
        default: .argument
        }
    }
}

extension TypedOperand {
    /// The operand as a function takes it.
    func converted(to type: AttributeType) -> TypedExpression {
        type == .double || type == .decimal ? .converted(expression, type) : expression
    }
}
