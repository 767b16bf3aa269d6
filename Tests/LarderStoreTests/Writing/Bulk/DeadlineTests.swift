import LarderModel
import LarderQuery
import Testing

@testable import LarderStore

@Suite("a bulk change that takes too long")
struct DeadlineTests {
    private let library: Library

    init() throws {
        library = try Library()
        try library.articles(wordCounts: (0..<3_000).map { $0 % 1_000 })
    }

    private func outcomes(
        _ sets: [(changes: [Change], time: Duration?)]
    ) throws -> [Result<SaveResult, LarderError>] {
        let now = ContinuousClock.now
        return library.writer.save(
            sets.map { changes, time in
                SaveRequest(
                    ChangeSet(changes),
                    budget: time.map { ReadBudget(deadline: now.advanced(by: $0)) })
            })
    }

    private func expectTimeout(_ outcome: Result<SaveResult, LarderError>) {
        guard case .failure(let error) = outcome else {
            Issue.record("the set was saved")
            return
        }
        #expect(error.code == .timeout)
    }

    /// A predicate that reads all objects for each object, which would take minutes.
    private static let slow =
        "SUBQUERY(category.articles, $a, $a.wordCount * wordCount == -1).@count > 0"

    @Test("a bulk change that takes too long ends with TIMEOUT and changes nothing")
    func timeout() throws {
        let category = try library.insert("Category", ["name": "c"])
        try library.saved(
            .updateAll("Article", .value(.object(category)), set: ["category": "%@"]))
        let before = try library.contents()
        for change in [
            Change.updateAll("Article", where: Self.slow, set: [:]),
            .deleteAll("Article", where: Self.slow),
        ] {
            expectTimeout(try outcomes([([change], .milliseconds(20))])[0])
        }
        for change in [
            Change.updateAll("Article", set: ["small": "1"]), .deleteAll("Article"),
            .deleteAll("Category"),
        ] {
            expectTimeout(try outcomes([([change], .zero)])[0])
        }
        #expect(try library.contents() == before)
        #expect(try library.rows("PRAGMA integrity_check") == [[.text("ok")]])
    }

    @Test("a bulk change that takes too long does not affect the other sets of its group")
    func group() throws {
        let tag = Change.insert(.new("t", "Tag"), values: [:])
        let slow = Change.updateAll("Article", set: ["small": "1"])
        let outcomes = try outcomes([
            ([tag], .seconds(600)), ([tag, slow], .zero), ([slow], nil), ([tag], nil),
        ])
        #expect(try outcomes[0].get().inserted.count == 1)
        expectTimeout(outcomes[1])
        #expect(try outcomes[2].get().affected == [AffectedObjects(count: 3_000)])
        #expect(try outcomes[3].get().inserted == [library.identifier("Tag", 2)])
        #expect(try library.count("Tag") == 2)
    }

    @Test("a bulk change does not block readers, which read the previous state")
    func readers() throws {
        let reader = try library.store.openReadConnection()
        try reader.execute("BEGIN")
        #expect(try reader.integer("SELECT sum(small) FROM Article") == nil)
        try library.saved(.updateAll("Article", set: ["small": "1"]))
        #expect(try reader.integer("SELECT sum(small) FROM Article") == nil)
        try reader.execute("COMMIT")
        #expect(try reader.integer("SELECT sum(small) FROM Article") == 3_000)
    }
}
