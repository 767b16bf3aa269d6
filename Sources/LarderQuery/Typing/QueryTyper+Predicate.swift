import LarderModel

extension QueryTyper {
    /// The predicate of the query itself; nil always holds.
    func predicate(_ expression: QueryExpression?) throws(LarderError) -> TypedPredicate {
        guard let expression else { return .constant(true) }
        try expression.checkLimits()
        return try predicate(expression)
    }

    /// Types an expression that must be true or false.
    ///
    /// The depth of the recursion is limited, because the whole tree has been checked.
    package func predicate(_ expression: QueryExpression) throws(LarderError) -> TypedPredicate {
        try locating(expression) { () throws(LarderError) in
            switch expression {
            case _ where isValue(expression):
                let value = try self.value(expression, as: .attribute(.bool), name: "a predicate")
                if case .constant(.bool(let bool)) = value.source { return .constant(bool) }
                let yes = TypedValue(source: .constant(true), type: value.type, name: value.name)
                return .decided(ValueComparison(left: value, operator: .equal, right: yes))
            case .comparison(let comparison): return try self.comparison(comparison)
            case .typeTest(let operand, let name): return try typeTest(of: operand, name)
            case .and(let parts): return .and(try predicates(parts))
            case .or(let parts): return .or(try predicates(parts))
            case .not(let part): return .not(try predicate(part))
            case .keyPath, .function: return try truth(expression)
            case .subquery, .collection:
                throw LarderError(
                    .wrongType, "a number or a collection is not true or false",
                    hint: "compare it, as in SUBQUERY(…).@count > 0")
            case .object, .variable, .list, .constant, .argument:
                throw LarderError(.wrongType, "an object or a list is not true or false")
            }
        }
    }

    private func typeTest(
        of operand: QueryExpression, _ name: String
    ) throws(LarderError) -> TypedPredicate {
        let tested = try schema.existingEntity(named: name)
        let path = try objectPath(operand)
        guard case .object(let entityName) = path.type else { preconditionFailure("an object") }
        let entity = try schema.existingEntity(named: entityName)
        guard schema.root(of: entity).name == schema.root(of: tested).name else {
            throw LarderError(
                .wrongType,
                "the object is of \(entity.name), which is never a \(tested.name)")
        }
        return .isKind(path, tested)
    }

    private func predicates(
        _ parts: [QueryExpression]
    ) throws(LarderError) -> [TypedPredicate] {
        var typed: [TypedPredicate] = []
        for part in parts { typed.append(try predicate(part)) }
        return typed
    }

    /// A Boolean key path or function as a predicate.
    private func truth(_ expression: QueryExpression) throws(LarderError) -> TypedPredicate {
        let operand = try self.operand(expression, as: .attribute(.bool))
            .reading(as: .attribute(.bool))
        guard operand.type == .attribute(.bool) else {
            throw LarderError(
                .wrongType,
                "\(operand.name) is \(operand.type?.nounWithArticle ?? "a value"), "
                    + "not true or false", hint: "compare it with a value")
        }
        return .isTrue(operand)
    }

    // MARK: Operands

    /// One value per object: a property, a count, or a value of the query.
    ///
    /// - Parameter type: The type of the other operand, for a value without a type of its own.
    package func operand(
        _ expression: QueryExpression, as type: OperandType? = nil, name: String? = nil
    ) throws(LarderError) -> TypedOperand {
        try locating(expression) { () throws(LarderError) in
            try typedOperand(expression, as: type, name: name)
        }
    }

    /// Whether it is a value of the query: a constant, an argument, or a variable of no SUBQUERY.
    func isValue(_ expression: QueryExpression) -> Bool {
        switch expression {
        case .constant, .argument: true
        case .variable(let name): variables[name] == nil
        default: false
        }
    }

    private func typedOperand(
        _ expression: QueryExpression, as type: OperandType?, name: String?
    ) throws(LarderError) -> TypedOperand {
        if let element, element.collection == expression { return element.operand }
        switch expression {
        case _ where isValue(expression):
            return .value(try value(expression, as: type, name: name ?? "the other value"))
        case .object, .variable:
            if outputs != nil { throw havingNeedsOutputs }
            return .property(try selfPath(expression), name: Self.name(of: expression))
        case .keyPath(let base, let names):
            if let outputs { return try output(base, names, among: outputs) }
            if base.isSubquery { throw subqueryIsNoValue }
            let path = try keyPath(base, names)
            guard !path.isToMany else { throw needsModifier(path) }
            return operand(path)
        case .function(.join, let operands): return .join(try join(operands))
        case .function(let function, let operands):
            return try self.function(function, operands, as: type)
        case .collection(let function, let collection):
            if outputs != nil { throw havingNeedsOutputs }
            return try self.collection(function, collection)
        case .subquery: throw subqueryIsNoValue
        case .list:
            throw LarderError(
                .wrongType, "a list is allowed on the right side of IN and BETWEEN only")
        case .constant, .argument: preconditionFailure("these are values")
        case .comparison, .typeTest, .and, .or, .not:
            return .predicate(try predicate(expression))
        }
    }

    private static func name(of expression: QueryExpression) -> String {
        if case .variable(let name) = expression {
            "$\(LarderError.printable(name))"
        } else {
            "SELF"
        }
    }

    func value(
        _ expression: QueryExpression, as type: OperandType?, name: String
    ) throws(LarderError) -> TypedValue {
        switch expression {
        case .argument(let index):
            guard index >= 0, index < Limits.argumentsMax else {
                throw LarderError(
                    .malformedPredicate, "a query takes at most \(Limits.argumentsMax) arguments")
            }
            return noted(TypedValue(source: .argument(index), type: type, name: name))
        case .variable(let variable):
            return noted(TypedValue(source: .variable(variable), type: type, name: name))
        case .constant(let constant):
            let value = TypedValue(source: .constant(constant), type: type, name: name)
            // An error in a constant is reported when the query is typed, not when it is run.
            try conversion.check(constant, for: value)
            return value
        default: preconditionFailure("only constants, arguments and variables are values")
        }
    }

    // MARK: Errors

    var subqueryIsNoValue: LarderError {
        LarderError(
            .wrongType, "a SUBQUERY is a collection, not a value",
            hint: "compare its count, as in SUBQUERY(…).@count > 0")
    }

    func needsModifier(_ path: TypedKeyPath) -> LarderError {
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
        _ base: QueryExpression, _ names: [String], among outputs: [String: TypedOperand]
    ) throws(LarderError) -> TypedOperand {
        guard base == .object else { throw havingNeedsOutputs }
        let name = names.joined(separator: ".")
        guard let output = outputs[name] else {
            throw LarderError(
                .unknownProperty,
                "the aggregate has no column \"\(LarderError.printable(name))\"",
                hint: NameSuggestion.hint(for: name, among: outputs.keys))
        }
        return output
    }

    var havingNeedsOutputs: LarderError {
        LarderError(
            .unsupported, "a HAVING predicate can only use the columns of the aggregate",
            hint: "add a column to the aggregate and use its name")
    }
}
