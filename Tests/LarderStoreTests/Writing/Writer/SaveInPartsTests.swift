import FoundationEssentials
import LarderModel
import LarderQuery
import Testing

@testable import LarderSQL
@testable import LarderStore

@Suite("a save in parts")
struct SaveInPartsTests {
    private let library: Library

    init() throws { library = try Library() }

    private func code(_ outcome: Result<SaveResult, LarderError>) -> ErrorCode? {
        guard case .failure(let error) = outcome else { return nil }
        return error.code
    }

    @Test("a save in parts links objects of different parts, in both directions")
    func links() throws {
        let set = ChangeSet([
            .insert(
                .new("early", "Article"),
                values: ["title": "early", "category": .object(.new("c", "Category"))]),
            .insert(.new("c", "Category"), values: ["name": "middle"]),
            .insert(
                .new("late", "Article"),
                values: ["title": "late", "category": .object(.new("c", "Category"))]),
        ])
        let result = try library.save(set, inPartsOf: 1).get()
        #expect(result.inserted.map(\.entityName) == ["Article", "Category", "Article"])
        let other = try Library()
        #expect(try other.save(set, inPartsOf: 3).get().inserted.map(\.permanentKey) == [1, 1, 2])
        let whole = try Library()
        _ = try whole.writer.save([set])[0].get()
        for table in ["Article", "Category"] {
            let select: SQL = "SELECT * FROM \(name: table)"
            let rows = try whole.rows(select)
            #expect(try library.rows(select) == rows && !rows.isEmpty)
            #expect(try other.rows(select) == rows)
        }
    }

    @Test("a save in parts with an invalid change in any part changes nothing, and has its index")
    func refusal() throws {
        for index in 0..<4 {
            var changes = (0..<4).map { number in
                Change.insert(.new("a\(number)", "Article"), values: ["title": "t"])
            }
            changes[index] = .insert(.new("wrong", "Article"), values: [:])
            let before = try library.contents()
            guard case .failure(let error) = library.save(ChangeSet(changes), inPartsOf: 2) else {
                Issue.record("an article without a title was saved")
                continue
            }
            #expect(error.code == .missingValue && error.details.map(\.change) == [index])
            #expect(try library.contents() == before)
        }
    }

    @Test("a save in parts refuses conditions, changes by predicate, versions and base values")
    func wholeSetsOnly() throws {
        let article = try library.insert("Article", ["title": "a"])
        let refused: [Change] = [
            .update(article, ifVersion: 1, values: ["title": "b"]),
            .update(article, ifVersion: nil, values: ["title": "b"], base: ["title": "a"]),
            .delete(article, ifVersion: 1), .deleteAll("Article"),
            .updateAll("Article", set: ["small": "1"]),
        ]
        for change in refused {
            let set = ChangeSet([.insert(.new("t", "Tag"), values: [:]), change])
            guard case .failure(let error) = library.save(set, inPartsOf: 1) else {
                Issue.record("\(change) was saved")
                continue
            }
            #expect(error.code == .invalidChangeSet && error.details.map(\.change) == [1])
        }
        let condition = ChangeSet.Condition(ObjectSelection("Tag"))
        let set = ChangeSet([.insert(.new("t", "Tag"), values: [:])], conditions: [condition])
        #expect(code(library.save(set, inPartsOf: 1)) == .invalidChangeSet)
        #expect(try library.rows("SELECT count(*) FROM Tag") == [[.integer(0)]])
    }

    @Test("a save in parts takes its policy, author and key from the end of the set")
    func options() throws {
        let set = ChangeSet(
            [
                .insert(.new("a", "Category"), values: ["name": "same"]),
                .insert(.new("b", "Category"), values: ["name": "same"]),
            ], onUniqueConflict: .upsert, author: "Ann", idempotencyKey: "k")
        let first = try library.save(set, inPartsOf: 1).get()
        #expect(first.upserted == [1] && first.inserted[0] == first.inserted[1])
        #expect(try library.rows("SELECT author FROM _transaction") == [[.text("Ann")]])
        #expect(try library.save(set, inPartsOf: 2).get() == first)
        var other = set
        other.changes.removeLast()
        #expect(code(library.save(other, inPartsOf: 1)) == .idempotencyMismatch)
    }

    @Test("the budget of a save in parts stops it, and nothing has changed")
    func budget() throws {
        let set = ChangeSet((0..<3_000).map { .insert(.new("t\($0)", "Tag"), values: [:]) })
        let cancellation = ReadCancellation()
        cancellation.cancel()
        let before = try library.contents()
        let late = library.save(set, inPartsOf: 100, budget: ReadBudget(deadline: .now))
        #expect(code(late) == .timeout)
        let cancelled = library.save(
            set, inPartsOf: 100, budget: ReadBudget(cancellation: cancellation))
        #expect(code(cancelled) == .cancelled)
        #expect(try library.contents() == before)
        #expect(try library.save(set, inPartsOf: 100).get().inserted.count == 3_000)
    }
}
