import FoundationEssentials
import LarderModel
import LarderStore
import Testing

/// The version by which a server finds out that a result is still valid.
@Suite("The version of the data")
struct DataVersionTests {
    private func fixture() throws -> QueryFixture {
        try QueryFixture(
            SchemaFile.schema(
                parsing: """
                    { "version": "1.0.0", "entities": [ { "name": "Item", "attributes": [
                      { "name": "n", "type": "int64" }, { "name": "at", "type": "date" } ] } ] }
                    """))
    }

    private func item(_ number: Int64) -> ChangeSet {
        ChangeSet([
            .insert(
                PersistentIdentifier(temporary: "t", entityName: "Item"),
                values: ["n": .int(number), "at": .date(Date())])
        ])
    }

    @Test("it differs after each save, and stays where nothing was saved")
    func saves() throws {
        let fixture = try fixture()
        let before = fixture.store.dataVersion
        _ = fixture.writer.save([item(1)])
        let after = fixture.store.dataVersion
        #expect(before != nil && after != nil && before != after)
        let refused = ChangeSet([
            .insert(PersistentIdentifier(temporary: "t", entityName: "None"), values: [:])
        ])
        _ = fixture.writer.save([refused])
        _ = try fixture.batches(.count(entityName: "Item", predicate: nil))
        #expect(fixture.store.dataVersion == after)
        _ = fixture.writer.save([item(2), item(3)])
        #expect(fixture.store.dataVersion != after)
    }

    @Test("a plan says that it asks for the time, once it was asked")
    func time() throws {
        let fixture = try fixture()
        _ = fixture.writer.save([item(1)])
        for (format, dependsOnTime) in [("at < now()", true), ("n == 1", false)] {
            let query = Query.count(entityName: "Item", predicate: .format(format))
            let plan = try fixture.store.plan(query, QueryParameters())
            let cursor = try fixture.reader.open(plan, QueryParameters(), budget: ReadBudget())
            _ = try cursor.next(bytesMax: 1_000, budget: ReadBudget())
            cursor.close()
            #expect(plan.dependsOnTime == dependsOnTime)
        }
    }
}
