import Foundation
import LarderModel
import LarderQuery
import Testing

@testable import LarderStore

@Suite("the values before a save")
struct FormerValuesTests {
    private let library: Library

    init() throws { library = try Library(schema: Library.schema().recordingValues()) }

    private func former(
        _ changes: Change..., in library: Library? = nil
    ) throws -> [PersistentIdentifier: [String: Value]] {
        let library = library ?? self.library
        let result = try library.writer.save([ChangeSet(changes)])[0].get()
        return try library.formerValues(try #require(result.transaction))
    }

    @Test("an update has the values before of the attributes that changed, and of no others")
    func update() throws {
        let article = try library.insert("Article", ["title": "a", "wordCount": 3, "price": 1])
        let values = try former(
            .update(
                article, ifVersion: nil, values: ["title": "b", "wordCount": 3, "price": nil]))
        #expect(values == [article: ["title": "a", "price": .decimal(1)]])
    }

    @Test("a save that changes a value twice has the first one")
    func twice() throws {
        let article = try library.insert("Article", ["title": "a"])
        let all = ObjectSelection("Article")
        let values = try former(
            .update(article, ifVersion: nil, values: ["title": "b", "small": 1]),
            .updateAll(
                all,
                set: [PropertyAssignment("title", to: "c"), PropertyAssignment("small", to: 2)]),
            .updateAll(all, set: [PropertyAssignment("title", to: "a")]))
        #expect(values == [article: ["title": "a", "small": .null]])
    }

    @Test("objects that exchange unique values have those before the exchange")
    func exchange() throws {
        let one = try library.insert("Category", ["name": "1"])
        let two = try library.insert("Category", ["name": "2"])
        let values = try former(
            .update(one, ifVersion: nil, values: ["name": "2"]),
            .update(two, ifVersion: nil, values: ["name": "1"]))
        #expect(values == [one: ["name": "1"], two: ["name": "2"]])
    }

    @Test("an update by predicate and an upsert have the values before of each object")
    func bulk() throws {
        let one = try library.insert("Article", ["title": "a", "wordCount": 1])
        let two = try library.insert("Article", ["title": "b", "wordCount": 2])
        let all = try former(
            .updateAll(ObjectSelection("Article"), set: [PropertyAssignment("wordCount", to: 2)]))
        #expect(all == [one: ["wordCount": 1]])
        let category = try library.insert("Category", ["name": "c"])
        let upsert = ChangeSet(
            [
                .insert(
                    .new("x", "Category"),
                    values: ["name": "c", "articles": .objects([two])])
            ], onUniqueConflict: .upsert)
        let saved = try library.writer.save([upsert])[0].get()
        #expect(saved.inserted == [category])
        let values = try library.formerValues(try #require(saved.transaction))
        #expect(values == [two: ["category": .null]])
    }

    @Test("a deletion has all values before, also those of objects that it cascades to")
    func deletion() throws {
        let category = try library.insert("Category", ["name": "c"])
        let cover = try library.insert("Cover")
        let article = try library.insert(
            "Article", ["title": "a", "category": .object(category), "cover": .object(cover)])
        let other = try library.insert("Article", ["title": "o", "source": .object(article)])
        let values = try former(
            .update(article, ifVersion: nil, values: ["title": "b", "category": nil]),
            .delete(article, ifVersion: nil))
        #expect(values[article]?["title"] == "a")
        #expect(values[article]?["category"] == .object(category))
        #expect(values[article]?["cover"] == .object(cover))
        #expect(values[article]?["price"] == .null)
        #expect(values[cover] == ["article": .object(article)])
        #expect(values[other] == ["source": .object(article)])
    }

    @Test("objects that a save inserts, and entities with the history changes, have no values")
    func none() throws {
        let article = Change.insert(.new("a", "Article"), values: ["title": "a"])
        #expect(try former(article) == [:])
        let inserted = try former(
            .insert(.new("b", "Article"), values: ["title": "b"]),
            .updateAll(
                ObjectSelection("Article", where: .format("title == 'b'")),
                set: [PropertyAssignment("title", to: "c")]),
            .deleteAll(ObjectSelection("Article", where: .format("title == 'c'"))),
            .insert(.new("d", "Tag"), values: [:]))
        #expect(inserted == [:])
        let plain = try Library()
        let object = try plain.insert("Article", ["title": "a"])
        let values = try former(
            .update(object, ifVersion: nil, values: ["title": "b"]), in: plain)
        #expect(values == [:])
        #expect(try plain.rows("SELECT count(*) FROM _preserved") == [[.integer(0)]])
    }

    @Test("a value that is too long is left out, and so is a later one of the same save")
    func tooLong() throws {
        let long = String(repeating: "x", count: Limits.formerValueBytesMax + 1)
        let fitting = String(repeating: "x", count: Limits.formerValueBytesMax)
        let article = try library.insert("Article", ["title": .string(long)])
        let values = try former(
            .update(article, ifVersion: nil, values: ["title": "b", "wordCount": 1]),
            .updateAll(
                ObjectSelection("Article"), set: [PropertyAssignment("title", to: "c")]))
        #expect(values == [article: ["wordCount": 0]])
        let other = try library.insert("Article", ["title": .string(fitting)])
        let kept = try former(.update(other, ifVersion: nil, values: ["title": "b"]))
        #expect(kept == [other: ["title": .string(fitting)]])
        let counts = library.store.formerValueCounters.statistics.map(\.value)
        #expect(counts == [2, .int(Int64(8 + fitting.utf8.count)), 2])
    }

    @Test("a transaction with too many values before leaves out the later ones")
    func tooMany() throws {
        let count = Limits.formerValuesBytesMax / Limits.formerValueBytesMax + 2
        let long = String(repeating: "x", count: Limits.formerValueBytesMax)
        for number in 0..<count {
            _ = try library.insert(
                "Article", ["title": .string(long), "wordCount": .int(Int64(number))])
        }
        let result = try library.saved(
            .updateAll(ObjectSelection("Article"), set: [PropertyAssignment("title", to: "t")]))
        let rows = try library.rows(
            "SELECT count(*) FROM _preserved WHERE transaction_number = ?",
            [.integer(try #require(result.transaction))])
        #expect(rows == [[.integer(Int64(count - 2))]])
    }

    @Test("values before are deleted with their transactions, and the check finds stray ones")
    func pruning() throws {
        let article = try library.insert("Article", ["title": "a"])
        for title in ["b", "c", "d"] {
            _ = try library.saved(
                .update(article, ifVersion: nil, values: ["title": .string(title)]))
        }
        let writer = library.writer
        let step = try writer.deleteHistory(upTo: 3, rowsMax: 100).get()
        #expect(step.isLast)
        #expect(
            try library.rows("SELECT transaction_number, value FROM _preserved")
                == [[.integer(4), .text("c")]])
        let reader = try library.store.makeReader()
        #expect(try reader.check(budget: ReadBudget()).findings.isEmpty)
        let connection = try #require(writer.statements?.connection)
        try connection.execute(
            "INSERT INTO _preserved VALUES (4, 'Article', 9, 'title', 'x')")
        #expect(try reader.check(budget: ReadBudget()).findings.count == 1)
    }

    @Test("a dry run returns its result and changes nothing, neither keys nor the history")
    func dryRun() throws {
        let collection = try library.insert("Collection")
        for title in ["a", "b"] {
            _ = try library.insert(
                "Article", ["title": .string(title), "collection": .object(collection)])
        }
        var set = ChangeSet([
            .delete(collection, ifVersion: nil),
            .insert(.new("x", "Article"), values: ["title": "c"]),
        ])
        set.isDryRun = true
        let real = ChangeSet([.insert(.new("y", "Article"), values: ["title": "d"])])
        var failing = ChangeSet([.delete(library.identifier("Article", 99), ifVersion: nil)])
        failing.isDryRun = true
        // Alone, and with others in a group.
        let before = try library.rows("SELECT * FROM _transaction")
        let alone = try library.writer.save([set])[0].get()
        #expect((alone.deletedCount, alone.transaction) == (3, nil))
        #expect(try library.rows("SELECT * FROM _transaction") == before)
        let outcomes = library.writer.save([set, real, set, failing])
        #expect(try outcomes[0].get().deletedCount == 3)
        #expect(try outcomes[1].get().inserted == [library.identifier("Article", 3)])
        #expect(try outcomes[2].get().deletedCount == 3)
        #expect(throws: LarderError.self) { try outcomes[3].get() }
        #expect(try library.count("Article") == 3)
        #expect(try library.count("Collection") == 1)
        #expect(try library.rows("SELECT * FROM _transaction").count == before.count + 1)
        let parts = library.save(set, inPartsOf: 1)
        guard case .failure(let error) = parts else {
            Issue.record("a dry run in parts succeeded")
            return
        }
        #expect(error.code == .unsupported)
        #expect(try library.count("Article") == 3)
    }
}
