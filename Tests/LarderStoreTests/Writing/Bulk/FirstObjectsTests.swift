import LarderModel
import Testing

@testable import LarderStore

@Suite("a bulk change with a limit")
struct FirstObjectsTests {
    private let library: Library

    init() throws {
        library = try Library()
        try library.articles(wordCounts: [5, 3, 9, 3, 1])
    }

    private func selection(
        _ format: String? = nil, _ arguments: QueryArgument..., sort: [SortKey] = [],
        limit: Int64?, identifiers: Bool = false
    ) -> ObjectSelection {
        ObjectSelection(
            "Article", where: format.map { .format($0) }, sort: sort, limit: limit,
            arguments: arguments, wantsIdentifiers: identifiers)
    }

    @Test("a bulk change with a limit changes the first objects in the order of its sort keys")
    func sorted() throws {
        let result = try library.saved(
            .updateAll(
                selection(
                    "wordCount < 9", sort: [SortKey("wordCount", descending: true)], limit: 2),
                set: [PropertyAssignment("wordCount", .format("wordCount * 10"))]))
        #expect(result.affected.map(\.count) == [2])
        #expect(try library.integers("Article", "wordCount") == [50, 30, 9, 3, 1])
    }

    @Test("a bulk change with a limit orders equal objects by their keys")
    func keys() throws {
        try library.saved(.deleteAll(selection("wordCount == 3", limit: 1)))
        #expect(try library.integers("Article", "wordCount") == [5, 9, 3, 1])
        try library.saved(.deleteAll(selection(limit: 2)))
        #expect(try library.integers("Article", "wordCount") == [3, 1])
    }

    @Test("a bulk change with the limit 0 changes nothing, and with a large one all objects")
    func ends() throws {
        #expect(try library.saved(.deleteAll(selection(limit: 0))).affected.map(\.count) == [0])
        #expect(try library.integers("Article", "wordCount").count == 5)
        let all = try library.saved(.deleteAll(selection(limit: .max, identifiers: true)))
        #expect(all.affected.map(\.count) == [5])
        #expect(all.affected[0].identifiers.count == 5)
    }

    @Test("the arguments of a bulk change are those of the predicate, sort keys, then values")
    func arguments() throws {
        try library.saved(
            .updateAll(
                selection(
                    "wordCount > %@", 1, 4, 7, sort: [SortKey("abs(wordCount - %@)")], limit: 2),
                set: [PropertyAssignment("wordCount", .format("%@"))]))
        #expect(try library.integers("Article", "wordCount") == [7, 7, 9, 3, 1])
    }

    @Test("a bulk change with a limit sees the effects of earlier changes of its set")
    func earlierChanges() throws {
        try library.saved(
            .updateAll("Article", where: "wordCount == 1", set: ["wordCount": "100"]),
            .deleteAll(selection(sort: [SortKey("wordCount", descending: true)], limit: 1)))
        #expect(try library.integers("Article", "wordCount") == [5, 3, 9, 3])
    }

    @Test("a bulk change with sort keys but no limit, or a negative limit, is rejected")
    func errors() throws {
        let sort = [SortKey("wordCount")]
        let unlimited = try library.refusal(.deleteAll(selection(sort: sort, limit: nil)))
        #expect(unlimited.code == .unsupported)
        #expect(unlimited.hint == "pass a limit with the sort keys, or no sort keys")
        #expect(try library.refusal(.deleteAll(selection(limit: -1))).code == .malformedValue)
        let unknown = try library.refusal(
            .deleteAll(selection(sort: [SortKey("wordCont")], limit: 1)))
        #expect(unknown.code == .unknownProperty)
        #expect(unknown.message.hasPrefix("sort key 1, column 1: "))
        #expect(try library.integers("Article", "wordCount").count == 5)
    }

    @Test("a condition with a limit is rejected")
    func condition() throws {
        let condition = ChangeSet.Condition(selection(limit: 1), count: 1)
        let result = library.writer.save([ChangeSet(conditions: [condition])])[0]
        guard case .failure(let error) = result else {
            Issue.record("the condition was accepted")
            return
        }
        #expect(error.code == .invalidChangeSet)
    }
}
