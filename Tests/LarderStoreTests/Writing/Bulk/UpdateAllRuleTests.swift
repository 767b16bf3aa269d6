import LarderModel
import LarderQuery
import Testing

@testable import LarderSQL
@testable import LarderStore

@Suite("a bulk update follows the rules")
struct UpdateAllRuleTests {
    private let library: Library

    init() throws { library = try Library() }

    private func ranks(
        _ ranks: some Sequence<Int64>, _ constraints: [[String]] = []
    ) throws -> Library {
        let entity = Entity(
            name: "Team",
            attributes: [
                Attribute(
                    name: "rank", type: .int64, isOptional: true,
                    unique: constraints.isEmpty ? .exact : nil),
                Attribute(name: "group", type: .int64, defaultValue: 0),
            ], uniquenessConstraints: constraints)
        let library = try Library(schema: Schema(entities: [entity]))
        let changes = ranks.map {
            Change.insert(.new("\($0)", "Team"), values: ["rank": .int($0)])
        }
        _ = try library.writer.save([ChangeSet(changes)])[0].get()
        return library
    }

    @Test("a bulk update exchanges unique values in any way")
    func uniqueValues() throws {
        for constraints in [[], [["rank", "group"]]] {
            let teams = try ranks(1...10, constraints)
            try teams.saved(.updateAll("Team", set: ["rank": "11 - rank"]))
            #expect(try teams.integers("Team", "rank") == (1...10).reversed())
            try teams.saved(.updateAll("Team", set: ["rank": "modulus(rank, 10) + 1"]))
            #expect(try teams.integers("Team", "rank") == [1, 10, 9, 8, 7, 6, 5, 4, 3, 2])
            try teams.saved(.updateAll("Team", where: "rank > 5", set: ["rank": "rank + 1"]))
            #expect(try teams.integers("Team", "rank") == [1, 11, 10, 9, 8, 7, 5, 4, 3, 2])
        }
    }

    @Test("a bulk update to equal unique values is rejected")
    func equalValues() throws {
        for constraints in [[], [["rank", "group"]]] {
            let teams = try ranks(1...4, constraints)
            for (predicate, expression) in [("rank < 3", "7"), ("rank < 3", "rank + 1")] {
                let error = try teams.refusal(
                    .updateAll("Team", where: predicate, set: ["rank": expression]))
                #expect(error.code == .uniquenessViolated)
                #expect(error.details.map(\.propertyNames) == [constraints.first ?? ["rank"]])
            }
            try teams.saved(.updateAll("Team", set: ["rank": "nil"]))
        }
    }

    @Test("a bulk update exchanges unique values with later and earlier changes")
    func acrossChanges() throws {
        let teams = try ranks(1...3)
        let first = teams.identifier("Team", 1)
        try teams.saved(
            .update(first, ifVersion: nil, values: ["rank": 3]),
            .updateAll("Team", where: "rank == 3", set: ["rank": "rank + 1"]),
            .updateAll("Team", where: "rank == 3", set: ["group": "1"]))
        #expect(try teams.integers("Team", "rank") == [3, 2, 4])
        #expect(try teams.integers("Team", "group") == [1, 0, 0])
    }

    @Test("a bulk update reports values out of bounds for each object, a hundred at most")
    func validation() throws {
        let articles = try library.articles(wordCounts: 1...150)
        let error = try library.refusal(
            .updateAll("Article", where: "wordCount > 2", set: ["wordCount": "wordCount - 4"]))
        #expect(error.code == .validationFailed)
        #expect(error.details.count == 1)
        #expect(error.uri == articles[2].uriRepresentation)
        #expect(
            error.message == "Article.wordCount must not be less than 0, in "
                + articles[2].uriRepresentation)
        let many = try library.refusal(
            .updateAll("Article", set: ["wordCount": "wordCount + 1000"]))
        #expect(many.details.count == ChangeErrors.countMax)
        #expect(many.details.allSatisfy { $0.rule == .maximum && $0.change == 0 })
        #expect(many.details.map(\.uri) == articles.prefix(100).map(\.uriRepresentation))
    }

    @Test("a bulk update to a number out of range, or to nil in a required property, is rejected")
    func misfits() throws {
        try library.articles(wordCounts: [0, 40, 1_000], ["small": 1_000])
        let overflow = try library.refusal(
            .updateAll("Article", set: ["small": "wordCount * small"]))
        #expect(overflow.code == .wrongType)
        #expect(overflow.details.map(\.uri?.last) == ["2", "3"])
        let missing = try library.refusal(
            .updateAll("Article", set: ["wordCount": "100 / wordCount"]))
        #expect(missing.code == .missingValue)
        #expect(missing.details.map(\.propertyNames) == [["wordCount"]])
        #expect(
            try library.refusal(.updateAll("Article", set: ["title": "nil"])).code
                == .missingValue)
        #expect(
            try library.refusal(.updateAll("Article", set: ["wordCount": "-1"])).code
                == .validationFailed)
    }

    @Test("a bulk update does not remove a required to-one, nor the last object of a required list")
    func required() throws {
        let binding = try library.insert("Binding", [:])
        let book = try library.insert("Book", ["binding": .object(binding)])
        let page = try library.insert("Page", ["number": 1, "book": .object(book)])
        let none = try library.refusal(.updateAll("Page", set: ["book": "nil"]))
        #expect(none.code == .missingValue && none.details[0].rule == .optional)
        let other = try library.insert("Binding", [:])
        #expect(
            try library.refusal(.updateAll("Binding", set: ["book": "nil"])).code == .missingValue)
        try library.saved(
            .updateAll(
                "Binding", where: "SELF == %@", .value(.object(other)), .value(.object(book)),
                set: ["book": "%@"]))
        #expect(try library.keys(book, "binding") == library.keys([other]))
        #expect(try library.keys(page, "book") == library.keys([book]))
    }

    @Test("a bulk update checks cardinality at the end of the set")
    func counts() throws {
        let league = try Library(schema: League.schema())
        let (team, players) = try league.team(playerCount: 2)
        let free = try (0..<2).map { _ in try league.insert("Player") }
        let error = try league.refusal(
            .updateAll("Player", .value(.object(team)), set: ["team": "%@"]))
        #expect(error.details.map(\.rule) == [.maxCount])
        try league.saved(
            .updateAll("Player", .value(.object(team)), set: ["team": "%@"]),
            .updateAll(
                "Player", where: "SELF IN %@", .list(players.map { .object($0) }),
                set: ["team": "nil"]))
        #expect(try league.keys(team, "players") == league.keys(free))
    }

    @Test("a bulk update to an object that does not exist is rejected")
    func missingObject() throws {
        try library.articles(wordCounts: [1, 2])
        let missing = library.identifier("Category", 9)
        let error = try library.refusal(
            .updateAll("Article", .value(.object(missing)), set: ["category": "%@"]))
        #expect(error.code == .objectNotFound)
        #expect(error.uri == missing.uriRepresentation)
    }
}
