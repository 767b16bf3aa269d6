import FoundationEssentials
import LarderClient
import Testing

struct Story: QueryableEntity {
    var persistentModelID: PersistentIdentifier
    var number: Int
    var title: String
    var subtitle: String?
    var words: Int
    var pages: Int?
    var rating: Double
    var isPublished: Bool
    var isFeatured: Bool?
    var date: Date
    var section: Section?
    var remarks: [Remark]

    static let entityName = "Story"

    static func property(at keyPath: AnyKeyPath) -> EntityProperty? {
        switch keyPath {
        case \Story.persistentModelID: .identifier
        case \Story.number: "number"
        case \Story.title: "title"
        case \Story.subtitle: "subtitle"
        case \Story.words: "words"
        case \Story.pages: "pages"
        case \Story.rating: "rating"
        case \Story.isPublished: "isPublished"
        case \Story.isFeatured: "isFeatured"
        case \Story.date: "date"
        case \Story.section: "section"
        case \Story.remarks: "remarks"
        default: nil
        }
    }
}

/// A class, for a value cannot hold stories that hold it.
final class Section: QueryableEntity, Equatable {
    let persistentModelID: PersistentIdentifier
    let name: String
    var stories: [Story] = []

    init(_ persistentModelID: PersistentIdentifier, name: String) {
        self.persistentModelID = persistentModelID
        self.name = name
    }

    static func == (left: Section, right: Section) -> Bool {
        left.persistentModelID == right.persistentModelID
    }

    static let entityName = "Section"

    static func property(at keyPath: AnyKeyPath) -> EntityProperty? {
        switch keyPath {
        case \Section.persistentModelID: .identifier
        case \Section.name: "name"
        case \Section.stories: "stories"
        default: nil
        }
    }
}

struct Remark: QueryableEntity {
    var persistentModelID: PersistentIdentifier
    var text: String?
    var stars: Int

    static let entityName = "Remark"

    static func property(at keyPath: AnyKeyPath) -> EntityProperty? {
        switch keyPath {
        case \Remark.persistentModelID: .identifier
        case \Remark.text: "text"
        case \Remark.stars: "stars"
        default: nil
        }
    }
}

/// The same stories in a store and in memory.
struct StoryStore {
    let site: Site
    let client: StoreClient
    let all: [Story]
    let sections: [Section]

    init() throws {
        site = try Site(schema: Self.schema)
        let client = try site.connect()
        self.client = client
        sections = try ["News", "Äther", "Unread"].map { name in
            Section(try client.insert("Section", ["name": .string(name)]), name: name)
        }
        var stories: [Story] = []
        for (number, seed) in Self.seeds.enumerated() {
            stories.append(try Self.insert(seed, number, sections, client))
        }
        all = stories
        for section in sections {
            section.stories = stories.filter { $0.section === section }
        }
    }

    /// Checks that the store and Swift select the same stories, and that the predicate is the same
    /// when it is printed and read again.
    func agree(
        _ predicate: Predicate<Story>, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let expected = try all.filter(predicate).map { Value.int(Int64($0.number)) }
        let bound = try BoundExpression(predicate)
        let text = Comment(rawValue: bound.expression.format)
        let found = try client.fetch(where: predicate, sort: [SortKey("number")])
        #expect(found.map { $0["number"] } == expected, text, sourceLocation: sourceLocation)
        let read = try client.fetch(
            "Story", where: bound.expression.format, arguments: bound.arguments,
            sort: [SortKey("number")])
        #expect(read == found, text, sourceLocation: sourceLocation)
    }

    private struct Seed {
        var title: String
        var subtitle: String?
        var words: Int
        var pages: Int?
        var isFeatured: Bool?
        var section: Int?
        var remarks: [(text: String?, stars: Int)]
    }

    private static let seeds = [
        Seed(
            title: "école", subtitle: "b", words: 100, pages: 3, isFeatured: true, section: 0,
            remarks: [("b", 5), (nil, 2)]),
        Seed(title: "École", words: 900, isFeatured: false, section: 0, remarks: []),
        Seed(title: "", subtitle: "", words: 0, pages: 0, section: 1, remarks: [(nil, 4)]),
        Seed(title: "über", subtitle: "abc", words: 101, pages: -7, remarks: [("x", 1)]),
        Seed(
            title: "Über allem", subtitle: "B", words: 899, pages: 12, isFeatured: true, section: 1,
            remarks: [("B", 5), ("y", 5), ("z", 3)]),
        Seed(title: "straße", words: -5, isFeatured: false, remarks: []),
        Seed(
            title: "STRASSE", subtitle: "c", words: 350, pages: 2, section: 0,
            remarks: [("c", 4)]),
        Seed(title: "👩‍👩‍👧 family", words: 12, pages: 1, section: 0, remarks: [(nil, 3)]),
    ]

    private static func insert(
        _ seed: Seed, _ number: Int, _ sections: [Section], _ client: StoreClient
    ) throws -> Story {
        let section = seed.section.map { sections[$0] }
        let date = Date(timeIntervalSinceReferenceDate: Double(number) * 43_200)
        let (rating, isPublished) = (Double(number) * 0.75, number % 3 == 0)
        let story = try client.insert(
            "Story",
            [
                "number": .int(Int64(number)), "title": .string(seed.title),
                "subtitle": seed.subtitle.map(Value.string) ?? .null,
                "words": .int(Int64(seed.words)),
                "pages": seed.pages.map { .int(Int64($0)) } ?? .null,
                "rating": .double(rating), "isPublished": .bool(isPublished),
                "isFeatured": seed.isFeatured.map(Value.bool) ?? .null, "date": .date(date),
                "section": section.map { .object($0.persistentModelID) } ?? .null,
            ])
        let remarks = try seed.remarks.map { text, stars in
            let remark = try client.insert(
                "Remark",
                [
                    "text": text.map(Value.string) ?? .null, "stars": .int(Int64(stars)),
                    "story": .object(story),
                ])
            return Remark(persistentModelID: remark, text: text, stars: stars)
        }
        return Story(
            persistentModelID: story, number: number, title: seed.title, subtitle: seed.subtitle,
            words: seed.words, pages: seed.pages, rating: rating, isPublished: isPublished,
            isFeatured: seed.isFeatured, date: date, section: section, remarks: remarks)
    }

    private static let schema = """
        { "version": "1.0.0",
          "entities": [
            { "name": "Story",
              "attributes": [
                { "name": "number", "type": "int64" },
                { "name": "title", "type": "string" },
                { "name": "subtitle", "type": "string", "optional": true },
                { "name": "words", "type": "int64" },
                { "name": "pages", "type": "int64", "optional": true },
                { "name": "rating", "type": "double" },
                { "name": "isPublished", "type": "bool" },
                { "name": "isFeatured", "type": "bool", "optional": true },
                { "name": "date", "type": "date" } ],
              "relationships": [
                { "name": "section", "destination": "Section", "inverse": "stories" },
                { "name": "remarks", "destination": "Remark", "toMany": true,
                  "inverse": "story" } ] },
            { "name": "Section",
              "attributes": [ { "name": "name", "type": "string" } ],
              "relationships": [
                { "name": "stories", "destination": "Story", "toMany": true,
                  "inverse": "section" } ] },
            { "name": "Remark",
              "attributes": [
                { "name": "text", "type": "string", "optional": true },
                { "name": "stars", "type": "int64" } ],
              "relationships": [
                { "name": "story", "destination": "Story", "inverse": "remarks" } ] } ] }
        """
}
