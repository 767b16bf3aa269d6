import FoundationEssentials
import LarderModel
import LarderQuery
import LarderStore
import QueryScripts
import Testing

/// Consecutive reads by identifier share memory, which must not affect their results.
@Suite("Objects by identifier")
struct ObjectReadTests {
    private func fixture() throws -> QueryFixture {
        let fixture = try QueryFixture(
            SchemaFile.schema(
                parsing: """
                    { "version": "1.0.0", "entities": [
                      { "name": "Item", "attributes": [
                        { "name": "n", "type": "int64", "optional": true },
                        { "name": "text", "type": "string" } ] },
                      { "name": "Other", "attributes": [
                        { "name": "x", "type": "double" } ] } ] }
                    """))
        for (name, n, text) in [("i0", JSONValue.integer(0), ""), ("i1", .null, "x")] {
            try insert(fixture, "Item", name, ["n": n, "text": .string(text)])
        }
        try insert(fixture, "Item", "i2", ["n": .integer(2), "text": .string("xx")])
        try insert(fixture, "Other", "o", ["x": .integer(0)])
        return fixture
    }

    private func insert(
        _ fixture: QueryFixture, _ entityName: String, _ name: String,
        _ values: [String: JSONValue]
    ) throws {
        try fixture.insert([
            QueryFixture.Object(entityName: entityName, name: name, values: values)
        ])
    }

    private func read(_ fixture: QueryFixture, _ names: String...) throws -> [Batch] {
        try fixture.reader.objects(
            names.map { try fixture.identifier($0) }, properties: nil, budget: ReadBudget())
    }

    @Test("the result of a read by identifier does not change when the next one is read")
    func answersAreTheirOwn() throws {
        let fixture = try fixture()
        let store = fixture.store.storeDescription.identifier
        let first = try read(fixture, "i2")
        let second = try read(fixture, "i0", "i1")
        _ = try read(fixture, "i1")
        #expect(first.flatMap { $0.records(store: store) }.map { $0["text"] } == [.string("xx")])
        #expect(
            second.flatMap { $0.records(store: store) }.map { $0["n"] } == [.int(0), .null])
    }

    @Test("0, an empty text and nil differ, whatever the reused memory contained")
    func nils() throws {
        let fixture = try fixture()
        let store = fixture.store.storeDescription.identifier
        for (name, n, text) in [
            ("i1", Value.null, "x"), ("i0", .int(0), ""), ("i1", .null, "x"), ("i2", .int(2), "xx"),
        ] {
            let record = try #require(try read(fixture, name)[0].records(store: store).first)
            #expect(record["n"] == n)
            #expect(record["text"] == .string(text))
        }
        #expect(try read(fixture, "o")[0].records(store: store)[0]["x"] == .double(0))
    }

    @Test("objects of several entities are in one batch per entity, in the order of the entities")
    func severalEntities() throws {
        let fixture = try fixture()
        let batches = try read(fixture, "i2", "o", "i0")
        #expect(batches.map(\.identity?.entityName) == ["Item", "Other"])
        let keys = try ["i2", "i0"].compactMap { try fixture.identifier($0).permanentKey }
        #expect(batches[0].identity?.keys == keys)
    }

    @Test("a read by identifier that finds nothing returns the columns without rows")
    func nothing() throws {
        let fixture = try fixture()
        _ = try read(fixture, "i0", "i1", "i2")
        let gone = PersistentIdentifier(
            store: fixture.store.storeDescription.identifier, entityName: "Item", key: 99)
        let batches = try fixture.reader.objects(
            [gone], properties: nil, budget: ReadBudget())
        #expect(batches.map(\.rowCount) == [0])
        #expect(batches[0].columns.map(\.name) == ["n", "text"])
        try batches[0].check()
    }
}
