import LarderModel
import LarderQuery
import LarderStore
import QueryScripts
import Testing

/// Fetches without a predicate, a sort key and a limit.
@Suite("A fetch of all objects") struct WholeTableTests {
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

    /// Items 0 to 59. Every third has no text, and every seventh is deleted.
    private func fixture() throws -> QueryFixture {
        let fixture = try QueryFixture(SchemaFile.schema(parsing: Self.schema))
        try fixture.insert(
            (0..<60).map { number in
                QueryFixture.Object(
                    entityName: "Item", name: "i\(number)",
                    values: [
                        // Descending, so that an index on it would return another order.
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
        "a fetch of all objects returns each row once, in key order, in batches of any size",
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

    @Test("a fetch of all objects of an empty table returns one batch with the columns")
    func noRow() throws {
        let fixture = try fixture()
        for number in Self.numbers { try fixture.delete("i\(number)") }
        let batches = try fixture.batches(.fetch(Fetch("Item", selection: .values(["n"]))))
        #expect(batches.map(\.rowCount) == [0])
        #expect(batches[0].columns.map(\.name) == ["n"])
    }

    @Test("a fetch of all objects stops at its budget, within a batch or between two")
    func budget() throws {
        let fixture = try fixture()
        let query = Query.fetch(Fetch("Item"))
        let plan = try fixture.store.plan(query, QueryParameters())
        let cursor = try fixture.reader.open(plan, QueryParameters(), budget: ReadBudget())
        #expect(throws: ReadFailure.self) {
            try cursor.next(bytesMax: 1 << 20, budget: ReadBudget(work: 100))
        }
        cursor.close()
        let other = try fixture.reader.open(plan, QueryParameters(), budget: ReadBudget())
        #expect(try !other.next(bytesMax: 100, budget: ReadBudget()).isLast)
        #expect(throws: ReadFailure.self) {
            try other.next(bytesMax: 1 << 20, budget: ReadBudget(work: 100))
        }
        other.close()
        #expect(try fixture.batches(query).reduce(0) { $0 + $1.rowCount } == Self.rows.count)
    }
}
