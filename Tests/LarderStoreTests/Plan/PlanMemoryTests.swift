import LarderModel
import Testing

@testable import LarderStore

@Suite struct PlanMemoryTests {
    @Test(
        "a plan leaves nothing in memory that it does not contain, even if the query is rejected",
        arguments: [
            "SUBQUERY(children, $c, $c.n == 1).@count == 1",
            "SUBQUERY(children, $c, $c.unknown == 1).@count == 1",
            "SUBQUERY(SUBQUERY(children, $c, $c.n == 1), $c, $c.unknown == 1).@count == 1",
            "ANY children.unknown == 1", "parent.parent.unknown == 1",
        ])
    func memory(predicate: String) throws {
        let schema = try SchemaFile.schema(parsing: PlanLimitsTests.schemaText)
        let store = try Store.inMemory(schema: schema)
        var resolver: QueryResolver? = try QueryResolver(
            entityName: "Item", layout: store.layout, converter: store.valueConverter)
        weak let clause = resolver?.rootScope
        _ = try? resolver?.fetch(Fetch("Item", where: .format(predicate)))
        #expect(clause != nil)
        resolver = nil
        #expect(clause == nil)
    }
}
