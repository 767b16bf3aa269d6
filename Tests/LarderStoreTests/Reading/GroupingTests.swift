import FoundationEssentials
import LarderModel
import LarderQuery
import LarderStore
import QueryScripts
import TestSupport
import Testing

/// Groups in a hash table. SQLite sorts if they do not fit into memory.
@Suite struct GroupingTests {
    private func fixture() throws -> QueryFixture {
        try QueryFixture(
            SchemaFile.schema(
                parsing: """
                    { "version": "1.0.0", "entities": [ { "name": "Item", "attributes": [
                      { "name": "n", "type": "int64", "optional": true },
                      { "name": "real", "type": "double", "optional": true },
                      { "name": "text", "type": "string", "optional": true } ] } ] }
                    """))
    }

    private struct Item {
        var n: Int64?
        var real: Double?
        var text: String?

        var values: [String: JSONValue] {
            var values: [String: JSONValue] = [:]
            if let n { values["n"] = .integer(n) }
            if let real { values["real"] = .double(real) }
            if let text { values["text"] = .string(text) }
            return values
        }
    }

    private func insert(_ items: [Item], into fixture: QueryFixture) throws {
        try fixture.insert(
            items.enumerated().map { number, item in
                QueryFixture.Object(
                    entityName: "Item", name: "i\(number)", values: item.values)
            })
    }

    @Test("each combination of group keys is one group, in the order of the keys")
    func model() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SeededGenerator(seed: seed)
        let items = (0..<2_000).map { _ in
            Item(
                n: [nil, .min, -1, 0, 1, 64, .max].randomElement(using: &generator) ?? nil,
                real: [nil, -0.0, 0, 1, 1.5, -1e300].randomElement(using: &generator) ?? nil,
                text: [nil, "", "a", "A", "ä", String(repeating: "b", count: 40)]
                    .randomElement(using: &generator) ?? nil)
        }
        let fixture = try fixture()
        try insert(items, into: fixture)
        var counts: [[String]: Int] = [:]
        for item in items {
            let n = item.n.map(String.init) ?? "nil"
            let real = item.real.map { Value.double($0 + 0).text } ?? "nil"
            counts[[n, real, item.text.map { "\"\($0)\"" } ?? "nil"], default: 0] += 1
        }
        let query = Query.aggregate(
            Aggregate(
                "Item", groupBy: ["n", "real", "text"], [.count]))
        let rows = fixture.rows(try fixture.batches(query))
        #expect(
            Set(rows) == Set(counts.map { ($0.key + [String($0.value)]).joined(separator: " | ") }),
            "seed \(seed)")
        #expect(rows.count == counts.count, "seed \(seed)")
        #expect(rows.first?.hasPrefix("nil | nil | nil | ") == true, "seed \(seed)")
        #expect(rows.last?.hasPrefix("\(Int64.max) | 1.5 | \"ä\"") == true, "seed \(seed)")
    }

    @Test("groups of integers count their rows, also for integers with the same lowest bits")
    func integers() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SeededGenerator(seed: seed)
        let integers: [Int64?] = [
            nil, 0, 256, 512, -256, 1, 257, -255, -1, 255, -257, .min, .max, .min + 1, .max - 256,
        ]
        let items = (0..<3_000).map { _ in
            Item(n: integers.randomElement(using: &generator) ?? nil)
        }
        let fixture = try fixture()
        try insert(items, into: fixture)
        let counts = Dictionary(items.map { ($0.n, 1) }, uniquingKeysWith: +)
        let keys = counts.keys.sorted { left, right in
            guard let left else { return right != nil }
            return right.map { left < $0 } ?? false
        }
        let expected = keys.map { "\($0.map(String.init) ?? "nil") | \(counts[$0] ?? 0)" }
        let query = Query.aggregate(Aggregate("Item", groupBy: ["n"], [.count]))
        let plan = try fixture.store.plan(query, QueryParameters())
        let sql = try fixture.reader.explain(
            plan, QueryParameters(), budget: ReadBudget()
        ).sql
        #expect(sql.contains("larder_count_integers("))
        #expect(fixture.rows(try fixture.batches(query)) == expected, "seed \(seed)")
    }

    @Test("groups that do not fit into memory are found by sorting, with the same result")
    func tooManyGroups() throws {
        let fixture = try fixture()
        // Twice 12 MB in 2 × 12 groups: more than the limit of 16 MiB.
        for part in 0..<12 {
            let long = String(repeating: "x", count: 1 << 20) + String(10 + part)
            try insert(
                (0..<4).map { Item(n: Int64($0), text: $0 % 2 == 0 ? long : long + "y") },
                into: fixture)
        }
        let plan = try fixture.store.plan(
            .aggregate(
                Aggregate(
                    "Item", groupBy: ["text"], [.init(.sum, "n", name: "sum")],
                    having: .format("sum > 0"))), QueryParameters())
        let before = try fixture.reader.explain(
            plan, QueryParameters(), budget: ReadBudget())
        #expect(before.sql.contains("larder_groups(") && !before.sql.contains("GROUP BY"))
        for _ in 0..<2 {
            let cursor = try fixture.reader.open(plan, QueryParameters(), budget: ReadBudget())
            defer { cursor.close() }
            let answer = try cursor.next(bytesMax: 64 << 20, budget: ReadBudget())
            #expect(answer.isLast && answer.batch.rowCount == 24)
            let rows = fixture.rows([answer.batch])
            #expect(rows.first?.hasSuffix("x10\" | 2") == true)
            #expect(rows.last?.hasSuffix("x21y\" | 4") == true)
        }
        let after = try fixture.reader.explain(
            plan, QueryParameters(), budget: ReadBudget())
        #expect(after.sql.contains("GROUP BY") && !after.sql.contains("larder_groups("))
    }

    @Test("a grouped sum beyond 64 bits is an error, in any group")
    func overflow() throws {
        let fixture = try fixture()
        try insert([Item(n: .max), Item(n: 1), Item(n: -1, text: "a")], into: fixture)
        let query = Query.aggregate(
            Aggregate(
                "Item", groupBy: ["text"], [.init(.sum, "n", name: "sum")]))
        let error = #expect(throws: LarderError.self) { try fixture.batches(query) }
        #expect(error?.code == .arithmeticOverflow)
    }
}
