import LarderModel

/// What a predicate means, said a second time and in the simplest way: over values in memory, with
/// Swift's own operators. It knows nothing of the planner.
struct PredicateEvaluator {
    final class Object {
        let name: String
        var values: [String: Value] = [:]
        var toOne: [String: Object] = [:]
        var toMany: [String: [Object]] = [:]

        init(_ name: String) { self.name = name }
    }

    /// One side of a comparison.
    private enum Operand {
        case value(Value)
        case object(Object?)
        case many([Operand])
    }

    /// Through nil these lead to no objects, and other names to nil.
    private static let toManyNames: Set<String> = ["children", "friends", "friendOf"]

    let arguments: [QueryArgument]
    let root: Object
    var variables: [String: Object] = [:]

    func holds(_ expression: QueryExpression) -> Bool {
        switch expression {
        case .and(let parts): parts.allSatisfy(holds)
        case .or(let parts): parts.contains(where: holds)
        case .not(let part): !holds(part)
        case .constant(.bool(let bool)): bool
        case .keyPath: isEqual(operand(expression), .value(true))
        case .comparison(let comparison): holds(comparison)
        default: preconditionFailure("the generator writes no such predicate")
        }
    }

    private func holds(_ comparison: Comparison) -> Bool {
        let left = operand(comparison.left)
        switch (comparison.modifier, left) {
        case (.direct, _): return holds(left, comparison)
        case (.any, .many(let elements)): return elements.contains { holds($0, comparison) }
        case (.all, .many(let elements)): return elements.allSatisfy { holds($0, comparison) }
        default: preconditionFailure("ANY and ALL stand before to-many key paths")
        }
    }

    private func holds(_ left: Operand, _ comparison: Comparison) -> Bool {
        if case .argument(let place) = comparison.right, case .list(let list) = arguments[place] {
            return list.contains { isEqual(left, .value($0)) }
        }
        if case .list(let list) = comparison.right {
            let elements = list.map(operand)
            if comparison.operator == .in { return elements.contains { isEqual(left, $0) } }
            return order(elements[0], left).map { $0 <= 0 } ?? false
                && order(left, elements[1]).map { $0 <= 0 } ?? false
        }
        let right = operand(comparison.right)
        switch comparison.operator {
        case .equal: return isEqual(left, right)
        case .notEqual: return !isEqual(left, right)
        case .lessThan: return order(left, right).map { $0 < 0 } ?? false
        case .lessThanOrEqual: return order(left, right).map { $0 <= 0 } ?? false
        case .greaterThan: return order(left, right).map { $0 > 0 } ?? false
        case .greaterThanOrEqual: return order(left, right).map { $0 >= 0 } ?? false
        default: return holds(left, comparison.operator, right)
        }
    }

    private func holds(_ left: Operand, _ name: Comparison.Operator, _ right: Operand) -> Bool {
        guard case (.value(.string(let text)), .value(.string(let part))) = (left, right) else {
            return false
        }
        switch name {
        case .beginsWith: return Array(text).starts(with: Array(part))
        case .endsWith: return Array(text).reversed().starts(with: Array(part).reversed())
        case .contains:
            let (text, part) = (Array(text), Array(part))
            guard text.count >= part.count else { return false }
            return (0...(text.count - part.count)).contains { text[$0...].starts(with: part) }
        default: preconditionFailure("the generator writes no \(name)")
        }
    }

    private func operand(_ expression: QueryExpression) -> Operand {
        switch expression {
        case .constant(let value): return .value(value)
        case .argument(let place):
            guard case .value(let value) = arguments[place] else {
                preconditionFailure("the generator writes lists behind IN only")
            }
            return .value(value)
        case .object: return .object(root)
        case .variable(let name): return .object(variables[name])
        case .keyPath(let base, let names):
            var operand = operand(base)
            for name in names { operand = step(operand, name) }
            return operand
        case .collection(.count, let collection):
            guard case .many(let elements) = operand(collection) else { return .value(.int(-1)) }
            return .value(.int(Int64(elements.filter { !isNil($0) }.count)))
        case .subquery(let collection, let variable, let predicate):
            guard case .many(let elements) = operand(collection) else { return .many([]) }
            return .many(
                elements.filter { element in
                    guard case .object(let object?) = element else { return false }
                    var inner = self
                    inner.variables[variable] = object
                    return inner.holds(predicate)
                })
        default: preconditionFailure("the generator writes no such operand")
        }
    }

    private func step(_ operand: Operand, _ name: String) -> Operand {
        switch operand {
        case .object(nil): return Self.toManyNames.contains(name) ? .many([]) : .object(nil)
        case .object(let object?):
            if let many = object.toMany[name] { return .many(many.map { .object($0) }) }
            if let value = object.values[name] { return .value(value) }
            return .object(object.toOne[name])
        case .many(let elements):
            return .many(
                elements.flatMap { element in
                    if case .many(let inner) = step(element, name) {
                        inner
                    } else {
                        [step(element, name)]
                    }
                })
        case .value: return .value(.null)
        }
    }

    private func isEqual(_ left: Operand, _ right: Operand) -> Bool {
        if isNil(left) || isNil(right) { return isNil(left) && isNil(right) }
        switch (left, right) {
        case (.object(let one), .object(let other)): return one === other
        case (.value(let one), .value(let other)):
            if let order = order(left, right) { return order == 0 }
            return one == other
        default: return false
        }
    }

    private func isNil(_ operand: Operand) -> Bool {
        switch operand {
        case .value(.null), .object(nil): true
        default: false
        }
    }

    /// nil where there is no order: with nil, and between what has none.
    private func order(_ left: Operand, _ right: Operand) -> Int? {
        guard case (.value(let left), .value(let right)) = (left, right) else { return nil }
        switch (left, right) {
        case (.int(let left), .int(let right)): return left < right ? -1 : left > right ? 1 : 0
        case (.string(let left), .string(let right)):
            return left < right ? -1 : left > right ? 1 : 0
        default:
            guard let left = number(left), let right = number(right) else { return nil }
            return left < right ? -1 : left > right ? 1 : 0
        }
    }

    /// The generator's integers are small, so that they are exact as doubles.
    private func number(_ value: Value) -> Double? {
        switch value {
        case .int(let integer): Double(integer)
        case .double(let double): double
        default: nil
        }
    }
}
