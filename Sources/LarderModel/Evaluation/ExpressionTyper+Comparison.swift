extension ExpressionTyper {
    mutating func comparison(_ comparison: Comparison) throws(LarderError) -> TypedPredicate {
        guard comparison.modifier != .direct else { return try direct(comparison) }
        let collection = try comparison.left.quantifiedCollection { side throws(LarderError) in
            try isCollection(side)
        }
        guard let collection else {
            throw LarderError(
                .wrongType, "ANY and ALL need a to-many key path on the left side")
        }
        return try quantified(comparison, over: collection)
    }

    private mutating func direct(_ comparison: Comparison) throws(LarderError) -> TypedPredicate {
        var equality = comparison
        equality.operator = .equal
        equality.modifier = .any
        if try isCollection(comparison.left), comparison.left != element?.collection {
            guard comparison.operator == .contains else {
                guard case .keyPath(let base, let names) = comparison.left else {
                    throw Self.notAValue
                }
                throw Self.needsModifier(try keyPath(base, names).name)
            }
            return try quantified(equality, over: comparison.left)
        }
        if comparison.operator == .in, try isCollection(comparison.right) {
            equality.left = comparison.right
            equality.right = comparison.left
            return try quantified(equality, over: comparison.right)
        }
        return try test(comparison)
    }

    /// Types a comparison that must hold for at least one element, or for all.
    private mutating func quantified(
        _ comparison: Comparison, over collection: QueryExpression
    ) throws(LarderError) -> TypedPredicate {
        let elements = try elements(of: collection)
        let slot = slotCount
        let operand = TypedOperand(
            expression: .object(slot: slot), type: elements.type, name: elements.name)
        let outer = element
        element = (collection, operand, elements.member)
        slotCount += 1
        defer {
            element = outer
            slotCount -= 1
        }
        let test = try test(comparison)
        return comparison.modifier == .all
            ? .all(elements.collection, slot: slot, test)
            : .any(elements.collection, slot: slot, test)
    }

    /// Types a comparison of single values.
    private mutating func test(_ comparison: Comparison) throws(LarderError) -> TypedPredicate {
        var expressions = [comparison.left]
        switch (comparison.operator, comparison.right) {
        case (.in, .list(let list)), (.between, .list(let list)):
            expressions += list
            if !comparison.needsStrings, expressions.allSatisfy(isLiteral) {
                guard expressions.contains(where: isTypedConstant) else {
                    throw comparison.needsKeyPath
                }
            }
        case (.in, let right) where isLiteral(right): return try listComparison(comparison)
        case (.between, .argument): return try listComparison(comparison)
        case (.between, .variable(let name)) where variables[name] == nil:
            return try listComparison(comparison)
        case (.in, _), (.between, _):
            throw LarderError(
                .wrongType, "\(comparison.operator.rawValue) needs a list on its right side",
                hint: "write the values in braces: {1, 2}")
        default: expressions.append(comparison.right)
        }
        let wanted: OperandType? = comparison.needsStrings ? .attribute(.string) : nil
        let sides = try operands(expressions, or: wanted)
        try comparison.check(sides.map { ($0.type, $0.name) }, in: evaluator.schema)
        let values = sides.map(\.expression)
        switch comparison.operator {
        case .in: return .in(values[0], Array(values.dropFirst()), comparison.options)
        case .between:
            guard values.count == 3 else {
                throw LarderError(.wrongType, "BETWEEN needs two values on its right side")
            }
            return .between(values[0], values[1], values[2], comparison.options)
        default:
            try checkLiterals(expressions, for: comparison)
            try checkPattern(comparison, values[1])
            return .comparison(
                TypedComparison(
                    left: values[0], operator: comparison.operator, right: values[1],
                    options: comparison.options))
        }
    }

    /// Types values that are compared with each other. Untyped ones take the type of the first
    /// typed one.
    ///
    /// - Parameter wanted: The type that the operator requires, if any.
    private mutating func operands(
        _ expressions: [QueryExpression], or wanted: OperandType?
    ) throws(LarderError) -> [TypedOperand] {
        var typed: TypedOperand?
        var known: [TypedOperand?] = []
        var memberCount = 0
        for (index, expression) in expressions.enumerated() {
            let operand: TypedOperand?
            do throws(LarderError) {
                if try isMember(expression) { memberCount += 1 }
                operand = try isUntyped(expression) ? nil : self.operand(expression)
            } catch {
                throw index == 0 ? error : error.hinting(atRightSide: expression)
            }
            // If one side is a decimal, all sides are compared as decimals.
            if typed == nil || operand?.type == .attribute(.decimal) { typed = operand ?? typed }
            known.append(operand)
        }
        guard memberCount < expressions.count else {
            throw LarderError(
                .wrongType,
                "the type of a member of \(try operand(expressions[0]).name) is unknown",
                hint: "compare it with a value or an attribute")
        }
        var wanted = wanted
        // A JSON member that is compared with literals only takes their type.
        var memberType = wanted
        if typed == nil, wanted == nil {
            memberType = try literalType(expressions)
            if expressions.allSatisfy(isLiteral) { wanted = memberType }
        }
        var result: [TypedOperand] = []
        for (expression, operand) in zip(expressions, known) {
            if let operand {
                result.append(operand)
            } else {
                var type = typed?.type ?? wanted
                if type == nil, !isLiteral(expression) { type = memberType }
                if type == nil, memberCount == 0 { type = try givenType(expression) }
                result.append(
                    try self.operand(
                        expression, as: type, comparedWith: typed?.name ?? "the other value"))
            }
        }
        return result
    }

    /// The type of a value that is not comparable with a computed number; nil for a number and for
    /// an argument as text.
    private func givenType(_ expression: QueryExpression) throws(LarderError) -> OperandType? {
        guard isLiteral(expression) else { return nil }
        let (argument, reading) = try suppliedArgument(expression)
        guard !reading.isArgument, case .value(let value) = argument else { return nil }
        switch value {
        case .int, .float, .double, .decimal: return nil
        default: return value.attributeType.map { .attribute($0) }
        }
    }

    /// The type of the first constant, or else of the first argument; nil if all are nil.
    private func literalType(
        _ expressions: [QueryExpression]
    ) throws(LarderError) -> OperandType? {
        let constants = expressions.filter { if case .constant = $0 { true } else { false } }
        // A decimal has digits that a double does not have.
        if constants.contains(where: { $0.isDecimal }) { return .attribute(.decimal) }
        for expression in constants + expressions where isLiteral(expression) {
            guard case .value(let value) = try suppliedArgument(expression).argument else {
                continue
            }
            if let type = value.attributeType { return .attribute(type) }
        }
        return nil
    }

    /// Rejects operators that are not allowed between two literals.
    private func checkLiterals(
        _ expressions: [QueryExpression], for comparison: Comparison
    ) throws(LarderError) {
        guard expressions.count == 2, expressions.allSatisfy(isLiteral) else { return }
        switch comparison.operator {
        case .equal, .notEqual, .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual:
            if comparison.options.subtracting(.normalized).isEmpty { return }
        default: break
        }
        throw comparison.needsKeyPath
    }

    private func isTypedConstant(_ expression: QueryExpression) -> Bool {
        if case .constant(let value) = expression { OperandType(of: value) != nil } else { false }
    }

    /// Reports an invalid MATCHES pattern before any object is read.
    private func checkPattern(
        _ comparison: Comparison, _ pattern: TypedExpression
    ) throws(LarderError) {
        guard comparison.operator == .matches else { return }
        var text = ""
        if case .value(.string(let pattern)) = pattern { text = pattern }
        _ = try evaluator.matches("", text, comparison.options)
    }

    /// Types `name IN %@` and `name BETWEEN %@`, where the argument is a list.
    private mutating func listComparison(_ comparison: Comparison) throws(LarderError)
        -> TypedPredicate
    {
        guard !isLiteral(comparison.left) else { throw comparison.needsKeyPath }
        let (argument, reading) = try suppliedArgument(comparison.right)
        var left = try operand(comparison.left)
        func values() throws(LarderError) -> [Value] {
            comparison.operator == .between
                ? try argument.bounds(reading, comparedWith: left.name)
                : try argument.elements(reading, comparedWith: left.name)
        }
        let given = try values()
        var type = left.type
        if try isMember(comparison.left) {
            // The member is read as the type of the list's elements; each element keeps its own
            // type.
            type = comparison.needsStrings ? .attribute(.string) : nil
            let kind = given.first { !$0.isNull }?.attributeType.map { OperandType.attribute($0) }
            left = try operand(comparison.left, as: type ?? kind)
        }
        try comparison.check([(type, left.name)], in: evaluator.schema)
        var typed: [Value] = []
        typed.reserveCapacity(given.count)
        for value in given {
            typed.append(try self.typed(value, reading, as: type, comparedWith: left.name))
        }
        return comparison.operator == .between
            ? .between(left.expression, .value(typed[0]), .value(typed[1]), comparison.options)
            : .inValues(left.expression, ValueList(typed, comparison.options))
    }

    /// Whether the expression is a member of a JSON document.
    private func isMember(_ expression: QueryExpression) throws(LarderError) -> Bool {
        guard case .keyPath = expression else { return false }
        return try isUntyped(expression)
    }
}
