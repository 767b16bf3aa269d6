import LarderModel
import LarderQuery
import LarderStore
import QueryScripts
import Testing

@Suite struct FunctionBudgetTests {
    @Test("a read stops at its deadline before the next function of a long string")
    func deadline() throws {
        let fixture = try QueryFixture(
            SchemaFile.schema(
                parsing: """
                    { "version": "1.0.0", "entities": [ { "name": "Item",
                      "attributes": [ { "name": "text", "type": "string" } ] } ] }
                    """))
        let text = String(repeating: "é", count: 100_000)
        try fixture.insert(
            (0..<20).map {
                .init(entityName: "Item", name: "i\($0)", values: ["text": .string(text)])
            })
        let calls: [(ScalarFunction, [QueryExpression])] = [
            (.uppercase, []), (.lowercase, []), (.canonical, []), (.trim, []),
            (.replace, [.constant("é"), .constant("è")]), (.split, [.constant("x"), .constant(0)]),
            (.substring, [.constant(-100_000)]), (.concat, [.constant("é")]),
            (.padEnd, [.constant(100_001), .constant("é")]),
        ]
        for (function, others) in calls {
            let nested = (0..<10).reduce(QueryExpression.keyPath("text")) { inner, _ in
                .function(function, [inner] + others)
            }
            let query = Query.count(
                entityName: "Item",
                predicate: .tree(.comparison(Comparison(nested, .equal, .constant("")))))
            let plan = try fixture.store.plan(query, QueryParameters())
            let budget = ReadBudget(deadline: .now.advanced(by: .milliseconds(50)))
            do throws(ReadFailure) {
                let cursor = try fixture.reader.open(plan, QueryParameters(), budget: budget)
                defer { cursor.close() }
                _ = try cursor.next(bytesMax: 1_000, budget: budget)
                Issue.record("the read ended in time")
            } catch {
                guard case .failed(let failure) = error else {
                    Issue.record("\(error)")
                    continue
                }
                #expect(failure.code == .timeout)
            }
        }
    }
}
