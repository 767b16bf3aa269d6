import LarderModel
import LarderQuery
import LarderStore
import QueryScripts
import TestSupport
import Testing

/// Groups, distinct values and aggregates of random JSON values, compared with sorted keys.
@Suite struct JSONGroupTests {
    private struct Counted: Equatable {
        let text: String
        let count: Int
    }

    /// The distinct values in their order, with their numbers.
    private static func groups(of texts: [String]) -> [Counted] {
        var counts: [JSONKey: Int] = [:]
        for text in texts { counts[JSONKey(text: text), default: 0] += 1 }
        return counts.sorted { $0.key.order(to: $1.key) < 0 }
            .map { Counted(text: $0.key.text, count: $0.value) }
    }

    private static func text(_ random: inout SeededGenerator) -> String {
        let texts = [
            "1", "1.0", "10", "9", "-1", "1e400", "10e399", "0.1", "\"a\"", "\"Ann Lee\"",
            "\"Ann\"",
            "\"e\\u0301\"", "\"é\"", "[1]", "[1.0]", "[]", "{}", #"{"a":1,"b":2}"#,
            #"{ "b": 2.0, "a": 1 }"#, "true", "false", "9007199254740993", "9007199254740992.0",
        ]
        return texts.randomElement(using: &random) ?? "1"
    }

    @Test("groups, distinct values and aggregates of JSON are by value")
    func groups() throws {
        let schema = try SchemaFile.schema(
            parsing: """
                { "version": "1.0.0", "entities": [ { "name": "Item",
                  "attributes": [ { "name": "data", "type": "json" } ] } ] }
                """)
        var random = SeededGenerator.fromEnvironment("JSON groups")
        for _ in 0..<20 {
            let fixture = try QueryFixture(schema)
            let texts = (0..<Int.random(in: 1...40, using: &random)).map { _ in
                Self.text(&random)
            }
            try fixture.insert(
                texts.enumerated().map { index, text in
                    .init(
                        entityName: "Item", name: "o\(index)",
                        values: ["data": .object(["v": try JSONValue(parsing: text)])])
                })
            let groups = Self.groups(of: texts)
            let grouped = Query.aggregate(
                Aggregate("Item", groupBy: [QueryColumn("data.v", name: "v")], [.count]))
            #expect(
                fixture.rows(try fixture.batches(grouped))
                    == groups.map { "\($0.text) | \($0.count)" })
            let distinct = Query.fetch(
                Fetch(
                    "Item", sort: [SortKey("data.v", descending: true)],
                    selection: .values([QueryColumn("data.v")]), isDistinct: true))
            #expect(
                fixture.rows(try fixture.batches(distinct)) == groups.reversed().map(\.text))
            let aggregates = Query.aggregate(
                Aggregate(
                    "Item",
                    [
                        Aggregate.Column(.countDistinct, "data.v"),
                        Aggregate.Column(.minimum, "data.v"),
                        Aggregate.Column(.maximum, "data.v"), Aggregate.Column(.mode, "data.v"),
                    ]))
            let most = groups.map(\.count).max()
            let mode = groups.first { $0.count == most }
            #expect(
                fixture.rows(try fixture.batches(aggregates)) == [
                    "\(groups.count) | \(groups[0].text) | \(groups[groups.count - 1].text) | "
                        + "\(mode?.text ?? "")"
                ], "\(texts)")
        }
    }
}
