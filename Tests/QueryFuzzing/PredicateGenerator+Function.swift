import LarderModel
import TestSupport

extension PredicateGenerator {
    /// A function whose result is of the type, or of a comparable number type.
    mutating func function(giving type: AttributeType, depth: Int) -> QueryExpression? {
        if random.once(in: 20) { return choice(of: type, depth: depth) }
        if random.once(in: 5) {
            guard let one = operand(type, depth: depth - 1) else { return nil }
            let other = random.once(in: 2) ? literalOperand(type) : operand(type, depth: depth - 1)
            guard let other else { return nil }
            guard random.once(in: 2) else {
                return call(.coalesce, random.once(in: 2) ? [one, other] : [other, one])
            }
            return call(.conditional, [predicate(depth: max(0, depth - 1)), one, other])
        }
        switch type {
        case .int16, .int32, .int64: return integerFunction(depth: depth)
        case .float, .double: return doubleFunction(depth: depth)
        case .decimal:
            return random.once(in: 4)
                ? rounded(.decimal, depth: depth) : arithmetic(.decimal, depth: depth)
        case .string: return stringFunction(depth: depth)
        case .date: return dateFunction(depth: depth)
        case .json, .bool, .uuid, .url, .data: return coalescedMember(type)
        }
    }

    /// A choice of two values, whose types decide that of the choice.
    private mutating func choice(of type: AttributeType, depth: Int) -> QueryExpression? {
        if type == .json { return nil }
        note("choice of values")
        let values = [literal(RandomValue.value(of: type, &random)), literalOperand(type)]
        return call(
            .conditional,
            [predicate(depth: max(0, depth - 1))]
                + (random.once(in: 2) ? values : values.reversed()))
    }

    mutating func call(
        _ function: ScalarFunction, _ operands: [QueryExpression?]
    ) -> QueryExpression? {
        let known = operands.compactMap { $0 }
        guard known.count == operands.count else { return nil }
        note(function.name)
        return .function(function, known)
    }

    /// A constant of this natural type, so that no type changes.
    private mutating func literalOperand(_ type: AttributeType) -> QueryExpression {
        if random.once(in: 10) { return .constant(.null) }
        // A decimal with doubles becomes a double.
        let isDecimal = type == .double && random.once(in: 5)
        let value = RandomValue.value(of: isDecimal ? .decimal : type, &random)
        switch value {
        // With integers an argument must be an integer; a fraction would make all doubles.
        case .int, .double, .decimal: return .constant(value)
        case .float(let float): return .constant(.double(Double(float)))
        default: return literal(value)
        }
    }

    private mutating func arithmetic(_ type: AttributeType, depth: Int) -> QueryExpression? {
        let one = operand(type, depth: depth - 1)
        switch random.number(0...2) {
        case 0:
            let functions: [ScalarFunction] = [
                .negate, .abs, .floor, .ceiling, .round, .trunc,
            ]
            return call(random.pick(functions) ?? .abs, [one])
        case 1:
            let other = random.once(in: 2) ? literalOperand(type) : operand(type, depth: depth - 1)
            return call(random.once(in: 2) ? .minimum : .maximum, [one, other])
        default:
            let functions: [ScalarFunction] = [.add, .subtract, .multiply, .divide, .modulus]
            let other = random.once(in: 2) ? literalOperand(type) : operand(type, depth: depth - 1)
            let operands = random.once(in: 2) ? [one, other] : [other, one]
            return call(random.pick(functions) ?? .add, operands)
        }
    }

    private mutating func integerFunction(depth: Int) -> QueryExpression? {
        switch random.number(0...7) {
        case 0: return call(.length, [operand(.string, depth: depth - 1)])
        case 1, 5:
            let parts: [ScalarFunction] = [
                .year, .month, .day, .hour, .minute, .second, .weekday,
            ]
            return call(
                random.pick(parts) ?? .year, [operand(.date, depth: depth - 1)] + zone(depth))
        case 6:
            return call(
                .distance,
                [operand(.date, depth: depth - 1), dateOrLiteral(depth), unit(depth)]
                    + zone(depth))
        case 7: return rounded(.int64, depth: depth)
        case 2:
            if random.once(in: 5) {
                return call(.onesComplement, [operand(.int64, depth: depth - 1)])
            }
            let functions: [ScalarFunction] = [
                .bitwiseAnd, .bitwiseOr, .bitwiseXor, .leftShift, .rightShift,
            ]
            return call(
                random.pick(functions) ?? .bitwiseAnd,
                [operand(.int64, depth: depth - 1), literalOperand(.int64)])
        default:
            let types: [AttributeType] = [.int64, .int64, .int32, .int16]
            return arithmetic(random.pick(types) ?? .int64, depth: depth)
        }
    }

    private mutating func doubleFunction(depth: Int) -> QueryExpression? {
        let types: [AttributeType] = [.double, .float, .int64, .double]
        let type = random.pick(types) ?? .double
        if random.once(in: 5), let texts = searchedTexts() {
            return call(.score, texts + [searchText()])
        }
        switch random.number(0...3) {
        case 0:
            let functions: [ScalarFunction] = [.sqrt, .exp, .ln, .log]
            return call(random.pick(functions) ?? .sqrt, [operand(type, depth: depth - 1)])
        case 1:
            return call(
                .power, [operand(type, depth: depth - 1), literalOperand(.double)])
        case 2:
            let one = operand(.date, depth: depth - 1)
            let other = operand(.date, depth: depth - 1)
            return call(random.once(in: 2) ? .distance : .subtract, [one, other])
        default:
            if random.once(in: 4) { return fraction(depth: depth) }
            let type: AttributeType = random.once(in: 2) ? .double : .float
            return random.once(in: 4) ? rounded(type, depth: depth) : arithmetic(type, depth: depth)
        }
    }

    /// An integer and a double that is a constant or an argument, which makes both doubles.
    private mutating func fraction(depth: Int) -> QueryExpression? {
        note("integer and fraction")
        let types: [AttributeType] = [.int16, .int32, .int64]
        let one = operand(random.pick(types) ?? .int64, depth: depth - 1)
        let doubles: [Double] = [0.5, 1.5, 2, -2.5, 100]
        let other = literal(.double(random.pick(doubles) ?? 2))
        let functions: [ScalarFunction] = [.add, .subtract, .multiply, .divide]
        return call(
            random.pick(functions) ?? .add, random.once(in: 2) ? [one, other] : [other, one])
    }

    /// A number rounded to decimal places.
    private mutating func rounded(_ type: AttributeType, depth: Int) -> QueryExpression? {
        note("round to places")
        return call(.round, [operand(type, depth: depth - 1), index(depth)])
    }

    /// Texts of a collection or of an array in JSON, as they are or computed for each element.
    private mutating func joined(_ depth: Int) -> QueryExpression? {
        let path = random.once(in: 4) ? elements() : manyAttribute(.string, depth: depth)
        guard let path else { return nil }
        let texts = random.once(in: 3) ? call(.concat, [path, text(depth)]) : path
        return call(.join, [texts, text(depth)])
    }

    private mutating func stringFunction(depth: Int) -> QueryExpression? {
        if depth > 0, random.once(in: 5), let joined = joined(depth) { return joined }
        let one = operand(.string, depth: depth - 1)
        if random.once(in: 6) {
            return random.once(in: 2)
                ? call(.highlight, [one, searchText()] + some { $0.text(depth) })
                : call(.snippet, [one, searchText()] + some { $0.index(depth) })
        }
        switch random.number(0...7) {
        case 0: return coalescedMember(.string)
        case 1:
            let functions: [ScalarFunction] = [.uppercase, .lowercase, .canonical, .initials]
            return call(random.pick(functions) ?? .lowercase, [one])
        case 2:
            let others = (0...random.number(0...2)).map { _ in text(depth) }
            return call(.concat, random.once(in: 2) ? [one] + others : others + [one])
        case 3: return call(.substring, [one, index(depth)] + some { $0.index(depth) })
        case 4:
            let functions: [ScalarFunction] = [.trim, .trimStart, .trimEnd]
            return call(random.pick(functions) ?? .trim, [one] + some { $0.text(depth) })
        case 5:
            return random.once(in: 2)
                ? call(.replace, [one, text(depth), text(depth)])
                : call(.split, [one, text(depth), index(depth)])
        case 6:
            return call(
                random.once(in: 2) ? .padStart : .padEnd,
                [one, index(depth)] + some { $0.text(depth) })
        default:
            let types: [AttributeType] = [.decimal, .double, .float, .int64, .int16]
            let number = operand(random.pick(types) ?? .decimal, depth: depth - 1)
            return call(.format, [number, index(depth)])
        }
    }

    // MARK: Operands of a prescribed type

    /// An optional last operand.
    private mutating func some(
        _ operand: (inout Self) -> QueryExpression?
    ) -> [QueryExpression?] {
        random.once(in: 2) ? [operand(&self)] : []
    }

    /// A short text, of which many are parts of others.
    private mutating func text(_ depth: Int) -> QueryExpression? {
        if random.once(in: 3) { return operand(.string, depth: depth - 1) }
        if random.once(in: 20) { return .constant(.null) }
        return literal(RandomValue.value(of: .string, &random))
    }

    /// An index, a length or a number of decimal places. A length that is too large is an error.
    private mutating func index(_ depth: Int) -> QueryExpression? {
        switch random.number(0...9) {
        case 0: return operand(random.once(in: 2) ? .int16 : .int64, depth: depth - 1)
        case 1: return literal(RandomValue.value(of: .int64, &random))
        case 2: return .constant(.null)
        default: return literal(.int(Int64(random.number(-4...8))))
        }
    }

    private mutating func dateOrLiteral(_ depth: Int) -> QueryExpression? {
        random.once(in: 2) ? operand(.date, depth: depth - 1) : literalOperand(.date)
    }

    /// The name of a unit, which may not exist if it is a value of an object.
    private mutating func unit(_ depth: Int) -> QueryExpression? {
        if random.once(in: 20) { return operand(.string, depth: depth - 1) }
        let units = ["year", "quarter", "month", "Week", "day", "hour", "minute", "second"]
        return literal(.string(random.pick(units) ?? "day"))
    }

    /// The name of a time zone, or no operand.
    private mutating func zone(_ depth: Int) -> [QueryExpression?] {
        if random.once(in: 2) { return [] }
        note("zone")
        if random.once(in: 20) { return [operand(.string, depth: depth - 1)] }
        let zones = [
            "UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe",
            "America/Sao_Paulo", "Pacific/Apia",
        ]
        return [literal(.string(random.pick(zones) ?? "UTC"))]
    }

    private mutating func dateFunction(depth: Int) -> QueryExpression? {
        if random.once(in: 4) {
            let one = operand(.date, depth: depth - 1)
            return call(random.once(in: 2) ? .minimum : .maximum, [one, literalOperand(.date)])
        }
        if random.once(in: 3) {
            return call(
                .startOf, [operand(.date, depth: depth - 1), unit(depth)] + zone(depth))
        }
        let seconds = random.once(in: 2) ? operand(.double, depth: 0) : literalOperand(.double)
        return call(
            random.once(in: 2) ? .add : .subtract, [operand(.date, depth: depth - 1), seconds])
    }
}
