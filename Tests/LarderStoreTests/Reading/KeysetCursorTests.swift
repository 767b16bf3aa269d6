import FoundationEssentials
import LarderModel
import LarderQuery
import LarderStore
import QueryScripts
import TestSupport
import Testing

/// Fetches that continue after a keyset cursor.
@Suite("Keyset cursors") struct KeysetCursorTests {
    private static let schema = """
        { "version": "1.0.0", "entities": [ { "name": "Item",
          "attributes": [
            { "name": "n", "type": "int64", "optional": true, "indexed": true },
            { "name": "d", "type": "double", "optional": true },
            { "name": "m", "type": "decimal", "optional": true, "indexed": true },
            { "name": "s", "type": "string", "optional": true, "indexed": true },
            { "name": "t", "type": "string" },
            { "name": "b", "type": "bool", "optional": true } ],
          "relationships": [ { "name": "parent", "destination": "Item" } ] } ] }
        """

    private func fixture(
        count: Int, _ values: (Int) -> [String: JSONValue]
    ) throws -> QueryFixture {
        let fixture = try QueryFixture(SchemaFile.schema(parsing: Self.schema))
        try fixture.insert(
            (0..<count).map {
                QueryFixture.Object(entityName: "Item", name: "i\($0)", values: values($0))
            })
        return fixture
    }

    /// All rows in pages, each of which begins after the last row of the previous one.
    private func pages(
        _ fixture: QueryFixture, _ sort: [SortKey], size: Int64
    ) throws -> [String] {
        var columns: [QueryColumn] = []
        for (index, key) in sort.enumerated() {
            columns.append(QueryColumn(key.term, name: "k\(index)"))
        }
        let query = Query.fetch(
            Fetch(
                "Item", sort: sort, selection: columns.isEmpty ? .identifiers : .columns(columns)))
        var parameters = QueryParameters(limit: size)
        var rows: [String] = []
        while true {
            let batches = try fixture.batches(query, parameters, bytesMax: 64)
            rows += fixture.rows(batches)
            guard let last = batches.last(where: { $0.rowCount > 0 }),
                batches.reduce(0, { $0 + $1.rowCount }) == Int(size)
            else { return rows }
            let row = last.rowCount - 1
            let identifier = last.records(store: fixture.storeIdentifier)[row].identifier
            parameters.after =
                columns.indices.map {
                    last.value(row: row, column: $0, store: fixture.storeIdentifier)
                } + [.object(identifier)]
        }
    }

    @Test("pages in any order, after any row, result in the whole fetch")
    func pagesAreTheWhole() throws {
        var generator = SeededGenerator.fromEnvironment("places")
        for _ in 0..<max(1, RandomTesting.iterations(500) / 100) {
            let fixture = try fixture(count: 40) { number in
                func some(_ values: [JSONValue]) -> JSONValue {
                    values.randomElement(using: &generator) ?? .null
                }
                return [
                    "n": some([.null, 1, 2, 3]), "d": some([.null, .double(-0.5), .double(2)]),
                    "m": some([.null, .string("-1.5"), .string("10"), .string("9")]),
                    "s": some([.null] + ["", "a", "A", "á", "b10", "b9"].map { .string($0) }),
                    "t": some(["x", "X", "y"].map { .string($0) }),
                    "b": some([.null, .bool(true), .bool(false)]),
                    "parent": number == 0 || number % 3 == 0 ? .null : .string("@i\(number / 2)"),
                ]
            }
            for _ in 0..<20 {
                let sort = Self.sort(&generator)
                let query = Query.fetch(
                    Fetch(
                        "Item", sort: sort,
                        selection: sort.isEmpty
                            ? .identifiers
                            : .columns(
                                sort.enumerated().map {
                                    QueryColumn($0.element.term, name: "k\($0.offset)")
                                })))
                let whole = fixture.rows(try fixture.batches(query))
                let size = Int64.random(in: 1...7, using: &generator)
                #expect(try pages(fixture, sort, size: size) == whole, "\(sort) by \(size)")
                #expect(whole.count == 40)
            }
        }
    }

    private static func sort(_ generator: inout SeededGenerator) -> [SortKey] {
        let names = ["n", "d", "m", "s", "t", "b", "parent", "parent.n", "parent.s", "t"]
        return (0..<Int.random(in: 0...3, using: &generator)).map { _ in
            let name = names.randomElement(using: &generator) ?? "n"
            let isString = name.hasSuffix("s") || name == "t"
            return SortKey(
                name, descending: Bool.random(using: &generator),
                nilPlacement: SortKey.NilPlacement.allCases.randomElement(using: &generator)
                    ?? .standard,
                stringOrder: isString
                    ? StringOrder.allCases.randomElement(using: &generator) ?? .plain : .plain)
        }
    }

    @Test(
        "the last page costs no more than the first, but an offset costs the skipped rows",
        arguments: [
            [SortKey("n")], [SortKey("n", descending: true)],
            [SortKey("n", descending: true, nilPlacement: .first)], [SortKey("s")], [],
        ])
    func cost(_ sort: [SortKey]) throws {
        let count = 4_000
        let fixture = try fixture(count: count) { number in
            [
                "n": number % 5 == 0 ? .null : .integer(Int64(number / 3)), "t": .string("t"),
                "s": .string("s\(number / 3)"),
            ]
        }
        let query = Query.fetch(Fetch("Item", sort: sort, selection: .identifiers))
        let columns = sort.isEmpty ? [] : [QueryColumn(sort[0].term, name: "k")]
        let all = try fixture.batches(
            .fetch(
                Fetch(
                    "Item", sort: sort, selection: sort.isEmpty ? .identifiers : .columns(columns)))
        )
        var rows: [[Value]] = []
        for record in all.flatMap({ $0.records(store: fixture.storeIdentifier) }) {
            let keys = sort.map { _ in record.values["k"] ?? .null }
            rows.append(keys + [.object(record.identifier)])
        }
        #expect(rows.count == count)
        // Steps are counted in thousands, so fewer than a thousand may count as two thousand.
        let budget = ReadBudget(work: 2_000)
        // The boundary between values and nils is among these.
        for place in stride(from: 0, to: count - 10, by: 399) {
            let parameters = QueryParameters(limit: 5, after: rows[place])
            let page = try fixture.batches(query, parameters, budget: budget)
            #expect(page.reduce(0) { $0 + $1.rowCount } == 5)
        }
        #expect(throws: FixtureError.self) {
            try fixture.batches(
                query, QueryParameters(limit: 5, offset: Int64(count - 10)),
                budget: budget)
        }
    }
}
