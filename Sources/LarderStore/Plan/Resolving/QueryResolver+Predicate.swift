import LarderModel

extension QueryResolver {
    /// The predicate of the query itself; nil always holds.
    func predicate(_ expression: QueryExpression?) throws(LarderError) -> PlanPredicate {
        guard let expression else { return .yes }
        try expression.checkLimits()
        return try predicate(expression, in: rootScope)
    }

    /// Resolves an expression that must be true or false.
    ///
    /// The depth of the recursion is limited, because the whole tree has been checked.
    func predicate(
        _ expression: QueryExpression, in scope: ResolverScope
    ) throws(LarderError) -> PlanPredicate {
        try locating(expression) { () throws(LarderError) in
            try resolvedPredicate(expression, in: scope)
        }
    }

    private func resolvedPredicate(
        _ expression: QueryExpression, in scope: ResolverScope
    ) throws(LarderError) -> PlanPredicate {
        switch expression {
        case _ where isValue(expression, in: scope):
            let value = try self.value(expression, as: .attribute(.bool), name: "a predicate")
            if case .constant(.bool(let bool)) = value.source { return .constant(bool) }
            let yes = PlanValue(source: .constant(true), type: value.type, name: value.name)
            return .decided(ValueComparison(left: value, operator: .equal, right: yes))
        case .comparison(let comparison): return try self.comparison(comparison, in: scope)
        case .typeTest(let operand, let name): return try typeTest(of: operand, name, in: scope)
        case .and(let parts): return .and(try predicates(parts, in: scope))
        case .or(let parts): return .or(try predicates(parts, in: scope))
        case .not(let part): return .not(try predicate(part, in: scope))
        case .keyPath, .function: return try truth(expression, in: scope)
        case .subquery, .collection:
            throw LarderError(
                .wrongType, "a number or a collection is not true or false",
                hint: "compare it, as in SUBQUERY(…).@count > 0")
        case .object, .variable, .list, .constant, .argument:
            throw LarderError(.wrongType, "an object or a list is not true or false")
        }
    }

    private func typeTest(
        of operand: QueryExpression, _ name: String, in scope: ResolverScope
    ) throws(LarderError) -> PlanPredicate {
        let schema = layout.schema
        let tested = try Self.entity(named: name, in: schema)
        let row = try objectRow(operand, in: scope)
        let entity = row.entity
        guard schema.root(of: entity).name == schema.root(of: tested).name else {
            throw LarderError(
                .wrongType,
                "the object is of \(entity.name), which is never a \(tested.name)")
        }
        if schema.isKind(entity.name, of: tested.name) {
            guard row.isOptional else { return .yes }
            let key = PlanOperand.column(row.keyColumn(name: entity.name))
            return .not(
                .comparison(key, .equal, .value(.null(named: entity.name)), options: []))
        }
        guard schema.isKind(tested.name, of: entity.name) else { return .constant(false) }
        return .isKind(try entityColumn(of: row), layout.concreteNames(of: tested))
    }

    private func predicates(
        _ parts: [QueryExpression], in scope: ResolverScope
    ) throws(LarderError) -> [PlanPredicate] {
        var resolved: [PlanPredicate] = []
        for part in parts { resolved.append(try predicate(part, in: scope)) }
        return resolved
    }

    /// A Boolean key path or function as a predicate.
    private func truth(
        _ expression: QueryExpression, in scope: ResolverScope
    ) throws(LarderError) -> PlanPredicate {
        var operand = try self.operand(expression, in: scope, as: .attribute(.bool))
        if case .member(var member) = operand {
            member.kind = .attribute(.bool)
            operand = .member(member)
        }
        guard operand.type == .attribute(.bool) else {
            throw LarderError(
                .wrongType,
                "\(operand.name) is \(operand.type?.nounWithArticle ?? "a value"), "
                    + "not true or false", hint: "compare it with a value")
        }
        return .isTrue(operand)
    }
}

extension QueryResolver {
    /// One value per object: a column, a count, or a value of the query.
    ///
    /// - Parameter type: The type of the other operand, for a value without a type of its own.
    func operand(
        _ expression: QueryExpression, in scope: ResolverScope, as type: OperandType? = nil,
        name: String? = nil
    ) throws(LarderError) -> PlanOperand {
        try locating(expression) { () throws(LarderError) in
            try resolvedOperand(expression, in: scope, as: type, name: name)
        }
    }

    /// Whether it is a value of the query: a constant, an argument, or a variable of no SUBQUERY.
    func isValue(_ expression: QueryExpression, in scope: ResolverScope) -> Bool {
        switch expression {
        case .constant, .argument: true
        case .variable(let name): scope.row(named: name) == nil
        default: false
        }
    }

    private func resolvedOperand(
        _ expression: QueryExpression, in scope: ResolverScope, as type: OperandType?,
        name: String?
    ) throws(LarderError) -> PlanOperand {
        if let element, element.collection == expression { return element.operand }
        switch expression {
        case _ where isValue(expression, in: scope):
            return .value(try value(expression, as: type, name: name ?? "the other value"))
        case .object, .variable:
            if outputs != nil { throw havingNeedsOutputs }
            let row = try row(expression, in: scope)
            return .column(row.keyColumn(name: Self.name(of: expression)))
        case .keyPath(let base, let names):
            if let outputs { return try output(base, names, among: outputs) }
            if base.isSubquery { throw subqueryIsNoValue }
            let path = try keyPath(base, names, in: scope)
            guard !path.isToMany else { throw needsModifier(path) }
            return try column(path)
        case .function(let function, let operands):
            return try self.function(function, operands, in: scope, as: type)
        case .collection(let function, let collection):
            if outputs != nil { throw havingNeedsOutputs }
            return try self.collection(function, collection, in: scope)
        case .subquery: throw subqueryIsNoValue
        case .list:
            throw LarderError(
                .wrongType, "a list is allowed on the right side of IN and BETWEEN only")
        case .constant, .argument: preconditionFailure("these are values")
        case .comparison, .typeTest, .and, .or, .not:
            return .predicate(try predicate(expression, in: scope))
        }
    }

    private static func name(of expression: QueryExpression) -> String {
        if case .variable(let name) = expression { "$\(printable(name))" } else { "SELF" }
    }

    func value(
        _ expression: QueryExpression, as type: OperandType?, name: String
    ) throws(LarderError) -> PlanValue {
        switch expression {
        case .argument(let place):
            guard place >= 0, place < Limits.argumentsMax else {
                throw LarderError(
                    .malformedPredicate, "a query takes at most \(Limits.argumentsMax) arguments")
            }
            return noted(PlanValue(source: .argument(place), type: type, name: name))
        case .variable(let variable):
            return noted(PlanValue(source: .variable(variable), type: type, name: name))
        case .constant(let constant):
            let value = PlanValue(source: .constant(constant), type: type, name: name)
            // An error in a constant is reported when the query is planned, not when it is run.
            try converter.check(constant, for: value)
            return value
        default: preconditionFailure("only constants, arguments and variables are values")
        }
    }

    var subqueryIsNoValue: LarderError {
        LarderError(
            .wrongType, "a SUBQUERY is a collection, not a value",
            hint: "compare its count, as in SUBQUERY(…).@count > 0")
    }

    func needsModifier(_ path: ResolvedKeyPath) -> LarderError {
        if let element {
            return LarderError(
                .wrongType,
                "ANY and ALL apply to one to-many key path, \(element.operand.name); "
                    + "\(path.name) follows another one",
                hint: "use both conditions in SUBQUERY(…).@count")
        }
        return LarderError(
            .wrongType, "the key path to \(path.name) leads to many objects, not to one value",
            hint: "quantify it with ANY or ALL, or count it with SUBQUERY(…).@count")
    }

    private func output(
        _ base: QueryExpression, _ names: [String], among outputs: [String: PlanOperand]
    ) throws(LarderError) -> PlanOperand {
        guard base == .object else { throw havingNeedsOutputs }
        let name = names.joined(separator: ".")
        guard let output = outputs[name] else {
            throw Self.unknownOutput(name, among: outputs.keys)
        }
        return output
    }

    var havingNeedsOutputs: LarderError {
        LarderError(
            .unsupported, "a HAVING predicate can only use the columns of the aggregate",
            hint: "add a column to the aggregate and use its name")
    }

    static func unknownOutput(
        _ name: String, among known: some Sequence<String>
    ) -> LarderError {
        LarderError(
            .unknownProperty, "the aggregate has no column \"\(printable(name))\"",
            hint: NameSuggestion.hint(for: name, among: known))
    }
}
