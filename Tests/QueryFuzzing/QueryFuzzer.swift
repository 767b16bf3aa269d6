import LarderModel
public import TestSupport

/// Compares SQL with the evaluator for random schemas, objects and predicates: both must select the
/// same objects in the same order, and reject the same predicates.
public struct QueryFuzzer {
    /// Statistics of the cases, which show that they are not vacuous.
    public struct Account: Sendable {
        public var caseCount = 0
        /// Cases that select some of the objects.
        public var selectiveCount = 0
        /// Ill-typed cases, which both sides must reject.
        public var refusedCount = 0
        /// Cases in which only one side ran into an overflow or a similar error.
        public var undecidedCount = 0
        /// The number of cases with each operator, function and form.
        public var written: [String: Int] = [:]
    }

    /// Everything that predicates can contain, with the names in ``Account/written``.
    private static var everything: [String] {
        Comparison.Operator.allCases.map(\.rawValue)
            + ["and", "or", "not", "bool key path", "subquery", "nested subquery", "membership"]
            + ["objects", "IN objects", "any", "all", "any of objects", "all of objects"]
            + ["any of members", "all of members", "any of computed values"]
            + ["all of computed values", "a predicate compared"]
            + ["sort JSON", "array", "two members", "member with decimal", "text of a member"]
            + ["IN of JSON", "BETWEEN of JSON", "list argument", "IN an array", "text arguments"]
            + ["CONTAINS of an array", "any of an array", "all of an array"]
            + ["@count of an array", "@sum of an array", "@minimum of JSON", "@mode of JSON"]
            + ["literals", "sort", "zone", "round to places", "choice of values"]
            + ["integer and fraction"]
            + ["two operands", "ill-typed", "member", "properties of a subquery", "ranked search"]
            + AggregateFunction.allCases.map { "@\($0)" }
            + ScalarFunction.allCases.filter { $0 != .now }.map(\.name)
            + StringOrder.allCases.map { "sort \($0)" }
            + SortKey.NilPlacement.allCases.map { "nil \($0)" }
    }

    /// The contents of predicates without documents as values and without an order.
    static var predicateForms: [String] {
        Comparison.Operator.allCases.map(\.rawValue)
            + ["and", "or", "not", "bool key path", "subquery", "nested subquery", "membership"]
            + ["objects", "IN objects", "any", "all", "any of objects", "all of objects"]
            + ["literals", "two operands", "ill-typed", "member", "properties of a subquery"]
            + ["choice of values", "integer and fraction"]
            + AggregateFunction.allCases.map { "@\($0)" }
            + ScalarFunction.allCases.filter { $0 != .now }.map(\.name)
    }

    /// The number of predicates per set of objects.
    private static let casesOfStoreMax = 200

    private var random: SeededGenerator
    private(set) var store: FuzzedStore
    private var paths: SchemaPaths
    private var casesOfStore = 0
    private let bug: InjectedBug?
    public private(set) var account = Account()

    /// - Parameter bug: A deliberate bug in the evaluator.
    public init(_ random: SeededGenerator, bug: InjectedBug? = nil) throws {
        self.random = random
        self.bug = bug
        store = try FuzzedStore(&self.random)
        paths = SchemaPaths(store.schema)
    }

    /// The forms that no case has covered so far.
    public var missing: [String] {
        Self.everything.filter { account.written[$0] == nil }
    }

    /// The forms that the fewest cases have covered, rarest first.
    public var rarest: [(name: String, count: Int)] {
        Self.everything.map { ($0, account.written[$0] ?? 0) }.sorted { $0.1 < $1.1 }
    }

    /// Runs one case.
    ///
    /// - Returns: The disagreement, if the two sides differ.
    public mutating func next() throws -> Disagreement? {
        if casesOfStore >= Self.casesOfStoreMax {
            store = try FuzzedStore(&random)
            paths = SchemaPaths(store.schema)
            casesOfStore = 0
        }
        casesOfStore += 1
        account.caseCount += 1
        let query = query()
        let selected = store.selected(query, isParallel: casesOfStore % 2 == 0)
        let evaluated = store.evaluated(query, bug)
        note(selected, of: query)
        if selected == evaluated { return nil }
        if selected.dependsOnOrder || evaluated.dependsOnOrder {
            account.undecidedCount += 1
            return nil
        }
        return Disagreement(query, in: store, bug)
    }

    mutating func query() -> QueryCase {
        let entities = store.schema.entities
        let entityName = (random.pick(entities) ?? entities[0]).name
        var generator = PredicateGenerator(store, paths, about: entityName, random)
        var (predicate, sort) =
            generator.random.once(in: 20)
            ? generator.rankedSearch() ?? generator.query() : generator.query()
        if generator.random.once(in: 10) {
            predicate = generator.spoiled(predicate)
        }
        let limit = generator.random.once(in: 3) ? Int64(generator.random.number(0...6)) : nil
        let offset = generator.random.once(in: 6) ? Int64(generator.random.number(0...3)) : nil
        let argumentsAreText = generator.random.once(in: 10)
        if argumentsAreText { generator.note("text arguments") }
        random = generator.random
        for what in generator.written { account.written[what, default: 0] += 1 }
        return QueryCase(
            entityName: entityName, predicate: predicate, sort: sort,
            arguments: generator.arguments, argumentsAreText: argumentsAreText,
            includesSubentities: !random.once(in: 5),
            limit: limit, offset: offset)
    }

    private mutating func note(_ outcome: QueryOutcome, of query: QueryCase) {
        switch outcome {
        case .keys(let keys):
            let count = store.objects(of: query.entityName).count
            if !keys.isEmpty, keys.count < count { account.selectiveCount += 1 }
        case .refused: account.refusedCount += 1
        }
    }
}
