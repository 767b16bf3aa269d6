import LarderModel

extension QueryResolver {
    func comparison(
        _ comparison: Comparison, in scope: ResolverScope
    ) throws(LarderError) -> PlanPredicate {
        guard comparison.modifier != .direct else { return try direct(comparison, in: scope) }
        if outputs != nil { throw havingNeedsOutputs }
        let collection = try comparison.left.quantifiedCollection { side throws(LarderError) in
            try isCollection(side, in: scope)
        }
        guard let collection else {
            throw LarderError(
                .wrongType, "ANY and ALL need a to-many key path on the left side")
        }
        return try quantified(comparison, over: collection, in: scope)
    }

    /// A comparison of the elements of a collection: of any or of all.
    private func quantified(
        _ comparison: Comparison, over collection: QueryExpression, in scope: ResolverScope
    ) throws(LarderError) -> PlanPredicate {
        let elements = try elements(of: collection, in: scope)
        let outer = element
        element = (collection, elements.element)
        defer { element = outer }
        let test = try test(comparison, in: elements.scope)
        return comparison.modifier == .all
            ? .not(.exists(elements.collection(where: .not(test))))
            : .exists(elements.collection(where: test))
    }

    private func direct(
        _ comparison: Comparison, in scope: ResolverScope
    ) throws(LarderError) -> PlanPredicate {
        var equality = comparison
        equality.operator = .equal
        equality.modifier = .any
        if try isCollection(comparison.left, in: scope), comparison.left != element?.collection {
            guard comparison.operator == .contains else {
                throw try isNoValue(comparison.left, scope)
            }
            if outputs != nil { throw havingNeedsOutputs }
            return try quantified(equality, over: comparison.left, in: scope)
        }
        if comparison.operator == .in, try isCollection(comparison.right, in: scope) {
            if outputs != nil { throw havingNeedsOutputs }
            equality.left = comparison.right
            equality.right = comparison.left
            return try quantified(equality, over: comparison.right, in: scope)
        }
        return try test(comparison, in: scope)
    }

    private func isNoValue(
        _ collection: QueryExpression, _ scope: ResolverScope
    ) throws(LarderError) -> LarderError {
        guard case .keyPath(let base, let names) = collection, !base.isSubquery else {
            return subqueryIsNoValue
        }
        return needsModifier(try keyPath(base, names, in: scope))
    }

    private func isCollection(
        _ expression: QueryExpression, in scope: ResolverScope
    ) throws(LarderError) -> Bool {
        switch expression {
        case .subquery: true
        case .keyPath(.subquery, _): true
        case .keyPath(let base, let names) where outputs == nil:
            try keyPath(base, names, in: scope).isToMany
        default: false
        }
    }

    /// A comparison of single values.
    private func test(
        _ comparison: Comparison, in scope: ResolverScope
    ) throws(LarderError) -> PlanPredicate {
        var expressions = [comparison.left]
        switch (comparison.operator, comparison.right) {
        case (.in, .list(let list)), (.between, .list(let list)): expressions += list
        case (.in, let list) where isValue(list, in: scope):
            return try oneOfList(comparison, in: scope)
        case (.between, let bounds) where isValue(bounds, in: scope):
            return try betweenBounds(comparison, in: scope)
        case (.in, _), (.between, _):
            throw Self.needsList(comparison)
        default: expressions.append(comparison.right)
        }
        let operands = Self.alike(
            try operands(expressions, for: comparison, in: scope))
        try comparison.check(operands.map { ($0.type, $0.name) }, in: layout.schema)
        let options = comparison.options.subtracting(.normalized)
        switch comparison.operator {
        case .in: return .oneOf(operands[0], Array(operands.dropFirst()), options: options)
        case .between:
            guard operands.count == 3 else {
                throw LarderError(.wrongType, "BETWEEN needs two values on its right side")
            }
            return .between(operands[0], operands[1], operands[2], options: options)
        default:
            if case (.value(let left), .value(let right)) = (operands[0], operands[1]) {
                return .decided(try decided(left, comparison, right))
            }
            // ANY SEARCH(…)
            if comparison.operator == .equal, case .function(.search, _, _, _) = operands[0],
                case .value(let value) = operands[1], value.source == .constant(.bool(true))
            {
                return .isTrue(operands[0])
            }
            return .comparison(operands[0], comparison.operator, operands[1], options: options)
        }
    }

    /// Resolves the operands of a comparison. Operands without a type of their own, that is values
    /// and members of JSON documents, get the type of the first operand with one.
    private func operands(
        _ expressions: [QueryExpression], for comparison: Comparison, in scope: ResolverScope
    ) throws(LarderError) -> [PlanOperand] {
        var resolved: [PlanOperand?] = []
        for (index, expression) in expressions.enumerated() {
            let isOpen = openKind(of: expression, in: scope) != nil
            do throws(LarderError) {
                resolved.append(isOpen ? nil : try operand(expression, in: scope))
            } catch {
                throw index == 0 ? error : error.hinting(atRightSide: expression)
            }
        }
        let known = resolved.compactMap { $0 }.filter { operand in
            if case .member = operand { false } else { true }
        }
        // If one operand is a decimal, all become decimals.
        let typed = known.first { $0.type == .attribute(.decimal) } ?? known.first
        let wanted = typed?.type ?? (comparison.needsStrings ? .attribute(.string) : nil)
        let members = resolved.lazy.compactMap { operand -> PlanMember? in
            if case .member(let member) = operand { member } else { nil }
        }
        guard let member = members.first else {
            var type = wanted
            if type == nil, known.isEmpty, [.in, .between].contains(comparison.operator) {
                let constants = expressions.map { expression -> OperandType? in
                    if case .constant(let value) = expression { return OperandType(of: value) }
                    return nil
                }
                type = Self.commonType(constants)
                if type == nil { throw comparison.needsKeyPath }
            }
            return try filled(resolved, expressions, type, typed?.name, in: scope)
        }
        let kind = try kind(of: member, comparedWith: wanted, expressions, in: scope)
        if typed == nil, members.count == resolved.count {
            throw LarderError(
                .wrongType, "the type of \(member.name) is unknown",
                hint: "compare it with a value or an attribute")
        }
        let read = resolved.map { operand -> PlanOperand? in
            guard case .member(var member) = operand else { return operand }
            member.kind = kind
            return .member(member)
        }
        return try filled(
            read, expressions, typed == nil ? kind.valueType : wanted, member.name,
            in: scope)
    }

    /// The type of values that are compared with each other only, from the types of the constants
    /// among them: the first one, or decimal if one is a decimal; nil without a constant.
    private static func commonType(_ constants: [OperandType?]) -> OperandType? {
        let types = constants.compactMap { $0 }
        return types.first { $0 == .attribute(.decimal) } ?? types.first
    }

    /// The operands, with those that have no type resolved as the given type.
    private func filled(
        _ resolved: [PlanOperand?], _ expressions: [QueryExpression],
        _ type: OperandType?, _ name: String?, in scope: ResolverScope
    ) throws(LarderError) -> [PlanOperand] {
        var operands: [PlanOperand] = []
        for (place, operand) in resolved.enumerated() {
            if let operand {
                operands.append(operand)
            } else {
                operands.append(
                    try self.operand(expressions[place], in: scope, as: type, name: name))
            }
        }
        return operands
    }

    /// Reads a member of a JSON document as the type with which it is compared.
    private func kind(
        of member: PlanMember, comparedWith type: OperandType?, _ expressions: [QueryExpression],
        in scope: ResolverScope
    ) throws(LarderError) -> PlanMember.Kind {
        if let type { return PlanMember.Kind(comparedWith: type) ?? .text }
        let constants = expressions.compactMap { expression -> Value? in
            if case .constant(let value) = expression, !value.isNull { value } else { nil }
        }
        // A decimal has digits that a double does not have.
        let first = constants.first { $0.attributeType == .decimal } ?? constants.first
        if let first { return PlanMember.Kind(comparedWith: first) }
        for expression in expressions where isValue(expression, in: scope) {
            if case .constant = expression { continue }
            return .like(try value(expression, as: nil, name: member.name))
        }
        return .text
    }

    /// Converts integers to decimals if there are decimals, so that all have one order.
    private static func alike(_ operands: [PlanOperand]) -> [PlanOperand] {
        let decimal = OperandType.attribute(.decimal)
        guard operands.contains(where: { $0.type == decimal }) else { return operands }
        return operands.map { operand in
            if case .value = operand { return operand }
            return operand.type?.isInteger == true ? .converted(operand, decimal) : operand
        }
    }

    /// `name IN %@` with a list as its argument.
    private func oneOfList(
        _ comparison: Comparison, in scope: ResolverScope
    ) throws(LarderError) -> PlanPredicate {
        let left = try operand(comparison.left, in: scope)
        if case .member(let member) = left {
            return try oneOfList(member, comparison)
        }
        guard left.type != nil else { throw comparison.needsKeyPath }
        try comparison.check([(left.type, left.name)], in: layout.schema)
        return try locating(comparison.right) { () throws(LarderError) in
            let list: PlanValue
            if case .constant(let constant) = comparison.right {
                list = PlanValue(source: .constant(constant), type: left.type, name: left.name)
                _ = try converter.elements(list, QueryParameters())
            } else {
                list = try value(comparison.right, as: left.type, name: left.name)
            }
            return .oneOfList(left, list, options: comparison.options.subtracting(.normalized))
        }
    }

    /// The same for a member of a JSON document, which is read as the type of the list's elements.
    private func oneOfList(
        _ member: PlanMember, _ comparison: Comparison
    ) throws(LarderError) -> PlanPredicate {
        let isText = comparison.needsStrings
        let list = try value(
            comparison.right, as: isText ? .attribute(.string) : nil, name: member.name)
        var read = member
        read.kind = isText ? .attribute(.string) : .like(list)
        return .oneOfList(
            .member(read), list, options: comparison.options.subtracting(.normalized))
    }

    /// `count BETWEEN %@` with a list of two values as its argument.
    private func betweenBounds(
        _ comparison: Comparison, in scope: ResolverScope
    ) throws(LarderError) -> PlanPredicate {
        if case .constant = comparison.right { throw Self.needsList(comparison) }
        var left = try operand(comparison.left, in: scope)
        var type = left.type
        if case .member = left { type = comparison.needsStrings ? .attribute(.string) : nil }
        if case .value = left { throw comparison.needsKeyPath }
        try comparison.check([(type, left.name)], in: layout.schema)
        let name = left.name
        return try locating(comparison.right) { () throws(LarderError) in
            var lower = try value(comparison.right, as: type, name: name)
            var upper = lower
            lower.bound = 0
            upper.bound = 1
            // A member of a JSON document is read as the type of the list's elements.
            if case .member(var member) = left {
                member.kind = comparison.needsStrings ? .attribute(.string) : .like(lower)
                left = .member(member)
            }
            return .between(
                left, .value(lower), .value(upper),
                options: comparison.options.subtracting(.normalized))
        }
    }

    private static func needsList(_ comparison: Comparison) -> LarderError {
        LarderError(
            .wrongType, "\(comparison.operator.rawValue) needs a list on its right side",
            hint: "write the values in braces: {1, 2}")
    }

    /// A comparison of two values, which is the same for all objects.
    private func decided(
        _ left: PlanValue, _ comparison: Comparison, _ right: PlanValue
    ) throws(LarderError) -> ValueComparison {
        let options = comparison.options.subtracting(.normalized)
        guard ValueComparison.operators.contains(comparison.operator), options.isEmpty else {
            throw comparison.needsKeyPath
        }
        // An argument gets the type of the constant.
        let type = Self.commonType([left.constantType, right.constantType])
        var decided = ValueComparison(left: left, operator: comparison.operator, right: right)
        decided.left.type = type
        decided.right.type = type
        if case (.constant, .constant) = (left.source, right.source) {
            _ = try decided.holds(QueryParameters(), converter)
        }
        return decided
    }
}
