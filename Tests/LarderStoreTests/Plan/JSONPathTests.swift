import LarderModel
import LarderQuery
import LarderStore
import QueryScripts
import Testing

@Suite struct JSONPathTests {
    @Test("a number in a path of a JSON document selects an element of an array")
    func place() throws {
        let fixture = try QueryFixture(
            SchemaFile.schema(
                parsing: """
                    { "version": "1.0.0", "entities": [ { "name": "Item",
                      "attributes": [ { "name": "payload", "type": "json" } ] } ] }
                    """))
        try fixture.insert([
            .init(
                entityName: "Item", name: "a",
                values: ["payload": JSONValue(parsing: #"{"list": [1, {"x": "y"}]}"#)]),
            .init(entityName: "Item", name: "b", values: ["payload": .array([.integer(1)])]),
        ])
        func rows(_ path: [String], _ value: Value) throws -> [String] {
            let predicate = QueryExpression.comparison(
                Comparison(.keyPath(.object, ["payload"] + path), .equal, .constant(value)))
            let query = Query.fetch(
                Fetch("Item", where: .tree(predicate), selection: .identifiers))
            return fixture.rows(try fixture.batches(query))
        }
        #expect(try rows(["list", "0"], 1) == ["a"])
        #expect(try rows(["list", "1", "x"], "y") == ["a"])
        #expect(try rows(["0"], 1) == ["b"])
        #expect(try rows(["list", "2"], .null) == ["a", "b"])
    }
}
