import FoundationEssentials
import LarderModel
import LarderQuery
import Testing

@testable import LarderSQL
@testable import LarderStore

@Suite("the history of a save")
struct HistoryTests {
    private let library: Library

    init() throws { library = try Library() }

    /// For example `inserted Article 1-3`, `updated Article 1 category,title`.
    private func changes(_ transaction: Int64?) throws -> [String] {
        try library.history(try #require(transaction)).map(\.description)
    }

    @Test("an insert of many objects is one row of the history")
    func manyInserts() throws {
        let changes = (0..<2_000).map {
            Change.insert(.new("\($0)", "Article"), values: ["title": .string("\($0)")])
        }
        let result = try library.writer.save([ChangeSet(changes)])[0].get()
        #expect(try self.changes(result.transaction) == ["inserted Article 1-2000"])
        #expect(
            try library.rows(
                "SELECT (SELECT count(*) FROM _transaction), (SELECT count(*) FROM _change)")
                == [[.integer(1), .integer(0)]])
    }

    @Test("the history has runs of each entity although the set mixes entities")
    func mixed() throws {
        let result = try library.saved(
            .insert(.new("a", "Tag"), values: [:]), .insert(.new("b", "Cover"), values: [:]),
            .insert(.new("c", "Tag"), values: [:]), .insert(.new("d", "Cover"), values: [:]))
        #expect(try changes(result.transaction) == ["inserted Tag 1-2", "inserted Cover 1-2"])
    }

    @Test("the history of an update has the properties with new values, and no others")
    func changedProperties() throws {
        let article = try library.insert("Article", ["title": "a", "wordCount": 3, "price": 1])
        let result = try library.saved(
            .update(
                article, ifVersion: nil,
                values: ["title": "b", "wordCount": 3, "price": nil, "small": nil]))
        #expect(try changes(result.transaction) == ["updated Article 1 price,title"])
    }

    @Test("the history has an update that changes no value, since the version is incremented")
    func sameValues() throws {
        let article = try library.insert("Article", ["title": "a"])
        let result = try library.saved(.update(article, ifVersion: nil, values: ["title": "a"]))
        #expect(try library.version(article) == 2)
        #expect(try changes(result.transaction) == ["updated Article 1 "])
    }

    @Test("the history of a changed relationship has both sides")
    func bothSides() throws {
        let (one, two) = (try library.insert("Category", ["name": "1"]), try library.insert("Tag"))
        let inserted = try library.saved(
            .insert(
                .new("a", "Article"),
                values: ["title": "a", "category": .object(one), "tags": .objects([two])]))
        #expect(
            try changes(inserted.transaction)
                == ["inserted Article 1", "updated Category 1 articles", "updated Tag 1 articles"])
        let other = try library.insert("Category", ["name": "2"])
        let moved = try library.saved(
            .update(
                other, ifVersion: nil, values: ["articles": .objects([inserted.inserted[0]])]))
        #expect(
            try changes(moved.transaction)
                == ["updated Article 1 category", "updated Category 1-2 articles"])
        #expect(try library.version(one) == 1)
    }

    @Test("the history of a delete has objects that it cascades to, and objects that it unlinks")
    func cascades() throws {
        let collection = try library.insert("Collection")
        let category = try library.insert("Category", ["name": "c"])
        for title in ["a", "b", "c"] {
            try library.insert(
                "Article",
                [
                    "title": .string(title), "collection": .object(collection),
                    "category": .object(category),
                ])
        }
        let source = library.identifier("Article", 1)
        let reader = try library.insert("Article", ["title": "r", "source": .object(source)])
        let result = try library.saved(.delete(collection, ifVersion: nil))
        #expect(reader.permanentKey == 4)
        #expect(
            try changes(result.transaction) == [
                "updated Article 4 source", "updated Category 1 articles",
                "deleted Article 1-3", "deleted Collection 1",
            ])
    }

    @Test("the history has no object that one set inserts and deletes")
    func insertedAndDeleted() throws {
        let collection = try library.insert("Collection")
        let result = try library.saved(
            .insert(
                .new("a", "Article"), values: ["title": "a", "collection": .object(collection)]),
            .insert(.new("t", "Tag"), values: [:]), .delete(collection, ifVersion: nil))
        #expect(
            try changes(result.transaction) == ["inserted Tag 1", "deleted Collection 1"])
    }

    @Test("the history has an upsert of an existing object as an update")
    func upsert() throws {
        try library.insert("Category", ["name": "c"])
        let article = try library.insert("Article", ["title": "a"])
        let set = ChangeSet(
            [
                .insert(
                    .new("c", "Category"),
                    values: ["name": "c", "articles": .objects([article])])
            ], onUniqueConflict: .upsert)
        let result = try library.writer.save([set])[0].get()
        #expect(
            try changes(result.transaction)
                == ["updated Article 1 category", "updated Category 1 articles"])
    }

    @Test("a set that changes nothing or fails has no transaction in the history")
    func nothing() throws {
        #expect(try library.saved().transaction == nil)
        #expect(
            try library.refusal(.insert(.new("a", "Article"), values: [:])).code == .missingValue)
        #expect(try library.rows("SELECT count(*) FROM _transaction") == [[.integer(0)]])
    }

    @Test("a transaction of the history has the time, the author and the client")
    func source() throws {
        let set = ChangeSet([.insert(.new("t", "Tag"), values: [:])], author: "importer é")
        let source = ChangeSource(
            userIdentifier: .max - 1, processIdentifier: 77, clientName: "tool")
        let before = Date().timeIntervalSinceReferenceDate
        let outcome = library.writer.save([SaveRequest(set, from: source)])
        #expect(try outcome[0].get().transaction == 1)
        try library.insert("Tag")
        let rows = try library.rows(
            "SELECT number, author, client, user, process FROM _transaction ORDER BY number")
        #expect(
            rows == [
                [
                    .integer(1), .text("importer é"), .text("tool"), .integer(4_294_967_294),
                    .integer(77),
                ],
                [.integer(2), .null, .null, .null, .null],
            ])
        guard case .real(let time) = try library.rows("SELECT min(time) FROM _transaction")[0][0]
        else { return #expect(Bool(false), "the time is not a number") }
        #expect(before...Date().timeIntervalSinceReferenceDate ~= time)
    }

    @Test("an author of the maximum length is accepted, and one byte more is rejected")
    func authorLength() throws {
        let longest = String(repeating: "a", count: Limits.authorBytesMax)
        let tag = Change.insert(.new("t", "Tag"), values: [:])
        let outcomes = library.writer.save([
            ChangeSet([tag], author: longest), ChangeSet([tag], author: longest + "a"),
        ])
        #expect(try outcomes[0].get().transaction == 1)
        #expect(throws: LarderError.self) { try outcomes[1].get() }
    }

    @Test("each set of a group has a transaction number, and a failed set has none")
    func numbers() throws {
        let tag = ChangeSet([.insert(.new("t", "Tag"), values: [:])])
        let failing = ChangeSet([.insert(.new("a", "Article"), values: [:])])
        let outcomes = library.writer.save([tag, failing, tag])
        #expect(outcomes.map { try? $0.get().transaction } == [1, nil, 2])
        #expect(try library.insert("Tag").permanentKey == 3)
        #expect(
            try library.rows("SELECT number FROM _transaction")
                == [[.integer(1)], [.integer(2)], [.integer(3)]])
    }

    @Test("no transaction number is used twice, even if only the newest transaction is kept")
    func numbersOfShortenedHistory() throws {
        let folder = try MemoryFolder()
        let path = folder.storePath
        func insert() throws -> Int64? {
            let store = try Store.open(path: path, schema: Library.schema())
            let writer = try store.makeWriter()
            defer { writer.close() }
            let set = ChangeSet([.insert(.new("t", "Tag"), values: [:])])
            return try writer.save([set])[0].get().transaction
        }
        #expect(try insert() == 1)
        #expect(try insert() == 2)
        try Connection(path: path, createIfMissing: false).execute(
            "DELETE FROM _change; "
                + "DELETE FROM _transaction WHERE number < (SELECT max(number) FROM _transaction)")
        #expect(try insert() == 3)
    }
}

@Suite("values of deleted objects")
struct PreservedValueTests {
    private let library: Library

    init() throws {
        let item = Entity(
            name: "Item",
            attributes: [
                Attribute(
                    name: "code", type: .string, isOptional: true, unique: .exact,
                    preservesValueOnDeletion: true),
                Attribute(
                    name: "price", type: .decimal, isOptional: true,
                    preservesValueOnDeletion: true),
                Attribute(name: "note", type: .string, isOptional: true),
            ])
        library = try Library(schema: Schema(entities: [item]))
    }

    private func preserved() throws -> [[SQLValue]] {
        try library.rows(
            "SELECT transaction_number, key, property, value FROM _preserved ORDER BY 1, 2, 3")
    }

    @Test("values of deleted objects are preserved in the history if the schema requires it")
    func preservedValues() throws {
        let first = try library.insert("Item", ["code": "a", "price": 2, "note": "n"])
        let second = try library.insert("Item", ["note": "m"])
        let result = try library.saved(
            .delete(first, ifVersion: nil), .delete(second, ifVersion: nil))
        #expect(result.transaction == 3)
        #expect(try library.history(3).map(\.description) == ["deleted Item 1-2"])
        #expect(
            try preserved() == [
                [.integer(3), .integer(1), .text("code"), .text("a")],
                [.integer(3), .integer(1), .text("price"), .text("2")],
                [.integer(3), .integer(2), .text("code"), .null],
                [.integer(3), .integer(2), .text("price"), .null],
            ])
        let reader = try library.store.makeReader()
        #expect(try reader.check(budget: ReadBudget()).findings == [])
    }

    @Test("the preserved values of a deleted object are those of the set, even if deferred")
    func waitingValue() throws {
        let first = try library.insert("Item", ["code": "a"])
        let second = try library.insert("Item", ["code": "b"])
        try library.saved(
            .update(second, ifVersion: nil, values: ["code": "a"]),
            .delete(second, ifVersion: nil), .update(first, ifVersion: nil, values: ["note": "n"]))
        #expect(
            try preserved().first == [.integer(3), .integer(2), .text("code"), .text("a")])
    }

    @Test("no values are preserved for an object inserted by the set, or whose delete failed")
    func none() throws {
        let item = try library.insert("Item", ["code": "a"])
        _ = try library.refusal(
            .delete(item, ifVersion: nil), .delete(library.identifier("Item", 9), ifVersion: nil))
        #expect(try preserved() == [])
    }
}
