import LarderModel

extension QueryTyper {
    func comparison(_ comparison: Comparison) throws(LarderError) -> TypedPredicate {
        guard comparison.modifier != .direct else { return try direct(comparison) }
        if outputs != nil { throw havingNeedsOutputs }
        guard let collection = try quantifiedCollection(in: comparison.left) else {
            throw LarderError(
                .wrongType,
                "ANY and ALL need a to-many key path or an array in JSON on the left side")
        }
        return try quantified(comparison, over: collection)
    }

    /// The collection for whose elements an expression is computed: the first to-many one, or else
    /// JSON, which may be an array.
    func quantifiedCollection(
        in expression: QueryExpression
    ) throws(LarderError) -> QueryExpression? {
        let collection = try expression.quantifiedCollection { part throws(LarderError) in
            try isCollection(part)
        }
        if let collection { return collection }
        return try expression.quantifiedCollection { part throws(LarderError) in
            try isDocument(part)
        }
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
        if comparison.operator == .contains, try isDocument(comparison.left) {
            return try contains(comparison, equality)
        }
        if comparison.operator == .in, try hasElements(comparison.right) {
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

    /// Whether it is JSON, which may be an array.
    private func isDocument(_ expression: QueryExpression) throws(LarderError) -> Bool {
        guard outputs == nil, case .keyPath(let base, let names) = expression, !base.isSubquery,
            expression != element?.collection
        else { return false }
        let path = try keyPath(base, names)
        return !path.isToMany && path.type == .attribute(.json)
    }

    private func hasElements(_ expression: QueryExpression) throws(LarderError) -> Bool {
        if try isCollection(expression) { return true }
        return try isDocument(expression)
    }

    /// `payload CONTAINS …`: a text that contains another one, or an array with an element.
    ///
    /// - Parameter equality: The comparison of the elements.
    private func contains(
        _ comparison: Comparison, _ equality: Comparison
    ) throws(LarderError) -> TypedPredicate {
        var hasElement = try quantified(equality, over: comparison.left)
        if case .exists(let elements, .comparison(let element, _, .value(var value), _)) =
            hasElement, case .member(let member) = element, case .like = member.kind
        {
            value.isPart = true
            hasElement = .exists(
                elements,
                .comparison(
                    element.reading(as: .like([value])), .equal, .value(value), options: []))
        }
        let document = try operand(comparison.left)
        var text = document.member ?? TypedMember(document: document, path: [])
        text.kind = .attribute(.string)
        let part: TypedOperand
        switch comparison.right {
        case .constant(let constant)
        where !constant.isNull && constant.attributeType != .string:
            return hasElement
        case let right where isValue(right):
            var value = try value(right, as: .attribute(.string), name: text.name)
            value.isPart = true
            part = .value(value)
        case let right: part = try operand(right).reading(as: .attribute(.string))
        }
        guard part.type?.isString == true else { return hasElement }
        return .or([
            .comparison(
                .member(text), .contains, part,
                options: comparison.options.subtracting(.normalized)), hasElement,
        ])
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
        try comparison.check(operands.map { ($0.comparedType, $0.name) }, in: schema)
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
        let member = typed.lazy.compactMap { $0?.member }.first
        if member != nil {
            // A computation of values has a type of its own beside a member, which has none.
            for (index, expression) in expressions.enumerated()
            where typed[index] == nil && !isValue(expression) {
                typed[index] = try operand(expression)
            }
        }
        let known = typed.compactMap { $0 }.filter { $0.member == nil }
        // If one operand is a decimal, all become decimals.
        let first = known.first { $0.type == .attribute(.decimal) } ?? known.first
        let wanted = first?.type ?? (comparison.needsStrings ? .attribute(.string) : nil)
        if let member {
            let kind = try kind(of: member, comparedWith: wanted, expressions, comparison)
            let read = try filled(
                typed.map { $0?.reading(as: kind) }, expressions, wanted,
                first?.name ?? member.name)
            if case .attribute = kind { return read }
            return read.map(\.comparedAsJSON)
        }
        var type = wanted
        if type == nil, known.isEmpty {
            let isList = [.in, .between].contains(comparison.operator)
            type = isList ? Self.commonType(expressions.map(\.constantType)) : nil
            if type == nil, let computed = expressions.first(where: { !isValue($0) }) {
                type = try operand(computed).type
            }
            if type == nil, isList { throw comparison.needsKeyPath }
        }
        let operands = try filled(typed, expressions, type, first?.name)
        guard type == .attribute(.json) else { return operands }
        return operands.map { operand in
            if case .value = operand { operand.comparedAsJSON } else { operand }
        }
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

    /// How a member is read that is compared with operands of a type or, without one, with values
    /// or other members only.
    private func kind(
        of member: TypedMember, comparedWith type: OperandType?, _ expressions: [QueryExpression],
        _ comparison: Comparison
    ) throws(LarderError) -> MemberKind {
        if let type {
            let isEquality = [.equal, .notEqual, .in].contains(comparison.operator)
            return MemberKind(
                comparedWith: type, isEquality: isEquality && !comparison.needsStrings)
        }
        var values: [TypedValue] = []
        var constants: [Value] = []
        for expression in expressions where isValue(expression) {
            var value = try value(expression, as: nil, name: member.name)
            value.isJSON = true
            values.append(value)
            if case .constant(let constant) = expression { constants.append(constant) }
        }
        return constants.count == values.count
            ? try MemberKind(comparedWith: constants, named: member.name) : .like(values)
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
        var left = try operand(comparison.left)
        let isMember = left.member != nil
        let type = isMember && comparison.needsStrings ? .attribute(.string) : left.type
        guard type != nil else { throw comparison.needsKeyPath }
        try comparison.check([(type, left.name)], in: schema)
        let name = left.name
        return try locating(comparison.right) { () throws(LarderError) in
            // A member is read as the type of the list's elements.
            let isOpen = isMember && !comparison.needsStrings
            var list: TypedValue
            if case .constant(let constant) = comparison.right {
                list = TypedValue(
                    source: .constant(constant), type: isOpen ? nil : type, name: name)
            } else {
                list = try value(comparison.right, as: isOpen ? nil : type, name: name)
            }
            list.isList = true
            list.isJSON = type == .attribute(.json)
            if case .constant = comparison.right {
                // An error in a constant is reported when the query is typed.
                _ = try conversion.elements(of: list, QueryParameters())
            }
            left = left.reading(as: isOpen ? .like([list]) : .attribute(.string))
            return .oneOfList(
                left, list, options: comparison.options.subtracting(.normalized))
        }
    }

    /// `count BETWEEN %@` with a list of two values as its argument.
    private func betweenBounds(_ comparison: Comparison) throws(LarderError) -> TypedPredicate {
        if case .constant = comparison.right { throw Self.needsList(comparison) }
        let left = try operand(comparison.left)
        if case .value = left { throw comparison.needsKeyPath }
        let isMember = left.member != nil
        let type = isMember && comparison.needsStrings ? .attribute(.string) : left.type
        try comparison.check([(type, left.name)], in: schema)
        return try locating(comparison.right) { () throws(LarderError) in
            let isOpen = isMember && !comparison.needsStrings
            var lower = try value(comparison.right, as: isOpen ? nil : type, name: left.name)
            lower.isJSON = type == .attribute(.json)
            var upper = lower
            lower.bound = 0
            upper.bound = 1
            // A member is read as the type of the list's elements.
            return .between(
                left.reading(as: isOpen ? .like([lower, upper]) : .attribute(.string)),
                .value(lower), .value(upper), options: comparison.options.subtracting(.normalized))
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

extension QueryExpression {
    /// The type of a constant; nil for nil and for other expressions.
    fileprivate var constantType: OperandType? {
        if case .constant(let value) = self { OperandType(of: value) } else { nil }
    }
}
