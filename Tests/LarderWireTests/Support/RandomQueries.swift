import FoundationEssentials
import LarderModel
import TestSupport

/// Random expression trees and the queries around them.
struct RandomQueries {
    var generator: SeededGenerator

    mutating func number(_ range: ClosedRange<Int>) -> Int {
        Int.random(in: range, using: &generator)
    }

    mutating func name() -> String {
        let names = ["a", "name", "birthOfYear", "courses", "x_1", "Zürich"]
        return names.randomElement(using: &generator) ?? "a"
    }

    mutating func value() -> Value {
        Samples.values.randomElement(using: &generator)?.value ?? .null
    }

    /// A tree of at most `depth` levels, `depth` being at least 1.
    mutating func tree(depth: Int) -> QueryExpression {
        guard depth > 1 else { return leaf() }
        switch number(0...12) {
        case 0: return .list(trees(depth))
        case 1: return .and(trees(depth))
        case 2: return .or(trees(depth))
        case 3: return .not(tree(depth: depth - 1))
        case 4:
            let function = AggregateFunction.allCases.randomElement(using: &generator)
            return .collection(function ?? .count, tree(depth: depth - 1))
        case 5:
            return .subquery(
                tree(depth: depth - 1), variable: name(), predicate: tree(depth: depth - 1))
        case 6:
            return .keyPath(number(0...1) == 0 ? .object : .variable(name()), [name(), name()])
        case 7: return leaf()
        case 8: return function(depth: depth)
        case 9: return .keyPath(tree(depth: depth - 1), [name()])
        case 10: return .typeTest(tree(depth: depth - 1), entityName: name())
        default: return .comparison(comparison(depth: depth))
        }
    }

    private mutating func comparison(depth: Int) -> Comparison {
        Comparison(
            tree(depth: depth - 1),
            Comparison.Operator.allCases.randomElement(using: &generator) ?? .equal,
            tree(depth: depth - 1),
            options: Comparison.Options(rawValue: UInt32(number(0...4))),
            modifier: Comparison.Modifier.allCases.randomElement(using: &generator) ?? .direct)
    }

    private mutating func function(depth: Int) -> QueryExpression {
        let function = ScalarFunction.allCases.randomElement(using: &generator) ?? .now
        let counts = function.operandCount
        let count = number(counts.lowerBound...min(counts.upperBound, 4))
        return .function(function, (0..<count).map { _ in tree(depth: depth - 1) })
    }

    private mutating func trees(_ depth: Int) -> [QueryExpression] {
        var trees: [QueryExpression] = []
        for _ in 0..<number(0...3) { trees.append(tree(depth: depth - 1)) }
        return trees
    }

    private mutating func leaf() -> QueryExpression {
        switch number(0...3) {
        case 0: .object
        case 1: .variable(name())
        default: .constant(value())
        }
    }

    mutating func term() -> QueryTerm {
        number(0...1) == 0 ? .format("length(\(name()))") : .tree(tree(depth: number(1...4)))
    }

    private mutating func column() -> QueryColumn { QueryColumn(term(), name: name()) }

    private mutating func sortKey() -> SortKey {
        SortKey(
            term(), descending: number(0...1) == 0,
            nilPlacement: SortKey.NilPlacement.allCases.randomElement(using: &generator)
                ?? .standard,
            stringOrder: StringOrder.allCases.randomElement(using: &generator) ?? .plain)
    }

    mutating func query() -> Query {
        let predicate: QueryTerm? =
            switch number(0...4) {
            case 0: nil
            case 1: .format("\(name()) == %@")
            default: .tree(tree(depth: number(1...8)))
            }
        let sort = (0..<number(0...2)).map { _ in sortKey() }
        switch number(0...2) {
        case 0:
            let selections: [Fetch.Selection] = [
                .objects, .identifiers, .columns([]), .columns([column(), column()]),
                .values([column()]),
            ]
            return .fetch(
                Fetch(
                    name(), where: predicate, sort: sort,
                    selection: selections.randomElement(using: &generator) ?? .objects,
                    isDistinct: number(0...1) == 0,
                    prefetch: number(0...2) == 0 ? [name(), "\(name()).\(name())"] : [],
                    includesSubentities: number(0...1) == 0))
        case 1:
            return .count(
                entityName: name(), predicate: predicate,
                includesSubentities: number(0...1) == 0)
        default:
            return .aggregate(
                Aggregate(
                    name(), where: predicate, groupBy: [column()],
                    [
                        .count, .init(.sum, name()),
                        .init(.mode, term(), where: number(0...1) == 0 ? nil : term(), name: "m"),
                    ],
                    having: number(0...1) == 0 ? nil : .tree(tree(depth: 4)), sort: sort,
                    includesSubentities: number(0...1) == 0))
        }
    }
}

extension QueryExpression {
    /// The tree with its arguments replaced by their values.
    func filled(from arguments: [QueryArgument]) -> QueryExpression {
        switch self {
        case .argument(let place):
            switch arguments[place] {
            case .value(let value): .constant(value)
            case .list(let values): .list(values.map { .constant($0) })
            }
        case .constant, .object, .variable: self
        case .list(let elements): .list(elements.map { $0.filled(from: arguments) })
        case .keyPath(let base, let steps): .keyPath(base.filled(from: arguments), steps)
        case .collection(let function, let operand):
            .collection(function, operand.filled(from: arguments))
        case .subquery(let collection, let variable, let predicate):
            .subquery(
                collection.filled(from: arguments), variable: variable,
                predicate: predicate.filled(from: arguments))
        case .comparison(let comparison):
            .comparison(
                Comparison(
                    comparison.left.filled(from: arguments), comparison.operator,
                    comparison.right.filled(from: arguments), options: comparison.options,
                    modifier: comparison.modifier))
        case .function(let function, let operands):
            .function(function, operands.map { $0.filled(from: arguments) })
        case .typeTest(let operand, let entityName):
            .typeTest(operand.filled(from: arguments), entityName: entityName)
        case .and(let operands): .and(operands.map { $0.filled(from: arguments) })
        case .or(let operands): .or(operands.map { $0.filled(from: arguments) })
        case .not(let operand): .not(operand.filled(from: arguments))
        }
    }
}

extension Query {
    func filled(from arguments: [QueryArgument]) -> Query {
        func fill(_ term: QueryTerm) -> QueryTerm {
            guard case .tree(let tree) = term else { return term }
            return .tree(tree.filled(from: arguments))
        }
        func fill(_ column: QueryColumn) -> QueryColumn {
            QueryColumn(fill(column.term), name: column.name)
        }
        func fill(_ key: SortKey) -> SortKey {
            var key = key
            key.term = fill(key.term)
            return key
        }
        switch self {
        case .fetch(var fetch):
            fetch.predicate = fetch.predicate.map(fill)
            fetch.sort = fetch.sort.map(fill)
            switch fetch.selection {
            case .objects, .identifiers: break
            case .columns(let columns): fetch.selection = .columns(columns.map(fill))
            case .values(let columns): fetch.selection = .values(columns.map(fill))
            }
            return .fetch(fetch)
        case .count(let entityName, let predicate, let includesSubentities):
            return .count(
                entityName: entityName, predicate: predicate.map(fill),
                includesSubentities: includesSubentities)
        case .aggregate(var aggregate):
            aggregate.predicate = aggregate.predicate.map(fill)
            aggregate.groupBy = aggregate.groupBy.map(fill)
            aggregate.columns = aggregate.columns.map { column in
                var column = column
                column.term = column.term.map(fill)
                column.filter = column.filter.map(fill)
                return column
            }
            aggregate.having = aggregate.having.map(fill)
            aggregate.sort = aggregate.sort.map(fill)
            return .aggregate(aggregate)
        }
    }
}
