import LarderModel
import LarderQuery
import Testing

@testable import LarderStore

@Suite("a bulk change of many objects", .serialized)
struct ManyObjectsTests {
    private static let schema = [
        Entity(
            name: "Item",
            attributes: [
                Attribute(name: "n", type: .int64),
                Attribute(name: "text", type: .string, isOptional: true),
            ])
    ]

    /// A store in memory with this number of items, whose numbers are their keys.
    private func items(_ count: Int64) throws -> Library {
        let library = try Library(schema: Schema(entities: Self.schema))
        for start in stride(from: Int64(1), through: count, by: 100_000) {
            let changes = (start..<min(start + 100_000, count + 1)).map {
                Change.insert(.new("\($0)", "Item"), values: ["n": .int($0)])
            }
            _ = try library.writer.save([ChangeSet(changes)])[0].get()
        }
        return library
    }

    @Test("a bulk change of many objects is one row of the history")
    func many() throws {
        let count: Int64 = 100_000
        let library = try items(count)
        var result = try library.saved(.updateAll("Item", set: ["n": "n * 2"]))
        #expect(result.affected == [AffectedObjects(count: count)])
        #expect(
            try library.history(try #require(result.transaction)).map(\.description)
                == ["updated Item 1-\(count) n"])
        #expect(
            try library.rows("SELECT sum(n), min(_version) FROM Item")[0] == [
                .integer(count * (count + 1)), .integer(2),
            ])
        let text = String(repeating: "t", count: 100)
        result = try library.saved(
            .updateAll("Item", set: ["text": "ternary(n > 10, \"\(text)\", nil)"]))
        #expect(result.affected == [AffectedObjects(count: count)])
        result = try library.saved(.deleteAll("Item", where: "n > 0"))
        #expect(result.deletedCount == count)
        #expect(
            try library.history(try #require(result.transaction)).map(\.description)
                == ["deleted Item 1-\(count)"])
    }
}
