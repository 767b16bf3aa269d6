import LarderModel
import TestSupport

/// Generates random predicates over the objects of one store that a planner must accept.
///
/// - `…+Comparison.swift` generates single comparisons,
/// - `…+Operand.swift` their operands,
/// - `…+Literal.swift` literal values.
struct PredicateGenerator {
    /// The base of a key path.
    struct Base {
        let expression: QueryExpression
        let entityName: String
    }

    let store: FuzzedStore
    let paths: SchemaPaths
    var random: SeededGenerator
    /// The values that argument nodes refer to.
    var arguments: [QueryArgument] = []
    /// The evaluated object, then the variables of enclosing SUBQUERYs, outermost first.
    var bases: [Base]
    /// The number of SUBQUERYs around the current position.
    private var subqueryDepth = 0
    /// The generated operators, functions and forms, by name.
    var written: Set<String> = []

    init(
        _ store: FuzzedStore, _ paths: SchemaPaths, about entity: String, _ random: SeededGenerator
    ) {
        self.store = store
        self.paths = paths
        self.random = random
        bases = [Base(expression: .object, entityName: entity)]
    }

    /// Records a generated form for the coverage report.
    mutating func note(_ what: String) { written.insert(what) }

    /// A predicate and sort keys.
    mutating func query() -> (predicate: QueryExpression, sort: [SortKey]) {
        (predicate(depth: random.number(0...3)), sort())
    }

    mutating func predicate(depth: Int) -> QueryExpression {
        if depth > 0, !random.once(in: 3) {
            switch random.number(0...4) {
            case 0, 1:
                note("and")
                return .and((0..<random.number(0...3)).map { _ in predicate(depth: depth - 1) })
            case 2, 3:
                note("or")
                return .or((0..<random.number(0...3)).map { _ in predicate(depth: depth - 1) })
            default:
                note("not")
                return .not(predicate(depth: depth - 1))
            }
        }
        return test(depth: depth)
    }

    /// A predicate without AND, OR and NOT at its root.
    private mutating func test(depth: Int) -> QueryExpression {
        for _ in 0..<8 {
            if let test = attempt(depth: depth) { return test }
        }
        note("constant")
        return .constant(.bool(random.once(in: 2)))
    }

    /// Nil if the schema has nothing of the chosen kind.
    private mutating func attempt(depth: Int) -> QueryExpression? {
        switch random.number(0...26) {
        case 0: return truth()
        case 22, 23: return search()
        case 1...6: return comparison(depth: depth)
        case 7, 24...26: return memberComparison(depth: depth)
        case 8, 9: return list(depth: depth)
        case 10, 11: return quantified(depth: depth)
        case 12: return membership(depth: depth)
        case 13, 14: return objects(depth: depth)
        case 15...18: return aggregateComparison(depth: depth)
        case 19: return truthComparison(depth: depth)
        case 20: return typeTest()
        default: return literals()
        }
    }

    /// A Boolean key path used as a predicate.
    private mutating func truth() -> QueryExpression? {
        if random.once(in: 8) {
            note("bool argument")
            return literal(.bool(random.once(in: 2)))
        }
        note("bool key path")
        return singlePath(to: .attribute(.bool))
    }

    mutating func pickBase() -> Base {
        // An inner predicate is usually about the innermost variable.
        if let last = bases.last, !random.once(in: 3) { return last }
        return random.pick(bases) ?? bases[0]
    }

    mutating func singlePath(to end: SchemaPaths.End) -> QueryExpression? {
        let base = pickBase()
        guard let steps = random.pick(paths.entries[base.entityName]?.single[end] ?? []) else {
            return nil
        }
        return .keyPath(base.expression, steps)
    }

    mutating func manyPath(to end: SchemaPaths.End) -> QueryExpression? {
        let base = pickBase()
        guard let steps = random.pick(paths.entries[base.entityName]?.many[end] ?? []) else {
            return nil
        }
        return .keyPath(base.expression, steps)
    }

    /// A collection of objects, and their entity.
    mutating func objectCollection(depth: Int) -> (QueryExpression, String)? {
        let names = store.schema.entities.map(\.name)
        guard let name = random.pick(names), let path = manyPath(to: .object(name)) else {
            return nil
        }
        let isFiltered =
            subqueryDepth == 1 ? random.once(in: 2) : depth > 0 && random.once(in: 3)
        guard isFiltered else { return (path, name) }
        note("subquery")
        var collection = path
        // A SUBQUERY may range over another SUBQUERY, and a variable may shadow another.
        for _ in 0..<(random.once(in: 5) ? 2 : 1) {
            let variable = random.pick(["x", "y"]) ?? "x"
            let hidden = bases
            bases.removeAll { $0.expression == .variable(variable) }
            bases.append(Base(expression: .variable(variable), entityName: name))
            if subqueryDepth > 0 { note("nested subquery") }
            subqueryDepth += 1
            let predicate = predicate(depth: max(0, depth - 1))
            subqueryDepth -= 1
            bases = hidden
            collection = .subquery(collection, variable: variable, predicate: predicate)
        }
        return (collection, name)
    }
}
