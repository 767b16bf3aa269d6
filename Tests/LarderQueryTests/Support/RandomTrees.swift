import FoundationEssentials
import LarderModel
import TestSupport

/// Generates trees of every form that a format string has. All arguments are `argument(0)`, since
/// the text does not contain their indexes.
struct RandomTrees {
    var generator: SeededGenerator
    private var variables: [String] = []

    init(generator: SeededGenerator) { self.generator = generator }

    private mutating func number(_ bound: Int) -> Int {
        Int.random(in: 0..<bound, using: &generator)
    }

    private mutating func one<Element>(of elements: [Element]) -> Element {
        elements[number(elements.count)]
    }

    /// A predicate.
    mutating func predicate(levels: Int) -> QueryExpression {
        switch number(levels > 0 ? 9 : 5) {
        case 0: return .constant(.bool(number(2) == 0))
        case 1: return keyPath(levels: levels)
        case 2: return number(2) == 0 ? .argument(0) : .variable(variable())
        case 3 where number(3) == 0:
            let object = number(2) == 0 ? keyPath(levels: levels) : .object
            return .typeTest(object, entityName: one(of: ["Item", "is", "and", "Self", "x_1"]))
        case 5: return .and((0...(1 + number(2))).map { _ in predicate(levels: levels - 1) })
        case 6: return .or((0...(1 + number(2))).map { _ in predicate(levels: levels - 1) })
        case 7: return .not(predicate(levels: levels - 1))
        case 8:
            return number(2) == 0
                ? function(.conditional, levels: levels) : function(.coalesce, levels: levels)
        default: return .comparison(comparison(levels: levels))
        }
    }

    /// A side of a comparison, an operand of a function, or an element of a list.
    mutating func value(levels: Int) -> QueryExpression {
        switch number(levels > 0 ? 10 : 5) {
        case 0: return keyPath(levels: levels)
        case 1: return constant()
        case 2: return .object
        case 3: return number(2) == 0 ? .argument(0) : .variable(variable())
        case 4:
            let aggregate = one(of: AggregateFunction.allCases)
            return .collection(
                aggregate, number(2) == 0 ? keyPath(levels: levels) : subquery(levels: levels))
        case 5: return subquery(levels: levels)
        case 6: return predicate(levels: levels - 1)
        default: return function(one(of: ScalarFunction.allCases), levels: levels)
        }
    }

    private mutating func function(_ function: ScalarFunction, levels: Int) -> QueryExpression {
        let counts = function.operandCount
        let count = counts.lowerBound + number(min(counts.count, 3))
        var operands = (0..<count).map { _ in value(levels: levels - 1) }
        if function == .conditional { operands[0] = predicate(levels: levels - 1) }
        return .function(function, operands)
    }

    private mutating func comparison(levels: Int) -> Comparison {
        let name = one(of: Comparison.Operator.allCases)
        let right: QueryExpression =
            switch name {
            case .between: .list([value(levels: levels - 1), value(levels: levels - 1)])
            // After IN, a parenthesis begins a list.
            case .in where number(2) == 0: keyPath(levels: levels)
            case .in: .list((0..<number(4)).map { _ in value(levels: levels - 1) })
            default: value(levels: levels - 1)
            }
        return Comparison(
            value(levels: levels - 1), name, right,
            options: Comparison.Options(rawValue: UInt32(number(5))),
            modifier: one(of: Comparison.Modifier.allCases))
    }

    private mutating func subquery(levels: Int) -> QueryExpression {
        let collection =
            levels > 1 && number(4) == 0 ? subquery(levels: levels - 1) : keyPath(levels: levels)
        let name = variable()
        variables.append(name)
        let condition = levels > 0 ? predicate(levels: levels - 1) : .constant(.bool(true))
        variables.removeLast()
        return .subquery(collection, variable: name, predicate: condition)
    }

    private mutating func variable() -> String { one(of: ["x", "y", "and", "x_1"]) }

    private mutating func keyPath(levels: Int) -> QueryExpression {
        let names = [
            "a", "name", "in", "self", "SUBQUERY", "sum:b", "x_1", "True", "and", "count", "length",
            "min", "year", "union", "is",
        ]
        let steps = (0...number(3)).map { _ in one(of: names) }
        if levels > 1, number(6) == 0 { return .keyPath(subquery(levels: levels - 1), steps) }
        guard let variable = variables.last, number(2) == 0 else { return .keyPath(.object, steps) }
        return .keyPath(.variable(variable), steps)
    }

    private mutating func constant() -> QueryExpression {
        let bits = generator.next()
        switch number(7) {
        case 0: return .constant(.null)
        case 1: return .constant(.bool(bits.isMultiple(of: 2)))
        case 2: return .constant(.int([Int64(bitPattern: bits), .min, .max, 0, -1][number(5)]))
        case 3:
            let double = Double(bitPattern: bits)
            return .constant(.double(double.isFinite ? double : 0.5))
        case 4:
            // More digits than a double has, so that the literal is a decimal.
            let text = "\(bits % 2 == 0 ? "-" : "")\(bits).\(bits)1"
            return .constant(Decimal(exactly: text).map { .decimal($0) } ?? .null)
        default:
            var text = String.UnicodeScalarView()
            for _ in 0..<number(8) { text.append(one(of: Fuzzing.alphabet)) }
            return .constant(.string(String(text)))
        }
    }
}

extension QueryExpression {
    /// The tree with index 0 for each argument.
    var withoutPlaces: QueryExpression {
        switch self {
        case .argument: .argument(0)
        case .constant, .object, .variable: self
        case .list(let elements): .list(elements.map(\.withoutPlaces))
        case .keyPath(let base, let steps): .keyPath(base.withoutPlaces, steps)
        case .collection(let function, let operand):
            .collection(function, operand.withoutPlaces)
        case .subquery(let collection, let variable, let predicate):
            .subquery(
                collection.withoutPlaces, variable: variable, predicate: predicate.withoutPlaces)
        case .function(let function, let operands):
            .function(function, operands.map(\.withoutPlaces))
        case .comparison(let comparison):
            .comparison(
                Comparison(
                    comparison.left.withoutPlaces, comparison.operator,
                    comparison.right.withoutPlaces, options: comparison.options,
                    modifier: comparison.modifier))
        case .typeTest(let operand, let entityName):
            .typeTest(operand.withoutPlaces, entityName: entityName)
        case .and(let operands): .and(operands.map(\.withoutPlaces))
        case .or(let operands): .or(operands.map(\.withoutPlaces))
        case .not(let operand): .not(operand.withoutPlaces)
        }
    }
}
