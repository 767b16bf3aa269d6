import LarderModel
import LarderQuery
import LarderStore
import QueryScripts
import Testing

@Suite struct PlanLimitsTests {
    /// `Item`s, each with a parent and children.
    static let schemaText = """
        { "version": "1.0.0", "entities": [ { "name": "Item",
          "attributes": [ { "name": "n", "type": "int64", "optional": true } ],
          "relationships": [
            { "name": "parent", "destination": "Item", "inverse": "children" },
            { "name": "children", "destination": "Item", "toMany": true,
              "inverse": "parent" } ] } ] }
        """

    /// A chain of `Item`s, each with many others.
    private func fixture() throws -> QueryFixture {
        let fixture = try QueryFixture(SchemaFile.schema(parsing: Self.schemaText))
        try fixture.insert([
            .init(entityName: "Item", name: "a", values: ["n": .integer(1)]),
            .init(entityName: "Item", name: "b", values: ["parent": .string("@a")]),
        ])
        return fixture
    }

    private func rows(_ predicate: QueryExpression) throws -> [String] {
        let fixture = try fixture()
        let query = Query.fetch(Fetch("Item", where: .tree(predicate), selection: .identifiers))
        return fixture.rows(try fixture.batches(query))
    }

    private let isOne = QueryExpression.comparison(
        Comparison(.keyPath("n"), .equal, .constant(1)))

    /// Alternating AND and OR, with the deep part last.
    private func nested(levels: Int) -> QueryExpression {
        (0..<levels).reduce(isOne) { inner, level in
            level.isMultiple(of: 2) ? .or([isOne, inner]) : .and([isOne, inner])
        }
    }

    @Test("a query of the maximum depth of nesting, each an AND in an OR, is accepted")
    func deepPredicate() throws {
        // The comparison, its key path and the base of that are the three deepest levels.
        let levels = Limits.expressionDepthMax - 3
        #expect(try rows(nested(levels: levels)) == ["a"])
        let negated = (0..<levels / 2).reduce(isOne) { inner, _ in
            .not(.or([inner, .not(isOne)]))
        }
        #expect(try rows(negated) == ["a"])
    }

    @Test("a predicate tree one level deeper than the limit is rejected")
    func tooDeepPredicate() throws {
        let levels = Limits.expressionDepthMax - 2
        let error = #expect(throws: LarderError.self) { try rows(nested(levels: levels)) }
        #expect(error?.code == .resourceExhausted)
    }

    @Test("a predicate of thousands of alternatives is accepted")
    func widePredicate() throws {
        let wide = Limits.expressionNodesMax / 4 - 2
        let predicate = QueryExpression.or(
            (0..<wide).map { number in
                .comparison(Comparison(.keyPath("n"), .equal, .constant(.int(Int64(number)))))
            })
        #expect(try rows(predicate) == ["a"])
        #expect(try rows(.not(predicate)) == ["b"])
    }

    @Test("ten nested subqueries are accepted and eleven are rejected")
    func nestedSubqueries() throws {
        func predicate(levels: Int) -> QueryExpression {
            guard levels > 0 else { return .constant(.bool(true)) }
            let base = QueryExpression.variable("x\(levels + 1)")
            let collection = QueryExpression.keyPath(base, ["children"])
            return .comparison(
                Comparison(
                    .collection(
                        .count,
                        .subquery(
                            collection, variable: "x\(levels)",
                            predicate: predicate(levels: levels - 1))),
                    .equal, .constant(0)))
        }
        func outermost(_ levels: Int) -> QueryExpression {
            .comparison(
                Comparison(
                    .collection(
                        .count,
                        .subquery(
                            .keyPath("children"), variable: "x\(levels)",
                            predicate: predicate(levels: levels - 1))),
                    .greaterThan, .constant(0)))
        }
        #expect(try rows(outermost(10)) == ["a"])
        #expect(throws: Self.tooManyCollections) { try rows(outermost(11)) }
    }

    private static let tooManyCollections = LarderError(
        .resourceExhausted, "more than 10 SUBQUERY, ANY or ALL are nested",
        hint: "run several queries, each for the objects that the last one found")

    @Test(
        "ten nested predicates of ANY, ALL or NONE are accepted and eleven are rejected",
        arguments: [Comparison.Modifier.any, .all])
    func nestedModifiers(modifier: Comparison.Modifier) throws {
        func predicate(_ levels: Int, _ base: QueryExpression) -> QueryExpression {
            guard levels > 0 else { return isOne }
            let variable = "x\(levels)"
            let children = QueryExpression.keyPath(base, ["children"])
            guard levels > 1 else {
                return .not(
                    .comparison(
                        Comparison(
                            .keyPath(base, ["children", "n"]), .equal, .constant(1),
                            modifier: modifier)))
            }
            return .comparison(
                Comparison(
                    .subquery(
                        children, variable: variable,
                        predicate: predicate(levels - 1, .variable(variable))), .notEqual,
                    .constant(.null), modifier: modifier))
        }
        #expect(try rows(predicate(10, .object)).count <= 2)
        #expect(throws: Self.tooManyCollections) { try rows(predicate(11, .object)) }
    }

    @Test(
        "thirty nested functions are accepted, and more than SQLite can parse are rejected")
    func nestedFunctions() throws {
        func predicate(_ function: ScalarFunction, levels: Int) -> QueryExpression {
            let operand = (0..<levels).reduce(QueryExpression.keyPath("n")) { inner, _ in
                function == .add
                    ? .function(.add, [inner, .constant(0)]) : .function(function, [inner])
            }
            return .comparison(Comparison(operand, .equal, .constant(1)))
        }
        #expect(try rows(predicate(.abs, levels: 28)) == ["a"])
        #expect(try rows(predicate(.add, levels: 60)) == ["a"])
        let error = #expect(throws: LarderError.self) { try rows(predicate(.abs, levels: 60)) }
        #expect(error?.code == .resourceExhausted)
    }

    @Test("a query with more joins than SQLite supports is rejected")
    func tooManyJoins() throws {
        let paths = (1...16).map { Array(repeating: "parent", count: $0 - 1) + ["n"] }
        #expect(try rows(.and(paths.map { isNil($0) })) == [])
        let error = #expect(throws: LarderError.self) {
            try rows(
                .comparison(
                    Comparison(
                        .keyPath(.object, Array(repeating: "parent", count: 17)), .equal,
                        .constant(.null))))
        }
        #expect(error?.code == .resourceExhausted)
    }

    private func isNil(_ path: [String]) -> QueryExpression {
        .comparison(Comparison(.keyPath(.object, path), .equal, .constant(.null)))
    }

    @Test("a subquery of a subquery selects the elements that satisfy both")
    func subqueryOfSubquery() throws {
        let inner = QueryExpression.subquery(
            .keyPath("children"), variable: "x",
            predicate: .comparison(
                Comparison(.keyPath(.variable("x"), ["n"]), .equal, .constant(.null))))
        let outer = QueryExpression.subquery(
            inner, variable: "y",
            predicate: .comparison(
                Comparison(.keyPath(.variable("y"), ["parent"]), .equal, .object)))
        #expect(
            try rows(.comparison(Comparison(.collection(.count, outer), .equal, .constant(1)))) == [
                "a"
            ])
    }

    @Test("a plan is used for arguments of every kind, nil or not")
    func planIsReused() throws {
        let fixture = try fixture()
        let predicate = QueryExpression.comparison(Comparison(.keyPath("n"), .equal, .argument(0)))
        let query = Query.fetch(Fetch("Item", where: .tree(predicate), selection: .identifiers))
        let plan = try fixture.store.plan(query, QueryParameters())
        #expect(!plan.dependsOnArguments)
        for (argument, expected) in [
            (Value.int(1), ["a"]), (.null, ["b"]), (.double(1), ["a"]), (2, []),
        ] {
            let parameters = QueryParameters(arguments: [.value(argument)])
            let cursor = try fixture.reader.open(plan, parameters, budget: ReadBudget())
            let batch = try cursor.next(bytesMax: 1_000, budget: ReadBudget()).batch
            cursor.close()
            #expect(fixture.rows([batch]) == expected)
        }
    }

    @Test("a predicate tree with a missing argument is rejected when it is run")
    func missingArgument() throws {
        let error = #expect(throws: LarderError.self) {
            try rows(.comparison(Comparison(.keyPath("n"), .equal, .argument(0))))
        }
        #expect(error?.code == .malformedPredicate)
    }

    @Test(
        "arguments of a query with an index beyond every limit are rejected",
        arguments: [-1, Int.min, Int.max])
    func absurdArgument(place: Int) throws {
        let error = #expect(throws: LarderError.self) {
            try rows(.comparison(Comparison(.keyPath("n"), .equal, .argument(place))))
        }
        #expect(error?.code == .malformedPredicate)
    }
}
