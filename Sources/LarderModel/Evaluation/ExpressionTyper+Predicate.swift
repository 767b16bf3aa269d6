extension ExpressionTyper {
    /// Types an expression that must be true or false.
    mutating func predicate(_ expression: QueryExpression) throws(LarderError) -> TypedPredicate {
        switch expression {
        case _ where isLiteral(expression):
            let value = try literal(
                expression, as: .attribute(.bool), comparedWith: "a predicate")
            return .isTrue(value.expression)
        case .comparison(let comparison): return try self.comparison(comparison)
        case .typeTest(let operand, let name): return try typeTest(of: operand, name)
        case .and(let parts): return .and(try predicates(parts))
        case .or(let parts): return .or(try predicates(parts))
        case .not(let part): return .not(try predicate(part))
        case .keyPath, .function:
            let operand = try operand(
                expression, as: .attribute(.bool), comparedWith: "a predicate")
            guard operand.type == .attribute(.bool) else {
                throw LarderError(
                    .wrongType,
                    "\(operand.name) is \(operand.type?.nounWithArticle ?? "a value"), "
                        + "not true or false", hint: "compare it with a value")
            }
            return .isTrue(operand.expression)
        case .subquery, .collection:
            throw LarderError(
                .wrongType, "a number or a collection is not true or false",
                hint: "compare it, as in SUBQUERY(…).@count > 0")
        case .object, .variable, .list, .constant, .argument:
            throw LarderError(.wrongType, "an object or a list is not true or false")
        }
    }

    private mutating func predicates(
        _ parts: [QueryExpression]
    ) throws(LarderError) -> [TypedPredicate] {
        var typed: [TypedPredicate] = []
        for part in parts { typed.append(try predicate(part)) }
        return typed
    }

    private mutating func typeTest(
        of expression: QueryExpression, _ name: String
    ) throws(LarderError) -> TypedPredicate {
        let schema = evaluator.schema
        guard let tested = schema.entity(named: name) else {
            throw LarderError.unknownEntity(name, in: schema)
        }
        if let element, element.collection == expression {
            throw Self.needsModifier(element.operand.name)
        }
        let operand = try operand(expression)
        guard case .object(let entityName)? = operand.type, !isLiteral(expression),
            let entity = schema.entity(named: entityName)
        else {
            throw LarderError(.wrongType, "IS needs an object on its left side")
        }
        guard schema.root(of: entity).name == schema.root(of: tested).name else {
            throw LarderError(
                .wrongType,
                "\(operand.name) is an object of \(entityName), which is never a \(name)")
        }
        let names = [name] + schema.subentities(of: name).map(\.name)
        return .isKind(operand.expression, Set(names))
    }

    /// Types a single value.
    ///
    /// - Parameters:
    ///   - type: For a literal, the type of the value it is compared with.
    ///   - name: The value it is compared with, for error messages.
    mutating func operand(
        _ expression: QueryExpression, as type: OperandType? = nil,
        comparedWith name: String = "the other value"
    ) throws(LarderError) -> TypedOperand {
        if let element, element.collection == expression {
            return try member(element.member, of: element.operand, as: type)
        }
        switch expression {
        case _ where isLiteral(expression):
            return try literal(expression, as: type, comparedWith: name)
        case .object, .variable, .constant, .argument:
            let slot = try slot(of: expression)
            return TypedOperand(
                expression: .object(slot: slot.index),
                type: .object(entityName: slot.entity.name), name: "SELF")
        case .keyPath(let base, let names):
            let path = try keyPath(base, names)
            guard !path.isToMany else { throw Self.needsModifier(path.name) }
            return try member(path, as: type)
        case .collection(let function, let collection):
            return try aggregate(function, collection)
        case .function(let function, let operands):
            return try call(function, operands, as: type)
        case .subquery: throw Self.notAValue
        case .list:
            throw LarderError(
                .wrongType, "a list is allowed on the right side of IN and BETWEEN only")
        case .comparison, .typeTest, .and, .or, .not:
            return TypedOperand(
                expression: .truth(try predicate(expression)), type: .attribute(.bool),
                name: "a predicate")
        }
    }

    static func needsModifier(_ name: String) -> LarderError {
        LarderError(
            .wrongType, "the key path to \(name) leads to many objects, not to one value",
            hint: "quantify it with ANY or ALL, or count it with SUBQUERY(…).@count")
    }

    static var notAValue: LarderError {
        LarderError(
            .wrongType, "a SUBQUERY is a collection, not a value",
            hint: "compare its count, as in SUBQUERY(…).@count > 0")
    }
}
