import LarderModel
import Testing

@testable import LarderStore

@Suite("a relationship")
struct RelationshipTests {
    private let library: Library

    init() throws { library = try Library() }

    private func articles(_ count: Int) throws -> [PersistentIdentifier] {
        try (0..<count).map { try library.insert("Article", ["title": .string("t\($0)")]) }
    }

    private func set(
        _ object: PersistentIdentifier, _ name: String, _ value: Value
    ) throws {
        try library.saved(.update(object, ifVersion: nil, values: [name: value]))
    }

    private func expect(
        _ object: PersistentIdentifier, _ name: String, _ expected: [PersistentIdentifier],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(
            try library.keys(object, name) == library.keys(expected),
            sourceLocation: sourceLocation)
    }

    @Test("a one-to-many relationship is set, changed and cleared from either side")
    func toOne() throws {
        let all = try articles(2)
        let (one, two) = (
            try library.insert("Category", ["name": "1"]),
            try library.insert("Category", ["name": "2", "articles": .objects(all)])
        )
        try expect(all[0], "category", [two])
        try set(all[0], "category", .object(one))
        try expect(one, "articles", [all[0]])
        try expect(two, "articles", [all[1]])
        try set(one, "articles", .objects([all[1]]))
        try expect(all[0], "category", [])
        try expect(two, "articles", [])
        try set(all[1], "category", nil)
        try expect(one, "articles", [])
    }

    @Test("an ordered relationship keeps the given order, and appends objects from the other side")
    func ordered() throws {
        let all = try articles(4)
        let collection = try library.insert(
            "Collection", ["articles": .objects([all[2], all[0]])])
        try expect(collection, "articles", [all[2], all[0]])
        try set(all[1], "collection", .object(collection))
        try expect(collection, "articles", [all[2], all[0], all[1]])
        let late = try library.insert(
            "Article", ["title": "late", "collection": .object(collection)])
        try expect(collection, "articles", [all[2], all[0], all[1], late])
        try set(all[2], "collection", .object(collection))
        try expect(collection, "articles", [all[2], all[0], all[1], late])
        try set(collection, "articles", .objects([late, all[2], all[3]]))
        try expect(collection, "articles", [late, all[2], all[3]])
        try expect(all[0], "collection", [])
        let other = try library.insert("Collection", ["articles": .objects([all[2]])])
        try expect(collection, "articles", [late, all[3]])
        try expect(other, "articles", [all[2]])
    }

    @Test("a many-to-many relationship is the same from both sides")
    func manyToMany() throws {
        let all = try articles(2)
        let tags = try (0..<3).map { _ in try library.insert("Tag") }
        try set(all[0], "tags", .objects([tags[2], tags[0]]))
        try set(all[1], "tags", .objects([tags[0]]))
        try expect(tags[0], "articles", all)
        try set(tags[1], "articles", .objects([all[0]]))
        try expect(all[0], "tags", [tags[2], tags[0], tags[1]])
        try set(all[0], "tags", .objects([tags[1], tags[2]]))
        try expect(all[0], "tags", [tags[1], tags[2]])
        try expect(tags[0], "articles", [all[1]])
        try set(tags[2], "articles", .objects([]))
        try expect(all[0], "tags", [tags[1]])
    }

    @Test("a one-to-one relationship unlinks former partners, from the side that stores it")
    func oneToOneFromOwner() throws {
        let all = try articles(2)
        let covers = try (0..<2).map { _ in try library.insert("Cover") }
        try set(all[0], "cover", .object(covers[0]))
        try set(all[1], "cover", .object(covers[1]))
        try set(all[0], "cover", .object(covers[1]))
        try expect(all[0], "cover", [covers[1]])
        try expect(all[1], "cover", [])
        try expect(covers[0], "article", [])
        try expect(covers[1], "article", [all[0]])
    }

    @Test("a one-to-one relationship unlinks former partners, from the other side")
    func oneToOneFromOther() throws {
        let all = try articles(2)
        let covers = try all.map { try library.insert("Cover", ["article": .object($0)]) }
        try set(covers[0], "article", .object(all[1]))
        try expect(all[0], "cover", [])
        try expect(all[1], "cover", [covers[0]])
        try expect(covers[1], "article", [])
        try set(covers[0], "article", nil)
        try expect(all[1], "cover", [])
        let late = try library.insert("Article", ["title": "u", "cover": .object(covers[0])])
        try expect(covers[0], "article", [late])
    }

    @Test("a relationship that is its own inverse has both directions")
    func ownInverse() throws {
        let people = try (0..<4).map { _ in try library.insert("Person") }
        try set(people[0], "spouse", .object(people[1]))
        try set(people[2], "spouse", .object(people[3]))
        try expect(people[1], "spouse", [people[0]])
        try set(people[1], "spouse", .object(people[2]))
        try expect(people[0], "spouse", [])
        try expect(people[2], "spouse", [people[1]])
        try expect(people[3], "spouse", [])
        try set(people[2], "spouse", .object(people[2]))
        try expect(people[1], "spouse", [])
        try expect(people[2], "spouse", [people[2]])
        try set(people[2], "spouse", nil)
        try expect(people[2], "spouse", [])
        try set(people[0], "friends", .objects([people[3], people[0], people[1]]))
        try expect(people[0], "friends", [people[3], people[0], people[1]])
        try expect(people[3], "friends", [people[0]])
        try set(people[3], "friends", .objects([people[1]]))
        try expect(people[0], "friends", [people[0], people[1]])
        try expect(people[1], "friends", [people[0], people[3]])
    }

    @Test("a relationship without inverse does not change its destination")
    func oneWay() throws {
        let all = try articles(3)
        try set(all[0], "related", .objects([all[1], all[2]]))
        try set(all[1], "source", .object(all[0]))
        try expect(all[0], "related", [all[1], all[2]])
        #expect(try library.version(all[2]) == 1)
    }

    @Test("a required relationship cannot be omitted, cleared, or unlinked")
    func required() throws {
        let none = try library.refusal(.insert(.new("p", "Page"), values: ["number": 1]))
        #expect(none.code == .missingValue)
        #expect(none.message == "Page.book is required")
        let result = try library.saved(
            .insert(.new("p", "Page"), values: ["number": 1]),
            .insert(.new("q", "Page"), values: ["number": 2]),
            .insert(
                .new("b", "Book"),
                values: [
                    "pages": .objects([.new("q", "Page"), .new("p", "Page")]),
                    "binding": .object(.new("i", "Binding")),
                ]),
            .insert(.new("i", "Binding"), values: [:]))
        let (page, book, binding) = (result.inserted[0], result.inserted[2], result.inserted[3])
        try expect(book, "pages", [result.inserted[1], page])
        let cleared = try library.refusal(.update(page, ifVersion: nil, values: ["book": nil]))
        #expect(cleared.code == .missingValue)
        let taken = try library.refusal(
            .update(book, ifVersion: nil, values: ["pages": .objects([page])]))
        #expect(taken.code == .missingValue)
        #expect(taken.uri == result.inserted[1].uriRepresentation)
        let stolen = try library.refusal(
            .insert(.new("b", "Book"), values: ["binding": .object(binding)]))
        #expect(stolen.code == .missingValue)
        #expect(stolen.uri == book.uriRepresentation)
        try library.saved(
            .update(book, ifVersion: nil, values: ["pages": .objects([page])]),
            .delete(result.inserted[1], ifVersion: nil))
    }
}
