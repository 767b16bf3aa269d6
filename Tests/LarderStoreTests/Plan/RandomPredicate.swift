import LarderModel

/// Writes random predicates about `Item`s that the planner has to accept.
struct RandomPredicate<Generator: RandomNumberGenerator> {
    var generator: Generator
    /// The values that argument nodes refer to, as they are written.
    private(set) var arguments: [QueryArgument] = []

    init(_ generator: Generator) { self.generator = generator }

    static var integers: [Value] { [.null, 0, 1, 2, 3, 5, -1, 2.5] }
    static var strings: [Value] {
        [.null, "", "a", "ab", "abc", "b", "B", "é", "e", "e\u{301}x", "q\u{301}", "q", "日本"]
    }
    static var doubles: [Value] { [.null, .double(0), .double(1), 2.5, .double(-1), .int(1)] }

    mutating func predicate(depth: Int) -> QueryExpression {
        guard depth > 0 else { return leaf(from: .object, mayAskMany: true) }
        switch Int.random(in: 0..<5, using: &generator) {
        case 0: return .and((0..<2).map { _ in predicate(depth: depth - 1) })
        case 1: return .or((0..<3).map { _ in predicate(depth: depth - 1) })
        case 2, 3: return .not(predicate(depth: depth - 1))
        default: return leaf(from: .object, mayAskMany: true)
        }
    }

    private mutating func leaf(from base: QueryExpression, mayAskMany: Bool) -> QueryExpression {
        switch Int.random(in: 0..<(mayAskMany ? 12 : 8), using: &generator) {
        case 0: return .keyPath(base, path("b"))
        case 1, 2: return comparison(.keyPath(base, path("n")), Self.integers)
        case 3: return comparison(.keyPath(base, path("d")), Self.doubles)
        case 4, 5: return stringComparison(.keyPath(base, path("s")))
        case 6: return list(base)
        case 7: return pair(base)
        case 8:
            return comparison(
                .keyPath(.object, many("n")), Self.integers,
                modifier: Bool.random(using: &generator) ? .any : .all)
        case 9:
            var test = stringComparison(.keyPath(.object, many("s")))
            if case .comparison(var comparison) = test {
                comparison.modifier = Bool.random(using: &generator) ? .any : .all
                test = .comparison(comparison)
            }
            return test
        case 10: return count(.keyPath(.object, Array(many("").dropLast())))
        default:
            let collection = QueryExpression.keyPath(.object, Array(many("").dropLast()))
            let inner = leaf(from: .variable("x"), mayAskMany: false)
            return count(.subquery(collection, variable: "x", predicate: inner))
        }
    }

    private mutating func path(_ name: String) -> [String] {
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: ["parent", name]
        case 1: ["parent", "parent", name]
        default: [name]
        }
    }

    private mutating func many(_ name: String) -> [String] {
        [
            ["children", name], ["parent", "children", name], ["children", "children", name],
            ["friends", name], ["friends", "parent", name], ["friendOf", "children", name],
        ]
        .randomElement(using: &generator) ?? []
    }

    private mutating func comparison(
        _ left: QueryExpression, _ values: [Value], modifier: Comparison.Modifier = .direct
    ) -> QueryExpression {
        let operators: [Comparison.Operator] = [
            .equal, .notEqual, .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual,
        ]
        let name = operators.randomElement(using: &generator) ?? .equal
        let right = value(values)
        if modifier == .direct, Int.random(in: 0..<4, using: &generator) == 0 {
            return .comparison(Comparison(right, name, left))
        }
        return .comparison(Comparison(left, name, right, modifier: modifier))
    }

    private mutating func stringComparison(_ left: QueryExpression) -> QueryExpression {
        let operators: [Comparison.Operator] = [
            .equal, .notEqual, .lessThan, .greaterThanOrEqual, .beginsWith, .endsWith, .contains,
        ]
        let name = operators.randomElement(using: &generator) ?? .equal
        return .comparison(Comparison(left, name, value(Self.strings)))
    }

    private mutating func list(_ base: QueryExpression) -> QueryExpression {
        let isString = Bool.random(using: &generator)
        let values = isString ? Self.strings : Self.integers
        let left = QueryExpression.keyPath(base, path(isString ? "s" : "n"))
        if Bool.random(using: &generator) {
            return .comparison(
                Comparison(left, .between, .list([value(values), value(values)])))
        }
        let count = Int.random(in: 0...4, using: &generator)
        if Bool.random(using: &generator) {
            arguments.append(
                .list((0..<count).map { _ in values.randomElement(using: &generator) ?? .null }))
            return .comparison(Comparison(left, .in, .argument(arguments.count - 1)))
        }
        return .comparison(Comparison(left, .in, .list((0..<count).map { _ in value(values) })))
    }

    /// Two key paths, of the same or of comparable types.
    private mutating func pair(_ base: QueryExpression) -> QueryExpression {
        let names = [
            ("n", "n"), ("n", "d"), ("d", "d"), ("s", "s"), ("b", "b"), ("parent", "parent"),
        ]
        let (left, right) = names.randomElement(using: &generator) ?? ("n", "n")
        let operators: [Comparison.Operator] =
            left == "b" || left == "parent" ? [.equal, .notEqual] : [.equal, .notEqual, .lessThan]
        let name = operators.randomElement(using: &generator) ?? .equal
        return .comparison(
            Comparison(.keyPath(base, path(left)), name, .keyPath(.object, path(right))))
    }

    private mutating func count(_ collection: QueryExpression) -> QueryExpression {
        comparison(.collection(.count, collection), [0, 1, 2, 3, .null])
    }

    private mutating func value(_ values: [Value]) -> QueryExpression {
        let value = values.randomElement(using: &generator) ?? .null
        if Bool.random(using: &generator) { return .constant(value) }
        arguments.append(.value(value))
        return .argument(arguments.count - 1)
    }
}
