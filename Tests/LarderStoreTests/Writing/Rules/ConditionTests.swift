import LarderModel
import LarderQuery
import Testing

@testable import LarderStore

@Suite("a condition of a change set")
struct ConditionTests {
    private let library: Library

    init() throws {
        library = try Library()
        try library.articles(wordCounts: [1, 2, 3])
    }

    private static let tag = Change.insert(.new("t", "Tag"), values: [:])

    private func condition(
        _ count: Int64, _ entityName: String = "Article", _ format: String? = nil,
        _ arguments: QueryArgument..., includesSubentities: Bool = true
    ) -> ChangeSet.Condition {
        ChangeSet.Condition(
            ObjectSelection(
                entityName, where: format.map { .format($0) }, arguments: arguments,
                includesSubentities: includesSubentities), count: count)
    }

    private func save(
        _ conditions: ChangeSet.Condition..., changes: [Change] = [tag]
    ) throws -> SaveResult {
        try library.writer.save([ChangeSet(changes, conditions: conditions)])[0].get()
    }

    private func refusal(
        _ conditions: ChangeSet.Condition..., changes: [Change] = [tag]
    ) throws -> LarderError {
        let set = ChangeSet(changes, conditions: conditions)
        return try #require(try library.refusal(of: set))
    }

    @Test("a condition is met by exactly the expected number of objects")
    func counts() throws {
        _ = try save(condition(3), condition(1, "Article", "wordCount > %@", 2))
        _ = try save(condition(0, "Article", "wordCount > 3"))
        #expect(try library.count("Tag") == 2)
        for count: Int64 in [0, 1, 2, 4, .max - 1] {
            #expect(try refusal(condition(count)).code == .conditionFailed)
        }
        #expect(try library.count("Tag") == 2)
    }

    @Test("a condition that is not met rejects the set, with the number found")
    func failure() throws {
        let error = try refusal(
            condition(3), condition(1), condition(7, "Article", "wordCount < 3"))
        #expect(error.code == .conditionFailed)
        #expect(
            error.problems == [
                "condition 2 is not met: it expects 1 object of Article, and the store has "
                    + "2 or more",
                "condition 3 is not met: it expects 7 objects of Article, and the store has 2",
            ])
        #expect(error.details.map(\.condition) == [1, 2])
        #expect(error.details.map(\.found) == [2, 2])
        #expect(error.details.map(\.rule) == [.condition, .condition])
        #expect(error.details.map(\.change) == [nil, nil])
        let none = try refusal(condition(0))
        #expect(
            none.message
                == "condition 1 is not met: it expects 0 objects of Article, and the store has "
                + "1 or more")
        #expect(none.details[0].found == 1)
    }

    @Test("a condition sees the sets before it in the same group, and not its own changes")
    func visibility() throws {
        let insert = ChangeSet([Self.tag], conditions: [condition(0, "Tag")])
        let outcomes = library.writer.save([insert, insert, ChangeSet([Self.tag])])
        #expect(try outcomes[0].get().inserted.count == 1)
        #expect(throws: LarderError.self) { try outcomes[1].get() }
        _ = try outcomes[2].get()
        #expect(try library.count("Tag") == 2)
        _ = try save(condition(2, "Tag"), changes: [.deleteAll("Tag")])
        #expect(try library.count("Tag") == 0)
    }

    @Test("a condition is checked before conflicts and changes")
    func order() throws {
        let article = library.identifier("Article", 1)
        let outdated = Change.update(article, ifVersion: 9, values: ["title": "x"])
        let gone = Change.delete(library.identifier("Article", 99), ifVersion: nil)
        let error = try refusal(condition(0), changes: [outdated, gone])
        #expect(error.details.map(\.code) == [.conditionFailed])
        #expect(
            try refusal(condition(3), changes: [outdated, gone]).details.map(\.code)
                == [.versionConflict, .objectNotFound])
        let long = Change.update(article, ifVersion: nil, values: ["code": "TOO LONG"])
        #expect(
            try refusal(condition(0), changes: [long]).details.map(\.code)
                == [.validationFailed, .conditionFailed])
    }

    @Test("a change set may have conditions only, and then changes nothing")
    func alone() throws {
        #expect(try save(condition(3), changes: []) == SaveResult())
        #expect(try refusal(condition(2), changes: []).code == .conditionFailed)
    }

    @Test("a condition counts the objects of subentities, unless they are excluded")
    func subentities() throws {
        let faculty = try Library(schema: Faculty.schema())
        for name in ["Student", "Tutor"] { try faculty.insert(name, ["name": "a"]) }
        for (includes, count) in [(true, 2), (false, 1)] {
            let objects = ObjectSelection("Student", includesSubentities: includes)
            let set = ChangeSet(conditions: [.init(objects, count: Int64(count))])
            #expect(try faculty.refusal(of: set) == nil)
        }
    }

    @Test("a condition reads derived attributes, relationships and objects given as arguments")
    func predicates() throws {
        let category = try library.insert("Category", ["name": "c"])
        try library.insert("Article", ["title": "x", "category": .object(category)])
        _ = try save(
            condition(1, "Article", "category == %@", .value(.object(category))),
            condition(1, "Category", "articles.@count == 1 AND ANY articles.title == %@", "x"),
            condition(
                1, "Article", "SUBQUERY(category.articles, $a, $a.title == %@).@count == 1", "x"))
    }

    @Test("a condition with an error is rejected with its number")
    func errors() throws {
        let syntax = try refusal(condition(3), condition(0, "Article", "wordCount = = 1"))
        #expect(syntax.code == .malformedPredicate && syntax.column == 13)
        #expect(syntax.message.hasPrefix("condition 2, column 13: "))
        #expect(syntax.details.map(\.condition) == [1])
        #expect(try refusal(condition(0, "Nothing")).code == .unknownEntity)
        #expect(try refusal(condition(0, "Article", "nothing == 1")).code == .unknownProperty)
        #expect(try refusal(condition(0, "Article", "wordCount == %@")).code == .malformedPredicate)
        #expect(try refusal(condition(-1)).code == .invalidChangeSet)
        #expect(try refusal(condition(.max)).code == .invalidChangeSet)
        let own = condition(0, "Article", "category == %@", .value(.object(.new("c", "Category"))))
        let insert = Change.insert(.new("c", "Category"), values: ["name": "c"])
        #expect(try refusal(own, changes: [insert]).code == .invalidChangeSet)
        #expect(try library.count("Category") == 0)
    }

    @Test("more conditions in one set than the maximum are rejected")
    func limit() throws {
        let most = Array(repeating: condition(3), count: Limits.conditionsMax)
        _ = try library.writer.save([ChangeSet(conditions: most)])[0].get()
        let more = ChangeSet(conditions: most + [condition(3)])
        #expect(try library.refusal(of: more)?.code == .resourceExhausted)
    }

    @Test("a condition stops counting one object above the expected number")
    func boundedWork() throws {
        try library.articles(wordCounts: (0..<2_000).map { $0 % 1_000 }, ["code": "AB"])
        // Reads all objects for each object that it counts.
        let slow = "SUBQUERY(related, $r, $r == nil).@count == 0 AND wordCount >= 0"
        let budget = ReadBudget(deadline: .now.advanced(by: .seconds(10)))
        let set = ChangeSet(conditions: [condition(0, "Article", slow)])
        let outcome = library.writer.save([SaveRequest(set, budget: budget)])[0]
        guard case .failure(let error) = outcome else {
            Issue.record("the condition is met")
            return
        }
        #expect(error.details.map(\.found) == [1])
    }

    @Test("a condition that takes too long ends the set with TIMEOUT, and other sets are saved")
    func deadline() throws {
        let category = try library.insert("Category", ["name": "c"])
        try library.articles(wordCounts: (0..<3_000).map { $0 % 1_000 })
        try library.saved(
            .updateAll("Article", .value(.object(category)), set: ["category": "%@"]))
        let slow = condition(
            0, "Article",
            "SUBQUERY(category.articles, $a, $a.wordCount * wordCount == -1).@count > 0")
        let late = ReadBudget(deadline: .now.advanced(by: .milliseconds(20)))
        let outcomes = library.writer.save([
            SaveRequest(ChangeSet([Self.tag])),
            SaveRequest(ChangeSet([Self.tag], conditions: [slow]), budget: late),
            SaveRequest(ChangeSet([Self.tag])),
        ])
        #expect(try outcomes[0].get().inserted.count == 1)
        guard case .failure(let error) = outcomes[1] else {
            Issue.record("the set was saved")
            return
        }
        #expect(error.code == .timeout)
        #expect(try outcomes[2].get().inserted == [library.identifier("Tag", 2)])
    }

    @Test("a condition is not checked again when its set is repeated under its idempotency key")
    func repetition() throws {
        let set = ChangeSet(
            [Self.tag], conditions: [condition(0, "Tag")], idempotencyKey: "k")
        let first = try library.writer.save([SaveRequest(set)])[0].get()
        #expect(try library.writer.save([SaveRequest(set)])[0].get() == first)
        #expect(try library.count("Tag") == 1)
    }
}
