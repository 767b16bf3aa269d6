import LarderModel
import LarderQuery
import Testing

@testable import LarderStore

@Suite("a bulk update")
struct UpdateAllTests {
    private let library: Library

    init() throws { library = try Library() }

    @Test("a bulk update sets values and expressions, and returns the number of objects")
    func update() throws {
        try library.articles(wordCounts: [10, 20, 30])
        let result = try library.saved(
            .updateAll(
                "Article", where: "wordCount >= %@", 20, "AB",
                set: ["wordCount": "wordCount * 2 + 1", "code": "%@", "small": "7"]))
        #expect(result.affected == [AffectedObjects(count: 2)])
        #expect(result.updatedVersions == [])
        #expect(try library.integers("Article", "wordCount") == [10, 41, 61])
        #expect(try library.integers("Article", "small") == [nil, 7, 7])
        #expect(try library.values("Article", "code") == [.null, .text("AB"), .text("AB")])
        #expect(try library.integers("Article", "_version") == [1, 2, 2])
    }

    @Test("a bulk update without a predicate changes all objects")
    func all() throws {
        try library.articles(wordCounts: [1, 2])
        #expect(try library.saved(.updateAll("Article", set: [:])).affected[0].count == 2)
        #expect(try library.integers("Article", "_version") == [2, 2])
        #expect(try library.integers("Article", "wordCount") == [1, 2])
    }

    @Test("a bulk update that selects no object leaves no transaction")
    func none() throws {
        try library.articles(wordCounts: [1])
        let result = try library.saved(
            .updateAll("Article", where: "wordCount > 5", set: ["wordCount": "0"]))
        #expect(result == SaveResult(affected: [AffectedObjects(count: 0)]))
    }

    @Test("a bulk update reads the values from before it, so that it can swap two properties")
    func swap() throws {
        try library.articles(wordCounts: [1, 2], ["small": 9])
        try library.saved(
            .updateAll("Article", set: ["small": "wordCount", "wordCount": "small"]))
        #expect(try library.integers("Article", "small") == [1, 2])
        #expect(try library.integers("Article", "wordCount") == [9, 9])
    }

    @Test("a bulk update reads the earlier values of other objects too")
    func others() throws {
        let articles = try library.articles(wordCounts: [1, 2, 3])
        for (source, article) in zip(articles, articles.dropFirst()) {
            try library.saved(
                .update(article, ifVersion: nil, values: ["source": .object(source)]))
        }
        try library.saved(
            .updateAll(
                "Article", where: "source != nil",
                set: ["wordCount": "source.wordCount * 10", "source": "source.source"]))
        #expect(try library.integers("Article", "wordCount") == [1, 10, 20])
        #expect(try articles.map { try library.keys($0, "source") } == [[], [], [1]])
    }

    @Test("a bulk update reads the effect of earlier changes of the set, and not of later ones")
    func order() throws {
        let first = try library.articles(wordCounts: [1])[0]
        let result = try library.saved(
            .insert(.new("a", "Article"), values: ["title": "n", "wordCount": 5]),
            .update(first, ifVersion: 1, values: ["wordCount": 7]),
            .updateAll("Article", where: "wordCount >= 5", set: ["small": "wordCount"]),
            .insert(.new("b", "Article"), values: ["title": "m", "wordCount": 6]),
            .updateAll("Article", where: "small = nil", set: ["small": "0"]))
        #expect(result.affected.map(\.count) == [2, 1])
        #expect(try library.integers("Article", "small") == [7, 5, 0])
        #expect(try library.integers("Article", "_version") == [2, 1, 1])
        #expect(result.updatedVersions == [2])
        #expect(
            try library.history(try #require(result.transaction)).map(\.description)
                == ["inserted Article 2-3", "updated Article 1 small,wordCount"])
    }

    @Test("a bulk update returns the identifiers of the objects in the order of keys, on request")
    func identifiers() throws {
        let articles = try library.articles(wordCounts: [3, 1, 2])
        let result = try library.saved(
            .updateAll(
                "Article", where: "wordCount > 1", identifiers: true, set: ["small": "1"]),
            .updateAll("Article", where: "wordCount > 1", set: ["small": "2"]))
        #expect(
            result.affected == [
                AffectedObjects(count: 2, identifiers: [articles[0], articles[2]]),
                AffectedObjects(count: 2),
            ])
    }

    @Test("a bulk update accepts text, lists and variables as values, like a query")
    func parameters() throws {
        try library.articles(wordCounts: [1, 2, 3])
        try library.saved(
            .updateAll(
                "Article", where: "wordCount IN %@ OR title == $title", "[1, 9]", "12.5",
                "{\"a\":4}",
                variables: ["title": "a3"], isText: true,
                set: ["price": "%@", "notes": "%@"]))
        #expect(try library.values("Article", "price") == [.text("12.5"), .null, .text("12.5")])
        try library.saved(
            .updateAll("Article", where: "notes.a == 4", set: ["wordCount": "notes.a"]))
        #expect(try library.integers("Article", "wordCount") == [4, 2, 4])
    }

    // MARK: Types

    @Test("a bulk update accepts integers for every number type")
    func types() throws {
        let numbers = try Library(
            schema: Schema(entities: [
                Entity(
                    name: "Number",
                    attributes: [
                        Attribute(name: "i", type: .int64, isOptional: true),
                        Attribute(name: "f", type: .float, isOptional: true),
                        Attribute(name: "d", type: .double, isOptional: true),
                        Attribute(name: "m", type: .decimal, isOptional: true),
                        Attribute(name: "b", type: .bool, isOptional: true),
                        Attribute(name: "t", type: .date, isOptional: true),
                    ])
            ]))
        try numbers.insert("Number", ["i": 3, "d": 0.1, "m": 2])
        try numbers.saved(
            .updateAll(
                "Number",
                set: [
                    "f": "d", "d": "i", "m": "i + 1", "b": "(i > 2)", "t": "\"2001-01-01\"",
                ]))
        let row = try numbers.rows("SELECT f, d, m, b, t FROM Number")[0]
        #expect(
            row == [.real(Double(Float(0.1))), .real(3), .text("4"), .integer(1), .real(0)])
        try numbers.saved(.updateAll("Number", set: ["m": "d / 2"]))
        #expect(try numbers.values("Number", "m") == [.text("1.5")])
    }

    @Test("a bulk update sets nil where an expression has no result")
    func noAnswer() throws {
        try library.articles(wordCounts: [0, 2], ["small": 9])
        try library.saved(.updateAll("Article", set: ["small": "10 / wordCount"]))
        #expect(try library.integers("Article", "small") == [nil, 5])
        try library.saved(
            .updateAll("Article", set: ["small": "9223372036854775807 + wordCount + 1"]))
        #expect(try library.integers("Article", "small") == [nil, nil])
    }

    // MARK: Relationships

    @Test("a bulk update sets a to-one to an object, to the result of a path, and to nil")
    func toOne() throws {
        let (one, two) = (
            try library.insert("Category", ["name": "1"]),
            try library.insert("Category", ["name": "2"])
        )
        let articles = try library.articles(wordCounts: [1, 2], ["category": .object(one)])
        let moved = try library.saved(
            .updateAll(
                "Article", where: "wordCount == 2", .value(.object(two)), set: ["category": "%@"]))
        #expect(try articles.map { try library.keys($0, "category") } == [[1], [2]])
        #expect(
            try library.history(try #require(moved.transaction)).map(\.description)
                == ["updated Article 2 category", "updated Category 1-2 articles"])
        try library.saved(
            .updateAll("Article", set: ["source": "SELF", "category": "nil"]))
        #expect(try articles.map { try library.keys($0, "source") } == [[1], [2]])
        #expect(try library.keys(one, "articles") == [])
        try library.saved(
            .updateAll(
                "Article", .value(.string(one.uriRepresentation)), isText: true,
                set: ["category": "%@", "source": "nil"]))
        #expect(try library.keys(one, "articles") == [1, 2])
    }

    @Test("a bulk update takes objects of an earlier insert as arguments, also of an upsert")
    func temporaryIdentifiers() throws {
        try library.articles(wordCounts: [1, 2])
        let tech = PersistentIdentifier.new("c", "Category")
        for _ in 0..<2 {
            let set = ChangeSet(
                [
                    .insert(tech, values: ["name": "tech"]),
                    .updateAll("Article", .value(.object(tech)), set: ["category": "%@"]),
                    .updateAll(
                        "Article", where: "category == %@", .value(.object(tech)),
                        set: ["wordCount": "wordCount + 1"]),
                ], onUniqueConflict: .upsert)
            let result = try library.writer.save([set])[0].get()
            #expect(result.affected.map(\.count) == [2, 2])
        }
        #expect(try library.integers("Article", "wordCount") == [3, 4])
        let assigned = Change.updateAll(
            ObjectSelection("Article"), set: [PropertyAssignment("category", to: .object(tech))])
        try library.saved(.insert(tech, values: ["name": "new"]), assigned)
        #expect(try library.keys(library.identifier("Category", 3), "articles") == [1, 2])
        for later in [
            assigned,
            .updateAll("Article", where: "category == %@", .value(.object(tech)), set: [:]),
        ] {
            let error = try library.refusal(later, .insert(tech, values: ["name": "x"]))
            #expect(error.code == .invalidChangeSet)
        }
    }

    @Test("a bulk update of a one-to-one links the partner to the last object")
    func oneToOne() throws {
        let cover = try library.insert("Cover")
        let articles = try library.articles(wordCounts: [1, 2, 3])
        try library.saved(
            .updateAll("Article", .value(.object(cover)), set: ["cover": "%@"]))
        #expect(try library.keys(cover, "article") == [3])
        #expect(try articles.map { try library.keys($0, "cover") } == [[], [], [1]])
    }

    // MARK: History

    @Test("a bulk update records the properties with new values in the history, as runs")
    func history() throws {
        try library.articles(wordCounts: (0..<200).map { $0 % 2 == 0 ? 5 : 6 })
        let result = try library.saved(
            .updateAll(
                "Article", where: "wordCount == 5 OR title == \"a200\"",
                set: ["wordCount": "5", "code": "\"XY\""]),
            .updateAll("Article", set: ["code": "\"XY\"", "small": "nil"]))
        let changes = try library.history(try #require(result.transaction)).map(\.description)
        #expect(
            changes
                == ["updated Article 1-199 code", "updated Article 200 code,wordCount"])
        #expect(try library.integers("Article", "_version") == Array(repeating: 2, count: 200))
    }
}
