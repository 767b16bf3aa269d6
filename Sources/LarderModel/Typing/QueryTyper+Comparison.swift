extension QueryTyper {
    func comparison(_ comparison: Comparison) throws(LarderError) -> TypedPredicate {
        guard comparison.modifier != .direct else { return try direct(comparison) }
        if outputs != nil { throw havingNeedsOutputs }
        let collection = try comparison.left.quantifiedCollection { side throws(LarderError) in
            try isCollection(side)
        }
        guard let collection else {
            throw LarderError(
                .wrongType, "ANY and ALL need a to-many key path on the left side")
        }
        return try quantified(comparison, over: collection)
    }

    /// A comparison of the elements of a collection: of any or of all.
    private func quantified(
        _ comparison: Comparison, over expression: QueryExpression
    ) throws(LarderError) -> TypedPredicate {
        let collection = try elements(of: expression)
        let outer = element
        element = (expression, collection.element)
        defer { element = outer }
        let test = try within(collection) { () throws(LarderError) in
            try self.test(comparison)
        }
        return comparison.modifier == .all
            ? .not(.exists(collection, .not(test)))
            : .exists(collection, test)
    }

    private func direct(_ comparison: Comparison) throws(LarderError) -> TypedPredicate {
        var equality = comparison
        equality.operator = .equal
        equality.modifier = .any
        if try isCollection(comparison.left), comparison.left != element?.collection {
            guard comparison.operator == .contains else { throw try isNoValue(comparison.left) }
            if outputs != nil { throw havingNeedsOutputs }
            return try quantified(equality, over: comparison.left)
        }
        if comparison.operator == .in, try isCollection(comparison.right) {
            if outputs != nil { throw havingNeedsOutputs }
            equality.left = comparison.right
            equality.right = comparison.left
            return try quantified(equality, over: comparison.right)
        }
        return try test(comparison)
    }

    private func isNoValue(_ collection: QueryExpression) throws(LarderError) -> LarderError {
        guard case .keyPath(let base, let names) = collection, !base.isSubquery else {
            return subqueryIsNoValue
        }
        return needsModifier(try keyPath(base, names))
    }

    private func isCollection(_ expression: QueryExpression) throws(LarderError) -> Bool {
        switch expression {
        case .subquery: true
        case .keyPath(.subquery, _): true
        case .keyPath(let base, let names) where outputs == nil:
            try keyPath(base, names).isToMany
        default: false
        }
    }

    /// A comparison of single values.
    private func test(_ comparison: Comparison) throws(LarderError) -> TypedPredicate {
        var expressions = [comparison.left]
        switch (comparison.operator, comparison.right) {
        case (.in, .list(let list)), (.between, .list(let list)): expressions += list
        case (.in, let list) where isValue(list): return try oneOfList(comparison)
        case (.between, let bounds) where isValue(bounds): return try betweenBounds(comparison)
        case (.in, _), (.between, _): throw Self.needsList(comparison)
        default: expressions.append(comparison.right)
        }
        let operands = Self.alike(try operands(expressions, for: comparison))
        try comparison.check(operands.map { ($0.type, $0.name) }, in: schema)
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

    /// Types the operands of a comparison. Operands without a type of their own, that is values
    /// and members of JSON documents, get the type of the first operand with one.
    private func operands(
        _ expressions: [QueryExpression], for comparison: Comparison
    ) throws(LarderError) -> [TypedOperand] {
        var typed: [TypedOperand?] = []
        for (index, expression) in expressions.enumerated() {
            let isOpen = openKind(of: expression) != nil
            do throws(LarderError) {
                typed.append(isOpen ? nil : try operand(expression))
            } catch {
                throw index == 0 ? error : error.hinting(atRightSide: expression)
            }
        }
        let known = typed.compactMap { $0 }.filter { operand in
            if case .member = operand { false } else { true }
        }
        // If one operand is a decimal, all become decimals.
        let first = known.first { $0.type == .attribute(.decimal) } ?? known.first
        let wanted = first?.type ?? (comparison.needsStrings ? .attribute(.string) : nil)
        let members = typed.compactMap { operand -> TypedMember? in
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
            return try filled(typed, expressions, type, first?.name)
        }
        let kind = try kind(of: member, comparedWith: wanted, expressions)
        if first == nil, members.count == typed.count {
            throw LarderError(
                .wrongType, "the type of \(member.name) is unknown",
                hint: "compare it with a value or an attribute")
        }
        return try filled(
            typed.map { $0?.reading(as: kind) }, expressions,
            first == nil ? kind.valueType : wanted, member.name)
    }

    /// The type of values that are compared with each other only, from the types of the constants
    /// among them: the first one, or decimal if one is a decimal; nil without a constant.
    private static func commonType(_ constants: [OperandType?]) -> OperandType? {
        let types = constants.compactMap { $0 }
        return types.first { $0 == .attribute(.decimal) } ?? types.first
    }

    /// The operands, with those that have no type typed as the given one.
    private func filled(
        _ typed: [TypedOperand?], _ expressions: [QueryExpression], _ type: OperandType?,
        _ name: String?
    ) throws(LarderError) -> [TypedOperand] {
        var operands: [TypedOperand] = []
        for (operand, expression) in zip(typed, expressions) {
            if let operand {
                operands.append(operand)
            } else {
                operands.append(try self.operand(expression, as: type, name: name))
            }
        }
        return operands
    }

    /// Reads a member of a JSON document as the type with which it is compared.
    private func kind(
        of member: TypedMember, comparedWith type: OperandType?, _ expressions: [QueryExpression]
    ) throws(LarderError) -> MemberKind {
        if let type { return MemberKind(comparedWith: type) ?? .text }
        let constants = expressions.compactMap { expression -> Value? in
            if case .constant(let value) = expression, !value.isNull { value } else { nil }
        }
        // A decimal has digits that a double does not have.
        let first = constants.first { $0.attributeType == .decimal } ?? constants.first
        if let first { return MemberKind(comparedWith: first) }
        for expression in expressions where isValue(expression) {
            if case .constant = expression { continue }
            return .like(try value(expression, as: nil, name: member.name))
        }
        return .text
    }

    /// Converts integers to decimals if there are decimals, so that all have one order.
    private static func alike(_ operands: [TypedOperand]) -> [TypedOperand] {
        let decimal = OperandType.attribute(.decimal)
        guard operands.contains(where: { $0.type == decimal }) else { return operands }
        return operands.map { operand in
            if case .value = operand { return operand }
            return operand.type?.isInteger == true ? .converted(operand, decimal) : operand
        }
    }

    // MARK: Lists as arguments

    /// `name IN %@` with a list as its argument.
    private func oneOfList(_ comparison: Comparison) throws(LarderError) -> TypedPredicate {
        let left = try operand(comparison.left)
        let options = comparison.options.subtracting(.normalized)
        if case .member(let member) = left {
            // The member is read as the type of the list's elements.
            let isText = comparison.needsStrings
            let list = try value(
                comparison.right, as: isText ? .attribute(.string) : nil, name: member.name)
            return .oneOfList(
                left.reading(as: isText ? .attribute(.string) : .like(list)), list,
                options: options)
        }
        guard left.type != nil else { throw comparison.needsKeyPath }
        try comparison.check([(left.type, left.name)], in: schema)
        return try locating(comparison.right) { () throws(LarderError) in
            let list: TypedValue
            if case .constant(let constant) = comparison.right {
                list = TypedValue(source: .constant(constant), type: left.type, name: left.name)
                // An error in a constant is reported when the query is typed.
                _ = try conversion.elements(of: list, QueryParameters())
            } else {
                list = try value(comparison.right, as: left.type, name: left.name)
            }
            return .oneOfList(left, list, options: options)
        }
    }

    /// `count BETWEEN %@` with a list of two values as its argument.
    private func betweenBounds(_ comparison: Comparison) throws(LarderError) -> TypedPredicate {
        if case .constant = comparison.right { throw Self.needsList(comparison) }
        var left = try operand(comparison.left)
        var type = left.type
        if case .member = left { type = comparison.needsStrings ? .attribute(.string) : nil }
        if case .value = left { throw comparison.needsKeyPath }
        try comparison.check([(type, left.name)], in: schema)
        let name = left.name
        return try locating(comparison.right) { () throws(LarderError) in
            var lower = try value(comparison.right, as: type, name: name)
            var upper = lower
            lower.bound = 0
            upper.bound = 1
            // A member of a JSON document is read as the type of the list's elements.
            left = left.reading(
                as: comparison.needsStrings ? .attribute(.string) : .like(lower))
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

    // MARK: Values alone

    /// A comparison of two values, which is the same for all objects.
    private func decided(
        _ left: TypedValue, _ comparison: Comparison, _ right: TypedValue
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
            _ = try decided.holds(conversion: conversion)
        }
        return decided
    }
}
