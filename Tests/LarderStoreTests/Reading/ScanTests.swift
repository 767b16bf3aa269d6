import LarderModel
import LarderStore
import Testing

/// Fetches of all objects of a table, whose rows SQLite hands over.
@Suite("a fetch of all objects") struct ScanTests {
    private static let schema = """
        { "version": "1.0.0", "entities": [ { "name": "Item",
          "attributes": [
            { "name": "n", "type": "int64", "indexed": true },
            { "name": "half", "type": "double" },
            { "name": "text", "type": "string", "optional": true } ],
          "relationships": [
            { "name": "parent", "destination": "Item", "inverse": "children" },
            { "name": "children", "destination": "Item", "toMany": true,
              "inverse": "parent" } ] } ] }
        """

    /// Items 0 to 59; each third has no text, and each seventh was deleted.
    private func fixture() throws -> QueryFixture {
        let fixture = try QueryFixture(SchemaFile.schema(parsing: Self.schema))
        try fixture.insert(
            (0..<60).map { number in
                QueryFixture.Object(
                    entityName: "Item", name: "i\(number)",
                    values: [
                        // Against the order of the keys, which an index of it would give.
                        "n": .integer(Int64(100 - number)),
                        "half": number % 2 == 0 ? 0 : 1,
                        "text": number % 3 == 0
                            ? .null : .string(String(repeating: "ä", count: number)),
                    ])
            })
        for number in stride(from: 0, to: 60, by: 7) { try fixture.delete("i\(number)") }
        return fixture
    }

    private static let numbers = (0..<60).filter { $0 % 7 != 0 }

    private static let rows = numbers.map { number in
        let text = number % 3 == 0 ? "nil" : "\"\(String(repeating: "ä", count: number))\""
        return "\(100 - number) | \(number % 2 == 0 ? 0 : 1).0 | \(text)"
    }

    @Test(
        "gives each row once, in the order of keys, in batches of any size",
        arguments: [0, 1, 30, 100, 1_000, 1 << 20])
    func rowsComeOnce(bytesMax: Int) throws {
        let fixture = try fixture()
        let columns: [QueryColumn] = ["n", "half", "text"]
        let values = try fixture.batches(
            .fetch(Fetch("Item", selection: .values(columns))), bytesMax: bytesMax)
        #expect(values.allSatisfy { $0.identity == nil && $0.rowCount > 0 })
        #expect(fixture.rows(values) == Self.rows)
        let objects = try fixture.batches(
            .fetch(Fetch("Item", selection: .columns(columns))), bytesMax: bytesMax)
        #expect(objects.allSatisfy { $0.rowCount > 0 })
        #expect(
            fixture.rows(objects)
                == zip(Self.numbers, Self.rows).map { "i\($0) | \($1)" })
        if bytesMax <= 1 { #expect(values.count == Self.rows.count) }
        if bytesMax == 1 << 20 { #expect(values.count == 1) }
    }

    @Test("may be of no row, in one batch that has the columns")
    func noRow() throws {
        let fixture = try fixture()
        for number in Self.numbers { try fixture.delete("i\(number)") }
        let batches = try fixture.batches(.fetch(Fetch("Item", selection: .values(["n"]))))
        #expect(batches.map(\.rowCount) == [0])
        #expect(batches[0].columns.map(\.name) == ["n"])
    }

    @Test("is stopped by its budget, in the middle of a batch or before the next")
    func budget() throws {
        let fixture = try fixture()
        let query = Query.fetch(Fetch("Item"))
        let plan = try fixture.store.plan(query, QueryParameters())
        let cursor = try fixture.reader.open(plan, QueryParameters(), budget: ReadBudget())
        #expect(throws: ReadFailure.self) {
            try cursor.next(bytesMax: 1 << 20, budget: ReadBudget(steps: 100))
        }
        cursor.close()
        let other = try fixture.reader.open(plan, QueryParameters(), budget: ReadBudget())
        #expect(try !other.next(bytesMax: 100, budget: ReadBudget()).isLast)
        #expect(throws: ReadFailure.self) {
            try other.next(bytesMax: 1 << 20, budget: ReadBudget(steps: 100))
        }
        other.close()
        #expect(try fixture.batches(query).reduce(0) { $0 + $1.rowCount } == Self.rows.count)
    }

    @Test("ends a batch behind a row where the time for it has passed, and goes on with the next")
    func batchTime() throws {
        let fixture = try QueryFixture(SchemaFile.schema(parsing: Self.schema))
        try fixture.insert(
            (0..<2_000).map {
                QueryFixture.Object(
                    entityName: "Item", name: "i\($0)",
                    values: ["n": .integer(Int64($0)), "half": 0, "text": .string("text")])
            })
        let columns: [QueryColumn] = ["n", "half", "text"]
        let query = Query.fetch(Fetch("Item", selection: .values(columns)))
        let whole = try fixture.batches(query)
        #expect(whole.count == 1)
        let batches = try fixture.batches(query, budget: ReadBudget(batchTimeMax: .zero))
        // Steps of the database are looked at by the thousand, a row takes about ten.
        #expect((5...100).contains(batches.count))
        #expect(batches.allSatisfy { $0.rowCount > 0 })
        #expect(fixture.rows(batches) == fixture.rows(whole))
        // The next read is not bounded by what was over in this one.
        let unhurried = ReadBudget(deadline: .now + .seconds(60))
        #expect(try fixture.batches(query, budget: unhurried).count == 1)
        let sorted = Query.fetch(
            Fetch("Item", sort: [SortKey("text")], selection: .values(columns)))
        #expect(try fixture.batches(sorted, budget: ReadBudget(batchTimeMax: .zero)).count == 1)
    }

    @Test("is known to be one where a row costs no more than to read what is stored in it")
    func isKnown() throws {
        let store = try Store.inMemory(schema: SchemaFile.schema(parsing: Self.schema))
        func isScan(_ fetch: Fetch, _ parameters: QueryParameters = .init()) throws -> Bool {
            try store.plan(.fetch(fetch), parameters).isScan(parameters)
        }
        for scan in [
            Fetch("Item"), Fetch("Item", selection: .identifiers),
            Fetch("Item", selection: .values(["n", "parent"])),
            Fetch("Item", where: .format("TRUEPREDICATE")),
        ] {
            #expect(try isScan(scan))
            #expect(try !isScan(scan, QueryParameters(limit: 5)))
            #expect(try !isScan(scan, QueryParameters(offset: 5)))
        }
        for other in [
            Fetch("Item", where: .format("n > 5")), Fetch("Item", sort: [SortKey("n")]),
            Fetch("Item", selection: .values(["children"])),
            Fetch("Item", selection: .values(["children.@count"])),
            Fetch("Item", selection: .values(["uppercase:(text)"])),
            Fetch("Item", selection: .values(["parent.n"])),
            Fetch("Item", selection: .values(["n"]), isDistinct: true),
            Fetch("Item", prefetch: ["parent"]),
        ] { #expect(try !isScan(other)) }
        let count = try store.plan(.count(entityName: "Item", predicate: nil), QueryParameters())
        #expect(!count.isScan(QueryParameters()))
    }
}
