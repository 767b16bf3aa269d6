import LarderModel
import LarderQuery
import Testing

@testable import LarderStore

@Suite("a bulk delete")
struct DeleteAllTests {
    private let library: Library

    init() throws { library = try Library() }

    @Test("a bulk delete deletes the matching objects and returns their number")
    func delete() throws {
        let articles = try library.articles(wordCounts: 1...5)
        let result = try library.saved(
            .deleteAll("Article", where: "wordCount BETWEEN {2, 4}", identifiers: true))
        #expect(result.deletedCount == 3)
        #expect(
            result.affected
                == [AffectedObjects(count: 3, identifiers: Array(articles[1...3]))])
        #expect(try library.integers("Article", "_id") == [1, 5])
        #expect(
            try library.history(try #require(result.transaction)).map(\.description)
                == ["deleted Article 2-4"])
        #expect(try library.saved(.deleteAll("Article")).deletedCount == 2)
        #expect(try library.saved(.deleteAll("Article")).transaction == nil)
    }

    @Test("a bulk delete cascades, and counts each deleted object once")
    func cascade() throws {
        let collection = try library.insert("Collection")
        let cover = try library.insert("Cover")
        try library.articles(wordCounts: [1, 2], ["collection": .object(collection)])
        try library.saved(
            .update(
                library.identifier("Article", 1), ifVersion: nil, values: ["cover": .object(cover)])
        )
        let result = try library.saved(.deleteAll("Collection"))
        #expect(result.affected[0].count == 1)
        #expect(result.deletedCount == 4)
        #expect(try library.count("Article") + library.count("Cover") == 0)
    }

    @Test("a bulk delete of objects that cascade to each other deletes each once")
    func cycle() throws {
        let people = (0..<4).map { PersistentIdentifier.new("\($0)", "Person") }
        let changes = people.enumerated().map { place, person in
            Change.insert(person, values: ["parent": .object(people[(place + 1) % 4])])
        }
        _ = try library.writer.save([ChangeSet(changes)])[0].get()
        let result = try library.saved(.deleteAll("Person", where: "ANY children != nil"))
        #expect(result.affected[0].count == 4)
        #expect(result.deletedCount == 4)
        #expect(try library.count("Person") == 0)
    }

    @Test("a bulk delete nullifies references, in to-ones and in lists")
    func nullify() throws {
        let tag = try library.insert("Tag")
        let category = try library.insert("Category", ["name": "c"])
        let article = try library.articles(
            wordCounts: [1], ["tags": .objects([tag]), "category": .object(category)])[0]
        let result = try library.saved(.deleteAll("Tag"), .deleteAll("Category"))
        #expect(try library.keys(article, "tags") + library.keys(article, "category") == [])
        #expect(
            try library.history(try #require(result.transaction)).map(\.description)
                == ["updated Article 1 category,tags", "deleted Category 1", "deleted Tag 1"])
        #expect(try library.version(article) == 2)
    }

    @Test("a bulk delete is denied by objects that remain, and not by objects deleted with it")
    func deny() throws {
        let league = try Library(schema: League.schema())
        let (team, players) = try league.team(playerCount: 2)
        _ = try league.team()
        let error = try league.refusal(.deleteAll("Team"))
        #expect(error.code == .deleteDenied)
        #expect(error.message.hasPrefix("\(team.uriRepresentation) cannot be deleted"))
        #expect(error.details.map(\.uri) == [players[0].uriRepresentation])
        let result = try league.saved(.deleteAll("Team"), .deleteAll("Player"))
        #expect(result.affected.map(\.count) == [2, 2])
        #expect(result.deletedCount == 4)
    }

    @Test("a bulk delete that would leave an object without a required one is denied")
    func required() throws {
        let binding = try library.insert("Binding", [:])
        let book = try library.insert("Book", ["binding": .object(binding)])
        try library.insert("Page", ["number": 1, "book": .object(book)])
        #expect(try library.refusal(.deleteAll("Book")).code == .deleteDenied)
        #expect(try library.refusal(.deleteAll("Binding")).code == .deleteDenied)
        try library.saved(.deleteAll("Book"), .deleteAll("Page"), .deleteAll("Binding"))
        #expect(try library.count("Book") == 0)
    }

    @Test("a bulk delete leaves keys under the rule noAction")
    func noAction() throws {
        let league = try Library(schema: League.schema())
        let mascot = try league.insert("Mascot")
        try league.insert("Team", ["mascot": .object(mascot)])
        try league.saved(.deleteAll("Team"))
        #expect(try league.count("Team") == 0)
        #expect(try league.count("Mascot") == 1)
    }

    @Test("bulk deletes and changes by identifier in one set take effect in their order")
    func withOthers() throws {
        let articles = try library.articles(wordCounts: [1, 2, 3])
        let result = try library.saved(
            .insert(.new("x", "Article"), values: ["title": "x", "wordCount": 9]),
            .update(articles[0], ifVersion: nil, values: ["wordCount": 9]),
            .deleteAll("Article", where: "wordCount == 9"),
            .delete(articles[0], ifVersion: nil),
            .insert(.new("y", "Article"), values: ["title": "y", "wordCount": 9]))
        #expect(result.affected[0].count == 2)
        #expect(try library.integers("Article", "wordCount") == [2, 3, 9])
        #expect(
            try library.history(try #require(result.transaction)).map(\.description)
                == ["inserted Article 5", "deleted Article 1"])
        let error = try library.refusal(
            .deleteAll("Article", where: "wordCount == 2"),
            .update(articles[1], ifVersion: nil, values: ["small": 1]))
        #expect(error.code == .objectNotFound)
        #expect(error.details.map(\.change) == [1])
    }

    @Test("a bulk delete preserves attributes of deleted objects")
    func preserved() throws {
        let item = Entity(
            name: "Item",
            attributes: [
                Attribute(name: "code", type: .string, preservesValueOnDeletion: true)
            ])
        let items = try Library(schema: Schema(entities: [item]))
        for code in ["a", "b"] { try items.insert("Item", ["code": .string(code)]) }
        try items.saved(.deleteAll("Item"))
        #expect(
            try items.rows("SELECT value FROM _preserved ORDER BY key") == [
                [.text("a")], [.text("b")],
            ])
    }
}
