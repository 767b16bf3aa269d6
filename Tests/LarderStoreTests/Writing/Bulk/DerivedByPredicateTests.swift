import LarderModel
import LarderQuery
import Testing

@testable import LarderStore

@Suite("a bulk change of objects with derived attributes")
struct DerivedByPredicateTests {
    private let library: Library

    init() throws {
        let shelf = Entity(
            name: "Shelf",
            attributes: [
                Attribute(
                    name: "pages", type: .int64, derivation: "books.@sum.pages"),
                Attribute(name: "isFull", type: .bool, defaultValue: .bool(false)),
            ],
            relationships: [
                Relationship(
                    name: "books", destination: "Book", isToMany: true, inverse: "shelf")
            ])
        let book = Entity(
            name: "Book", attributes: [Attribute(name: "pages", type: .int64)],
            relationships: [
                Relationship(name: "shelf", destination: "Shelf", inverse: "books")
            ])
        library = try Library(schema: Schema(entities: [shelf, book]))
    }

    @Test("a bulk change reads up-to-date derived attributes, and updates them")
    func derived() throws {
        let shelf = try library.insert("Shelf")
        for pages in 1...3 {
            try library.insert("Book", ["pages": .int(Int64(pages)), "shelf": .object(shelf)])
        }
        let result = try library.saved(
            .updateAll("Shelf", where: "pages > 6", set: ["isFull": "YES"]),
            .updateAll("Book", set: ["pages": "pages * 2"]),
            .updateAll("Shelf", where: "pages == 12", set: ["isFull": "YES"]),
            .deleteAll("Book", where: "shelf.isFull AND pages == 2"))
        #expect(result.affected.map(\.count) == [0, 3, 1, 1])
        #expect(try library.integers("Shelf", "pages") == [10])
        #expect(
            try library.history(try #require(result.transaction)).map(\.description) == [
                "updated Shelf 1 books,isFull,pages", "updated Book 2-3 pages", "deleted Book 1",
            ])
        #expect(
            try library.refusal(.updateAll("Shelf", set: ["pages": "1"])).details.map(\.rule)
                == [.derived])
        #expect(
            try library.refusal(.updateAll("Shelf", set: ["pages": "pages + 1"])).details
                .map(\.rule) == [.derived])
    }

    @Test("a bulk change is done once under one idempotency key, and repeats its first reply")
    func idempotency() throws {
        for pages in 1...4 { try library.insert("Book", ["pages": .int(Int64(pages))]) }
        let set = ChangeSet(
            [
                .updateAll("Book", identifiers: true, set: ["pages": "pages + 1"]),
                .updateAll("Book", where: "pages > 2", set: ["pages": "pages + 1"]),
                .deleteAll("Shelf", identifiers: true),
            ], idempotencyKey: "k")
        let first = try library.writer.save([SaveRequest(set, digest: 1)])[0].get()
        let second = try library.writer.save([SaveRequest(set, digest: 1)])[0].get()
        #expect(first.affected.map(\.count) == [4, 3, 0])
        #expect(first.affected[0].identifiers.count == 4)
        #expect(second == first)
        #expect(try library.integers("Book", "pages") == [2, 4, 5, 6])
    }
}
