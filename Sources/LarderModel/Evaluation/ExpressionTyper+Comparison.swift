extension ExpressionTyper {
    mutating func comparison(_ comparison: Comparison) throws(LarderError) -> TypedPredicate {
        guard comparison.modifier != .direct else { return try direct(comparison) }
        let collection = try comparison.left.quantifiedCollection { side throws(LarderError) in
            try isCollection(side)
        }
        guard let collection else {
            throw LarderError(
                .wrongType, "ANY and ALL need a key path to many objects on the left side")
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
                    throw Self.isNoValue
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

    /// What is said of elements: of any one, or of all.
    private mutating func quantified(
        _ comparison: Comparison, over collection: QueryExpression
    ) throws(LarderError) -> TypedPredicate {
        let elements = try elements(of: collection)
        let place = placeCount
        let operand = TypedOperand(
            expression: .object(place: place), type: elements.type, name: elements.name)
        let outer = element
        element = (collection, operand, elements.member)
        placeCount += 1
        defer {
            element = outer
            placeCount -= 1
        }
        let test = try test(comparison)
        return comparison.modifier == .all
            ? .all(elements.collection, place: place, test)
            : .any(elements.collection, place: place, test)
    }

    /// The comparison of single values.
    private mutating func test(_ comparison: Comparison) throws(LarderError) -> TypedPredicate {
        var expressions = [comparison.left]
        switch (comparison.operator, comparison.right) {
        case (.in, .list(let list)), (.between, .list(let list)): expressions += list
        case (.in, let right) where isLiteral(right): return try besideList(comparison)
        case (.between, .argument): return try besideList(comparison)
        case (.between, .variable(let name)) where variables[name] == nil:
            return try besideList(comparison)
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

    /// What is compared with each other: what is open takes the type of the first that has one.
    ///
    /// - Parameter wanted: The type that the operator asks for, if it does.
    private mutating func operands(
        _ expressions: [QueryExpression], or wanted: OperandType?
    ) throws(LarderError) -> [TypedOperand] {
        var typed: TypedOperand?
        var known: [TypedOperand?] = []
        for expression in expressions {
            let operand = try isOpen(expression) ? nil : self.operand(expression)
            // Among decimals all are decimals.
            if typed == nil || operand?.type == .attribute(.decimal) { typed = operand ?? typed }
            known.append(operand)
        }
        var wanted = wanted
        // A member of a JSON document beside literals alone is of their kind.
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
                let type = typed?.type ?? wanted ?? (isLiteral(expression) ? nil : memberType)
                result.append(
                    try self.operand(
                        expression, as: type, beside: typed?.name ?? "the other value"))
            }
        }
        return result
    }

    /// The type that the first constant has by itself, or else the first argument; nil if all are
    /// nil.
    private func literalType(
        _ expressions: [QueryExpression]
    ) throws(LarderError) -> OperandType? {
        let constants = expressions.filter { if case .constant = $0 { true } else { false } }
        for expression in constants + expressions where isLiteral(expression) {
            guard case .value(let value) = try given(expression).argument else { continue }
            if let type = value.attributeType { return .attribute(type) }
        }
        return nil
    }

    /// Literals alone have no operators but these.
    private func checkLiterals(
        _ expressions: [QueryExpression], for comparison: Comparison
    ) throws(LarderError) {
        guard expressions.count == 2, expressions.allSatisfy(isLiteral) else { return }
        switch comparison.operator {
        case .equal, .notEqual, .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual:
            if comparison.options.subtracting(.normalized).isEmpty { return }
        default: break
        }
        throw LarderError(
            .unsupported, "\(comparison.operator.rawValue) needs a key path on one side")
    }

    /// What is wrong with the pattern of MATCHES is said before any object is asked.
    private func checkPattern(
        _ comparison: Comparison, _ pattern: TypedExpression
    ) throws(LarderError) {
        guard comparison.operator == .matches else { return }
        var text = ""
        if case .value(.string(let pattern)) = pattern { text = pattern }
        _ = try evaluator.matches("", text, comparison.options)
    }

    /// `name IN %@` and `name BETWEEN %@`, where the argument is a list.
    private mutating func besideList(_ comparison: Comparison) throws(LarderError) -> TypedPredicate
    {
        guard !isLiteral(comparison.left) else {
            throw LarderError(
                .unsupported, "\(comparison.operator.rawValue) needs a key path on one side")
        }
        let (argument, isText) = try given(comparison.right)
        var left = try operand(comparison.left)
        func values() throws(LarderError) -> [Value] {
            comparison.operator == .between
                ? try argument.bounds(isText: isText, beside: left.name)
                : try argument.elements(isText: isText, beside: left.name)
        }
        let given = try values()
        var type = left.type
        if try isMember(comparison.left) {
            // It is read as what the list holds, of which each value is what it is.
            type = comparison.needsStrings ? .attribute(.string) : nil
            let kind = given.first { !$0.isNull }?.attributeType.map { OperandType.attribute($0) }
            left = try operand(comparison.left, as: type ?? kind)
        }
        try comparison.check([(type, left.name)], in: evaluator.schema)
        var typed: [TypedExpression] = []
        for value in given {
            typed.append(
                .value(try self.typed(value, isText: isText, as: type, beside: left.name)))
        }
        return comparison.operator == .between
            ? .between(left.expression, typed[0], typed[1], comparison.options)
            : .in(left.expression, typed, comparison.options)
    }

    /// Whether it is a member of a JSON document.
    private func isMember(_ expression: QueryExpression) throws(LarderError) -> Bool {
        guard case .keyPath = expression else { return false }
        return try isOpen(expression)
    }
}
