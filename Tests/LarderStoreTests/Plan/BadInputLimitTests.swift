import LarderModel
import LarderQuery
import LarderStore
import QueryScripts
import Testing

/// Queries that exceed a limit by one.
@Suite("A query beyond its limits") struct BadInputLimitTests {
    private func fixture() throws -> QueryFixture {
        let fixture = try QueryFixture(
            SchemaFile.schema(
                parsing: """
                    { "version": "1.0.0", "entities": [ { "name": "Item",
                      "attributes": [ { "name": "n", "type": "int64" } ],
                      "relationships": [ { "name": "others", "destination": "Item",
                        "toMany": true, "inverse": "others" } ] } ] }
                    """))
        try fixture.insert([.init(entityName: "Item", name: "a", values: ["n": .integer(7)])])
        return fixture
    }

    private func refusal(
        _ query: Query, _ parameters: QueryParameters = QueryParameters()
    ) throws -> LarderError? {
        let fixture = try fixture()
        do {
            _ = try fixture.batches(query, parameters)
            return nil
        } catch let error as LarderError {
            return error
        }
    }

    private func list(_ count: Int) -> QueryParameters {
        QueryParameters(arguments: [.list((0..<count).map { .int(Int64($0)) })])
    }

    @Test("a query of ten thousand literals is rejected with a hint, which works")
    func literals() throws {
        let text = (0..<10_000).map(String.init).joined(separator: ", ")
        let error = try refusal(
            .count(entityName: "Item", predicate: .format("n IN {\(text)}")))
        #expect(error?.code == .resourceExhausted)
        #expect(error?.hint?.contains("argument") == true)
        let query = Query.count(entityName: "Item", predicate: .format("n IN %@"))
        let fixture = try fixture()
        #expect(fixture.rows(try fixture.batches(query, list(10_000))) == ["1"])
    }

    @Test("a list of a million values in a query is accepted, and one more value is rejected")
    func lists() throws {
        let query = Query.count(entityName: "Item", predicate: .format("n IN %@"))
        #expect(try refusal(query, list(Limits.listElementsMax)) == nil)
        #expect(
            try refusal(query, list(Limits.listElementsMax + 1))?.code == .resourceExhausted)
    }

    @Test("columns, sort keys, group keys and aggregates of a query have a maximum")
    func columns() throws {
        let most = Limits.queryColumnsMax
        for count in [most, most + 1] {
            let columns = (0..<count).map { QueryColumn("n + \($0)", name: "c\($0)") }
            let queries: [Query] = [
                .fetch(Fetch("Item", selection: .columns(columns))),
                .fetch(Fetch("Item", sort: (0..<count).map { SortKey("n + \($0)") })),
                .aggregate(
                    Aggregate(
                        "Item",
                        (0..<count).map { Aggregate.Column(.sum, "n", name: "c\($0)") })),
                .aggregate(Aggregate("Item", groupBy: columns, [])),
            ]
            for query in queries {
                let error = try refusal(query)
                if count == most {
                    #expect(error == nil)
                } else {
                    #expect(error?.code == .resourceExhausted)
                }
            }
        }
    }

    @Test("chains of ** and nested functions in a query are limited", arguments: [10, 60, 5_000])
    func nesting(count: Int) throws {
        for text in [
            "n > " + Array(repeating: "n", count: count).joined(separator: " ** "),
            String(repeating: "abs(", count: count) + "n" + String(repeating: ")", count: count)
                + " > 0",
            String(repeating: "NOT (", count: count) + "n > 0"
                + String(repeating: ")", count: count),
            Array(repeating: "n > 0", count: count).joined(separator: " AND "),
        ] {
            let error = try refusal(.count(entityName: "Item", predicate: .format(text)))
            let isBounded = error == nil || error?.code == .resourceExhausted
            #expect(isBounded, "\(String(describing: error))")
            if count == 10 { #expect(error == nil) }
            if count == 5_000 { #expect(error != nil) }
        }
    }

    @Test("a prefetch over a complete graph is limited in time and in each batch")
    func densePrefetch() throws {
        let fixture = try fixture()
        let names = (0..<200).map { "b\($0)" }
        try fixture.insert(
            names.map {
                .init(
                    entityName: "Item", name: $0,
                    values: ["n": .integer(1), "others": .array(names.map { .string("@\($0)") })])
            })
        var path = "others"
        for _ in 0..<7 { path += ".others" }
        let query = Query.fetch(Fetch("Item", prefetch: [path]))
        let plan = try fixture.store.plan(query, QueryParameters())
        let budget = ReadBudget(deadline: .now.advanced(by: .milliseconds(500)))
        let bytesMax = 16 << 10
        do throws(ReadFailure) {
            let cursor = try fixture.reader.open(plan, QueryParameters(), budget: budget)
            defer { cursor.close() }
            while true {
                let (batch, isLast) = try cursor.next(bytesMax: bytesMax, budget: budget)
                // A list is not divided: one row's list may be larger than a batch.
                #expect(batch.rowCount <= 200)
                if isLast { break }
            }
        } catch {
            guard case .failed(let failure) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(failure.code == .timeout)
        }
    }
}
