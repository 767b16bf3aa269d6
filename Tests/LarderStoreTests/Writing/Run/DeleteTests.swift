import LarderModel
import Testing

@testable import LarderStore

@Suite("a delete")
struct DeleteTests {
    private let library: Library

    init() throws { library = try Library() }

    @Test("a delete unlinks the related objects")
    func nullify() throws {
        let (category, tag) = (
            try library.insert("Category", ["name": "n"]), try library.insert("Tag")
        )
        let source = try library.insert("Article", ["title": "s"])
        let article = try library.insert(
            "Article",
            [
                "title": "t", "category": .object(category), "tags": .objects([tag]),
                "source": .object(source), "related": .objects([source]),
            ])
        let result = try library.saved(
            .delete(category, ifVersion: nil), .delete(tag, ifVersion: nil),
            .delete(source, ifVersion: nil))
        #expect(result.deletedCount == 3)
        for name in ["category", "tags", "source", "related"] {
            #expect(try library.keys(article, name) == [])
        }
        #expect(try library.version(article) == 2)
        #expect(
            try library.readConnection.integer("SELECT count(*) FROM \"_join.Article.tags\"") == 0)
        #expect(
            try library.readConnection.integer("SELECT count(*) FROM \"_join.Article.related\"")
                == 0)
    }

    @Test("a delete deletes the objects that the rule cascade requires, through a chain")
    func cascade() throws {
        let result = try library.saved(
            .insert(
                .new("a", "Article"),
                values: ["title": "a", "cover": .object(.new("v", "Cover"))]),
            .insert(.new("b", "Article"), values: ["title": "b"]),
            .insert(.new("v", "Cover"), values: [:]),
            .insert(
                .new("c", "Collection"),
                values: ["articles": .objects([.new("a", "Article"), .new("b", "Article")])]))
        let deleted = try library.saved(.delete(result.inserted[3], ifVersion: 1))
        #expect(deleted.deletedCount == 4)
        for entity in ["Article", "Cover", "Collection"] { #expect(try library.count(entity) == 0) }
    }

    @Test("a delete that cascades in a cycle ends, and deletes nothing twice")
    func cycle() throws {
        let people = (0..<3).map { PersistentIdentifier.new("\($0)", "Person") }
        let result = try library.saved(
            .insert(people[0], values: ["parent": .object(people[2])]),
            .insert(people[1], values: ["parent": .object(people[0])]),
            .insert(people[2], values: ["parent": .object(people[1])]))
        let deleted = try library.saved(
            .delete(result.inserted[1], ifVersion: nil), .delete(result.inserted[2], ifVersion: nil)
        )
        #expect(deleted.deletedCount == 3)
        #expect(try library.count("Person") == 0)
    }

    @Test("a delete cascades through a chain of any length")
    func longChain() throws {
        let count = 20_000
        var changes: [Change] = []
        for number in 0..<count {
            let parent: Value = number == 0 ? nil : .object(.new("\(number - 1)", "Person"))
            changes.append(.insert(.new("\(number)", "Person"), values: ["parent": parent]))
        }
        let result = try library.writer.save([ChangeSet(changes)])[0].get()
        let deleted = try library.saved(.delete(result.inserted[0], ifVersion: nil))
        #expect(deleted.deletedCount == Int64(count))
    }

    @Test("a delete is denied if a remaining object requires the deleted one")
    func denied() throws {
        let result = try library.saved(
            .insert(
                .new("p", "Page"), values: ["number": 1, "book": .object(.new("b", "Book"))]),
            .insert(.new("b", "Book"), values: ["binding": .object(.new("i", "Binding"))]),
            .insert(.new("i", "Binding"), values: [:]))
        let (page, book, binding) = (result.inserted[0], result.inserted[1], result.inserted[2])
        let error = try library.refusal(.delete(book, ifVersion: nil))
        #expect(error.code == .deleteDenied)
        #expect(error.uri == page.uriRepresentation)
        #expect(
            error.message
                == "\(book.uriRepresentation) cannot be deleted, because \(page.uriRepresentation) "
                + "requires it as Page.book")
        let other = try library.refusal(.delete(binding, ifVersion: nil))
        #expect(other.code == .deleteDenied)
        #expect(other.uri == book.uriRepresentation)
        let all = try library.saved(
            .delete(binding, ifVersion: nil), .delete(book, ifVersion: nil),
            .delete(page, ifVersion: nil))
        #expect(all.deletedCount == 3)
    }

    @Test("a delete is allowed if the object that requires it gets another one in the same set")
    func replaced() throws {
        let result = try library.saved(
            .insert(
                .new("p", "Page"), values: ["number": 1, "book": .object(.new("b", "Book"))]),
            .insert(.new("b", "Book"), values: ["binding": .object(.new("i", "Binding"))]),
            .insert(.new("i", "Binding"), values: [:]))
        try library.saved(
            .delete(result.inserted[1], ifVersion: nil),
            .insert(.new("c", "Book"), values: ["binding": .object(result.inserted[2])]),
            .update(
                result.inserted[0], ifVersion: nil, values: ["book": .object(.new("c", "Book"))]))
        #expect(try library.keys(result.inserted[0], "book") == [2])
    }

    @Test("a delete leaves no link to a deleted object, not even a pending one")
    func waitingLink() throws {
        let person = try library.insert("Person")
        let error = try library.refusal(
            .insert(
                .new("a", "Person"),
                values: ["parent": .object(person), "children": .objects([.new("b", "Person")])]),
            .delete(person, ifVersion: nil),
            .insert(.new("b", "Person"), values: ["spouse": .object(.new("a", "Person"))]))
        #expect(error.code == .objectNotFound)
    }
}
