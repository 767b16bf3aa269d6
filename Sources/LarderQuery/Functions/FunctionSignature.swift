import LarderModel

/// The operand types and the result type of a function call.
package struct FunctionSignature: Hashable, Sendable {
    /// The type that each operand is converted to.
    package var operands: [AttributeType]
    package var result: AttributeType
}

/// The type information about an operand before the query runs.
package enum OperandKind: Hashable, Sendable {
    /// An operand with a type of its own: an attribute, or a function of attributes.
    case typed(AttributeType)
    /// A constant with its natural type, nil for nil. It is converted to the type of the other
    /// operands.
    case constant(AttributeType?)
    /// An argument, which is converted to the type of the other operands.
    case argument
    /// A member of a JSON document, which is read as the type of the other operands; as a double if
    /// these are integers.
    case member
}

extension OperandKind {
    /// The kind of a computation of constants and arguments: an argument if one of them is, or else
    /// a constant of the type that the others are converted to.
    package static func combined(_ kinds: some Sequence<OperandKind>) -> OperandKind {
        var combined = OperandKind.constant(nil)
        for kind in kinds {
            switch (kind, combined) {
            case (.constant(let type?), .constant(let known)):
                let isKept = known == .decimal || known == .double && type != .decimal
                combined = .constant(isKept ? known : type)
            case (.constant(nil), _), (.constant, _): break
            default: combined = kind
            }
        }
        return combined
    }
}

extension ScalarFunction {
    /// Returns the types of a call, by the rules of `docs/queries.md`.
    ///
    /// - Parameter wanted: The type that the context requires. Constants and arguments take it if
    ///   no operand has a type.
    /// - Throws: `wrongType` for operands that the function does not accept.
    package func signature(
        of operands: [OperandKind], wanted: AttributeType? = nil
    ) throws(LarderError) -> FunctionSignature {
        guard operandCount.contains(operands.count) else {
            throw LarderError(.malformedPredicate, "\(name) takes \(operandCount.operands)")
        }
        switch definition.typing {
        case .prescribed(_, let result): return try prescribedSignature(operands, result)
        case .numbersOrDates:
            if let dates = try dateSignature(operands, wanted) { return dates }
            return try numberSignature(operands, wanted)
        case .numbers: return try numberSignature(operands, wanted)
        case .places(let result): return try placesSignature(operands, wanted, result)
        case .reals: return try realSignature(operands)
        case .ordered:
            let type = try commonType(operands, wanted)
            guard type.isNumber || type == .string || type == .date else {
                throw rejection("numbers, strings or dates", .typed(type))
            }
            return FunctionSignature(operands: operands.map { _ in type }, result: type)
        case .common:
            let type = try commonType(operands, wanted)
            return FunctionSignature(operands: operands.map { _ in type }, result: type)
        case .conditional:
            guard operands[0].isUntyped || operands[0] == .typed(.bool) else {
                throw rejection("a predicate as its first operand", operands[0])
            }
            let type = try commonType(Array(operands.dropFirst()), wanted)
            return FunctionSignature(operands: [.bool, type, type], result: type)
        }
    }

    // MARK: Rules

    /// The signature of a function that prescribes the types of its operands.
    private func prescribedSignature(
        _ operands: [OperandKind], _ result: AttributeType
    ) throws(LarderError) -> FunctionSignature {
        var types: [AttributeType] = []
        for (index, operand) in operands.enumerated() {
            guard let type = definition.parameter(at: index, of: operands.count)?.type else {
                preconditionFailure("\(name) prescribes types")
            }
            if isSearchText(at: index, of: operands.count), !operand.isValue {
                throw LarderError(
                    .wrongType,
                    "\(name) takes a search text as its "
                        + (self == .search || self == .score ? "last" : "second") + " operand",
                    hint: "write it in quotation marks, or pass it as an argument")
            }
            guard operand.canBe(type) else {
                throw rejection(noun(of: type, at: index), operand, hint: hint(for: operand, type))
            }
            types.append(type)
        }
        // Without a unit it is a number of seconds.
        let isSeconds = self == .distance && operands.count == 2
        return FunctionSignature(operands: types, result: isSeconds ? .double : result)
    }

    private func noun(of type: AttributeType, at index: Int) -> String {
        switch self {
        case .bitwiseAnd, .bitwiseOr, .bitwiseXor, .onesComplement, .leftShift, .rightShift:
            return "integers"
        case .concat, .search, .score: return "strings"
        case .distance where index < 2: return "dates"
        default: break
        }
        let noun = type.nounWithArticle
        if index == 0 { return noun }
        let ordinals = ["first", "second", "third"]
        return "\(noun) as its \(index < 3 ? ordinals[index] : "last") operand"
    }

    /// The hint for an operand of another type.
    private func hint(for operand: OperandKind, _ type: AttributeType) -> String? {
        // Not for the name of a unit or of a time zone.
        guard parameters?.first == .string, type == .string else { return nil }
        return switch operand {
        case .typed(let own) where own.isNumber, .constant(let own?) where own.isNumber:
            "a number becomes text with `format(number, places)`"
        default: nil
        }
    }

    /// The signature of a function of a number and a number of decimal places.
    private func placesSignature(
        _ operands: [OperandKind], _ wanted: AttributeType?, _ result: AttributeType?
    ) throws(LarderError) -> FunctionSignature {
        // A constant or an argument that becomes text is a decimal: no digit of it is lost.
        let number = try numberSignature([operands[0]], result == nil ? wanted : .decimal)
        let result = result ?? number.result
        guard operands.count == 2 else { return number }
        guard operands[1].canBe(.int64) else {
            throw rejection("an int64 as its second operand", operands[1])
        }
        return FunctionSignature(operands: number.operands + [.int64], result: result)
    }

    private func realSignature(
        _ operands: [OperandKind]
    ) throws(LarderError) -> FunctionSignature {
        var types: [AttributeType] = []
        for operand in operands {
            switch operand {
            case .typed(let type) where type.isNumber: types.append(type)
            case .constant(let type) where type?.isNumber ?? true: types.append(.double)
            case .argument, .member: types.append(.double)
            default: throw rejection("numbers", operand)
            }
        }
        return FunctionSignature(operands: types, result: .double)
    }

    /// The signature of date arithmetic: a date and a number of seconds, or two dates; nil if no
    /// operand is a date. The other operand of a date is in seconds unless it is a date itself.
    private func dateSignature(
        _ operands: [OperandKind], _ wanted: AttributeType?
    ) throws(LarderError) -> FunctionSignature? {
        let (left, right) = (operands[0], operands[1])
        if self == .subtract, left.isDate, right.isDate {
            return FunctionSignature(operands: [.date, .date], result: .double)
        }
        if left.isDate {
            return FunctionSignature(operands: [.date, try seconds(right)], result: .date)
        }
        // A typed operand such as now() determines the other; an argument before a date is a date.
        if right.isDate, self == .subtract, left.canBe(.date) {
            return FunctionSignature(operands: [.date, .date], result: .double)
        }
        if right.isDate {
            throw rejection("a date before the seconds", left)
        }
        if wanted == .date, left == .argument {
            return FunctionSignature(operands: [.date, try seconds(right)], result: .date)
        }
        return nil
    }

    private func seconds(_ operand: OperandKind) throws(LarderError) -> AttributeType {
        switch operand {
        case .typed(let type) where type.isNumber && type != .decimal: return type
        case .constant(let type) where type.map(\.isNumber) ?? true: return .double
        case .argument, .member: return .double
        default: throw rejection("a number of seconds with a date", operand)
        }
    }

    private func numberSignature(
        _ operands: [OperandKind], _ wanted: AttributeType?
    ) throws(LarderError) -> FunctionSignature {
        let type = try commonType(operands, wanted.flatMap { $0.isNumber ? $0 : nil })
        guard type.isNumber else {
            let isText = self == .add && type == .string
            throw rejection(
                "numbers", .typed(type), hint: isText ? "write `concat(a, b)`" : nil)
        }
        return FunctionSignature(operands: operands.map { _ in type }, result: type)
    }

    /// The common type that all operands can be converted to.
    private func commonType(
        _ operands: [OperandKind], _ wanted: AttributeType?
    ) throws(LarderError) -> AttributeType {
        var type: AttributeType?
        for case .typed(let next) in operands { type = try joined(type, next) }
        if operands.contains(.member), type?.isInteger ?? false { type = .double }
        if type == nil { type = wanted.map(\.widened) }
        // A decimal makes other constants decimals, because it has digits that a double does not
        // have.
        if type == nil, operands.contains(.constant(.decimal)) { type = .decimal }
        for case .constant(let constant?) in operands {
            guard let known = type else {
                type = constant.widened
                continue
            }
            // An integer with doubles becomes a double, a fraction with integers makes all doubles,
            // any number with a decimal becomes a decimal, and a decimal with doubles a double.
            // Text may be converted to a date and similar types.
            if known.isNumber, constant.isNumber {
                let isKept = known == .decimal || known == .double
                type = isKept ? known : try joined(known, constant)
            } else if known != constant, !(constant == .string && known.isReadFromText) {
                throw unlike(known, constant)
            }
        }
        if type == nil, operands.contains(.member), !returnsOperand { type = .double }
        guard let type else {
            throw LarderError(
                .wrongType, "\(name): cannot determine the type of the operands",
                hint: "use an attribute or a constant as one of the operands")
        }
        return operands.contains(.member) && type.isInteger ? .double : type
    }

    private func joined(
        _ left: AttributeType?, _ right: AttributeType
    ) throws(LarderError) -> AttributeType {
        let right = right.widened
        guard let left, left != right else { return right }
        switch (left, right) {
        case (.int64, .double), (.double, .int64): return .double
        case (.int64, .decimal), (.decimal, .int64): return .decimal
        default: throw unlike(left, right)
        }
    }

    private func rejection(
        _ wanted: String, _ operand: OperandKind, hint: String? = nil
    ) -> LarderError {
        let given =
            switch operand {
            case .typed(let type), .constant(let type?): ", not \(type.nounWithArticle)"
            case .constant(nil), .argument, .member: ""
            }
        return LarderError(.wrongType, "\(name) takes \(wanted)\(given)", hint: hint)
    }

    private func unlike(_ left: AttributeType, _ right: AttributeType) -> LarderError {
        LarderError(
            .wrongType,
            "\(name) takes operands of one type, not \(left.nounWithArticle) "
                + "and \(right.nounWithArticle)")
    }
}

extension OperandKind {
    fileprivate var isDate: Bool { self == .typed(.date) || self == .constant(.date) }

    /// Whether the operand is a constant or an argument.
    fileprivate var isValue: Bool {
        switch self {
        case .constant, .argument: true
        case .typed, .member: false
        }
    }

    /// Whether the operand has no type of its own.
    fileprivate var isUntyped: Bool {
        switch self {
        case .typed: false
        case .constant(let type): type == nil || type == .bool
        case .argument, .member: true
        }
    }

    fileprivate func canBe(_ type: AttributeType) -> Bool {
        switch self {
        case .typed(let own): own == type || (type == .int64 && own.isInteger)
        case .constant(let own):
            own == nil || own == type || (own == .string && type.isReadFromText)
        case .argument, .member: true
        }
    }
}
