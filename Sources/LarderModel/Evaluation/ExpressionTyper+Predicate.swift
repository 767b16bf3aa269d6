extension ExpressionTyper {
    /// An expression that has to be true or false.
    mutating func predicate(_ expression: QueryExpression) throws(LarderError) -> TypedPredicate {
        switch expression {
        case _ where isLiteral(expression):
            let value = try literal(
                expression, as: .attribute(.bool), beside: "a predicate")
            return .isTrue(value.expression)
        case .comparison(let comparison): return try self.comparison(comparison)
        case .typeTest(let operand, let name): return try typeTest(of: operand, name)
        case .and(let parts): return .and(try predicates(parts))
        case .or(let parts): return .or(try predicates(parts))
        case .not(let part): return .not(try predicate(part))
        case .keyPath, .function:
            let operand = try operand(expression, as: .attribute(.bool), beside: "a predicate")
            guard operand.type == .attribute(.bool) else {
                throw LarderError(
                    .wrongType,
                    "\(operand.name) is \(operand.type?.nounWithArticle ?? "a value"), "
                        + "neither true nor false", hint: "compare it with a value")
            }
            return .isTrue(operand.expression)
        case .subquery, .collection:
            throw LarderError(
                .wrongType, "a number or a collection is neither true nor false",
                hint: "compare it, as in SUBQUERY(…).@count > 0")
        case .object, .variable, .list, .constant, .argument:
            throw LarderError(.wrongType, "an object or a list is neither true nor false")
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
            throw LarderError(.unknownEntity, "there is no entity \"\(name.prefix(32))\"")
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
                .wrongType, "\(operand.name) is an object of \(entityName), never one of \(name)")
        }
        let names = [name] + schema.subentities(of: name).map(\.name)
        return .isKind(operand.expression, Set(names))
    }

    /// A single value.
    ///
    /// - Parameters:
    ///   - type: That of what it stands beside, for a literal.
    ///   - name: What it stands beside, for sentences.
    mutating func operand(
        _ expression: QueryExpression, as type: OperandType? = nil,
        beside name: String = "the other value"
    ) throws(LarderError) -> TypedOperand {
        if let element, element.collection == expression {
            return try member(element.member, of: element.operand, as: type)
        }
        switch expression {
        case _ where isLiteral(expression):
            return try literal(expression, as: type, beside: name)
        case .object, .variable, .constant, .argument:
            let place = try place(expression)
            return TypedOperand(
                expression: .object(place: place.place),
                type: .object(entityName: place.entity.name), name: "SELF")
        case .keyPath(let base, let names):
            let path = try keyPath(base, names)
            guard !path.isToMany else { throw Self.needsModifier(path.name) }
            return try member(path, as: type)
        case .collection(let function, let collection):
            return try aggregate(function, collection)
        case .function(let function, let operands):
            return try call(function, operands, as: type)
        case .subquery: throw Self.isNoValue
        case .list:
            throw LarderError(
                .wrongType, "a list stands on the right side of IN and BETWEEN only")
        case .comparison, .typeTest, .and, .or, .not:
            return TypedOperand(
                expression: .truth(try predicate(expression)), type: .attribute(.bool),
                name: "a predicate")
        }
    }

    static func needsModifier(_ name: String) -> LarderError {
        LarderError(
            .wrongType, "the key path to \(name) leads to many objects, not to one value",
            hint: "say of how many it must hold: ANY …, ALL …, or SUBQUERY(…).@count")
    }

    static var isNoValue: LarderError {
        LarderError(
            .wrongType, "a SUBQUERY is a collection, not a value",
            hint: "compare its count, as in SUBQUERY(…).@count > 0")
    }
}
