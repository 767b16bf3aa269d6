import LarderModel
import LarderQuery
import Testing

@testable import LarderSQL
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
        let typer = try QueryTyper(
            entityName: "Item", conversion: store.valueConverter.conversion)
        var lowering: QueryLowering? = QueryLowering(
            typer.entity, store.layout, store.valueConverter)
        weak let clause = lowering?.rootClause
        if let typed = try? typer.query(.fetch(Fetch("Item", where: .format(predicate)))) {
            _ = try? lowering?.query(typed)
        }
        #expect(clause != nil)
        lowering = nil
        #expect(clause == nil)
    }
}
