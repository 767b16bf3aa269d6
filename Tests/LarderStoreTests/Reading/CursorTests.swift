import FoundationEssentials
import LarderModel
import LarderQuery
import LarderStore
import QueryScripts
import Testing

@Suite struct CursorTests {
    /// `Item`s 0 to `count`, each linked to the one before.
    private func fixture(count: Int) throws -> QueryFixture {
        let fixture = try QueryFixture(
            SchemaFile.schema(
                parsing: """
                    { "version": "1.0.0", "entities": [ { "name": "Item",
                      "attributes": [
                        { "name": "n", "type": "int64" },
                        { "name": "text", "type": "string", "optional": true } ],
                      "relationships": [
                        { "name": "previous", "destination": "Item", "inverse": "next" },
                        { "name": "next", "destination": "Item", "toMany": true,
                          "inverse": "previous" } ] } ] }
                    """))
        try fixture.insert(
            (0..<count).map { number in
                var values: [String: JSONValue] = [
                    "n": .integer(Int64(number)),
                    "text": .string(String(repeating: "x", count: 50)),
                ]
                if number > 0 { values["previous"] = .string("@i\(number - 1)") }
                return QueryFixture.Object(entityName: "Item", name: "i\(number)", values: values)
            })
        return fixture
    }

    private let all = Query.fetch(Fetch("Item", selection: .columns(["n", "text", "next"])))

    @Test("a result larger than a batch has several batches, none much larger than requested")
    func batches() throws {
        let fixture = try fixture(count: 500)
        let batches = try fixture.batches(all, bytesMax: 4_096)
        #expect(batches.count > 5)
        #expect(batches.allSatisfy { $0.rowCount > 0 && $0.rowCount < 100 })
        #expect(batches.reduce(0) { $0 + $1.rowCount } == 500)
        #expect(fixture.rows(batches) == fixture.rows(try fixture.batches(all)))
    }

    @Test("a batch of a query has at least one row, however few bytes are requested")
    func smallestBatches() throws {
        let batches = try fixture(count: 3).batches(all, bytesMax: 0)
        #expect(batches.map(\.rowCount) == [1, 1, 1])
    }

    @Test("a result without rows is one batch with the columns")
    func noRows() throws {
        let fixture = try fixture(count: 0)
        let batches = try fixture.batches(all)
        #expect(batches.map(\.rowCount) == [0])
        #expect(batches[0].columns.map(\.name) == ["n", "text", "next"])
        #expect(batches[0].identity?.entityName == "Item")
        #expect(batches[0].columns[2].kind == .objects(entityName: "Item"))
    }

    @Test("an open cursor does not see what is written after its first batch")
    func snapshot() throws {
        let fixture = try fixture(count: 3)
        let plan = try fixture.store.plan(all, QueryParameters())
        let cursor = try fixture.reader.open(plan, QueryParameters(), budget: ReadBudget())
        let first = try cursor.next(bytesMax: 0, budget: ReadBudget())
        try fixture.delete("i1")
        try fixture.insert([QueryFixture.Object(entityName: "Item", name: "late", values: ["n": 9])]
        )
        var rows = fixture.rows([first.batch])
        var isLast = first.isLast
        while !isLast {
            let next = try cursor.next(bytesMax: 0, budget: ReadBudget())
            rows += fixture.rows([next.batch])
            isLast = next.isLast
        }
        cursor.close()
        #expect(rows.map { $0.split(separator: " ")[0] } == ["i0", "i1", "i2"])
        #expect(rows[0].hasSuffix("[i1]"))
        let after = fixture.rows(try fixture.batches(all))
        #expect(after.map { $0.split(separator: " ")[0] } == ["i0", "i2", "late"])
    }

    @Test("a query that exceeds its budget is stopped, and the reader continues")
    func stepsAreBounded() throws {
        let fixture = try fixture(count: 300)
        let slow = Query.count(
            entityName: "Item",
            predicate: .tree(
                .comparison(Comparison(.keyPath("n"), .greaterThanOrEqual, .constant(0)))))
        let plan = try fixture.store.plan(slow, QueryParameters())
        let cursor = try fixture.reader.open(plan, QueryParameters(), budget: ReadBudget())
        do throws(ReadFailure) {
            _ = try cursor.next(bytesMax: 1_000, budget: ReadBudget(work: 500))
            Issue.record("the query ran to its end")
        } catch {
            guard case .budgetExceeded = error else {
                Issue.record("\(error)")
                return
            }
        }
        cursor.close()
        let rows = try fixture.batches(slow, budget: ReadBudget(work: 1_000_000))
        #expect(fixture.rows(rows) == ["300"])
    }

    @Test("a query is stopped at its deadline")
    func deadlineIsKept() throws {
        let fixture = try fixture(count: 300)
        let slow = Query.fetch(
            Fetch("Item", where: .tree(.keyPathsDiffer), selection: .identifiers))
        let budget = ReadBudget(deadline: ContinuousClock.now)
        let error = #expect(throws: LarderError.self) {
            _ = try fixture.batches(slow, budget: budget)
        }
        #expect(error?.code == .timeout)
        #expect(try fixture.batches(slow)[0].rowCount == 299)
    }

    @Test("a query calls no function after its deadline, even after few steps")
    func functionsAreBounded() throws {
        let fixture = try fixture(count: 2)
        let slow = Query.count(entityName: "Item", predicate: .format("text MATCHES 'x+'"))
        let cancellation = ReadCancellation()
        cancellation.cancel()
        for (budget, code) in [
            (ReadBudget(workTimeMax: .zero), nil), (ReadBudget(deadline: .now), .timeout),
            (ReadBudget(cancellation: cancellation), .cancelled),
        ] as [(ReadBudget, ErrorCode?)] {
            let plan = try fixture.store.plan(slow, QueryParameters())
            let cursor = try fixture.reader.open(plan, QueryParameters(), budget: ReadBudget())
            do throws(ReadFailure) {
                _ = try cursor.next(bytesMax: 1_000, budget: budget)
                Issue.record("the query ran to its end")
            } catch {
                switch error {
                case .budgetExceeded: #expect(code == nil)
                case .failed(let failure): #expect(failure.code == code)
                }
            }
            cursor.close()
        }
        #expect(fixture.rows(try fixture.batches(slow)) == ["2"])
    }

    @Test("a released cursor ends its snapshot")
    func droppedCursor() throws {
        let fixture = try fixture(count: 3)
        let plan = try fixture.store.plan(all, QueryParameters())
        do {
            let cursor = try fixture.reader.open(plan, QueryParameters(), budget: ReadBudget())
            _ = try cursor.next(bytesMax: 0, budget: ReadBudget())
        }
        try fixture.delete("i2")
        #expect(try fixture.batches(all)[0].rowCount == 2)
    }

    @Test("objects that do not fit into one reply are rejected")
    func objectsAreBounded() throws {
        let fixture = try fixture(count: 0)
        let text = String(repeating: "x", count: 9 << 20)
        try fixture.insert(
            ["a", "b"].map { name in
                QueryFixture.Object(
                    entityName: "Item", name: name, values: ["n": 1, "text": .string(text)])
            })
        let identifiers = try ["a", "b"].map { try fixture.identifier($0) }
        do throws(ReadFailure) {
            _ = try fixture.reader.objects(identifiers, properties: nil, budget: ReadBudget())
            Issue.record("18 MiB were read")
        } catch {
            guard case .failed(let failure) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(failure.code == .resourceExhausted)
        }
        let batches = try fixture.reader.objects(
            identifiers, properties: ["n"], budget: ReadBudget())
        #expect(batches.map(\.rowCount) == [2])
    }

    @Test("more identifiers than the limit are rejected")
    func identifiersAreBounded() throws {
        let fixture = try fixture(count: 1)
        let identifier = try fixture.identifier("i0")
        let many = Array(repeating: identifier, count: Limits.identifiersMax + 1)
        do throws(ReadFailure) {
            _ = try fixture.reader.objects(many, properties: [], budget: ReadBudget())
            Issue.record("they were read")
        } catch {
            guard case .failed(let failure) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(failure.code == .resourceExhausted)
        }
    }

    @Test("the statistics have the store's identifier, version and sizes")
    func statistics() throws {
        let fixture = try fixture(count: 3)
        let statistics = try fixture.reader.statistics()
        let values = Dictionary(uniqueKeysWithValues: statistics.map { ($0.name, $0.value) })
        #expect(values["store"] == .uuid(fixture.storeIdentifier))
        #expect(values["schemaVersion"] == "1.0.0")
        #expect(values["formatVersion"] == .int(StoreFormat.version))
        guard case .int(let fileBytes) = values["fileBytes"],
            case .int(let pages) = values["pages"], case .int(let pageBytes) = values["pageBytes"],
            case .int(let logBytes) = values["logBytes"]
        else {
            Issue.record("\(statistics)")
            return
        }
        #expect(fileBytes == pages * pageBytes && fileBytes > 0)
        #expect(logBytes > 0)
    }
}

extension JSONValue: ExpressibleByIntegerLiteral {
    public init(integerLiteral value: Int64) { self = .integer(value) }
}

extension QueryExpression {
    /// `previous.n != n`, true of all items but the first.
    fileprivate static var keyPathsDiffer: QueryExpression {
        .and([
            .comparison(Comparison(.keyPath("previous.n"), .notEqual, .keyPath("n"))),
            .comparison(Comparison(.keyPath("previous"), .notEqual, .constant(.null))),
        ])
    }
}
