import LarderModel
import LarderQuery
import LarderStore
import QueryScripts
import Testing

/// A single call of a function may take seconds for a string of the maximum size of a frame. It
/// checks the deadline itself.
@Suite("A long string") struct LongStringTests {
    private static let predicates = [
        "text ==[c] 'x'", "text ==[cd] 'x'", "text CONTAINS[cd] 'x'",
        "text LIKE[cd] '*x?y*'", "text MATCHES '[aé]*?[bé]*+é'",
        "text MATCHES[cd] '[ae]*?[be]*+x'", "uppercase(text) == 'x'", "lowercase(text) == 'x'",
        "canonical(text) == 'x'",
    ]

    /// A search for bytes ends before any deadline.
    private static let searches = ["text CONTAINS 'x'", "text LIKE '*x?y*'"]

    private func fixture(_ texts: [String]) throws -> QueryFixture {
        let fixture = try QueryFixture(
            SchemaFile.schema(
                parsing: """
                    { "version": "1.0.0", "entities": [ { "name": "Item",
                      "attributes": [ { "name": "text", "type": "string" } ] } ] }
                    """))
        try fixture.insert(
            texts.enumerated().map { number, text in
                .init(entityName: "Item", name: "i\(number)", values: ["text": .string(text)])
            })
        return fixture
    }

    /// The result of a read with a much shorter deadline than a single call needs.
    private func failure(_ fetch: Fetch, steps: Int? = nil) throws -> ReadFailure? {
        let fixture = try fixture([
            String(repeating: "é", count: 1_000_000), String(repeating: "É", count: 1_000_000),
        ])
        let plan = try fixture.store.plan(.fetch(fetch), QueryParameters())
        let deadline = ContinuousClock.now.advanced(by: .milliseconds(5))
        let budget = steps.map { ReadBudget(work: $0) } ?? ReadBudget(deadline: deadline)
        do throws(ReadFailure) {
            let cursor = try fixture.reader.open(plan, QueryParameters(), budget: budget)
            defer { cursor.close() }
            _ = try cursor.next(bytesMax: 1_000, budget: budget)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "a predicate over a long string ends at its deadline within a single call",
        arguments: predicates)
    func deadline(predicate: String) throws {
        let failure = try failure(
            Fetch("Item", where: .format(predicate), selection: .identifiers))
        guard case .failed(let error)? = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(error.code == .timeout)
    }

    @Test(
        "a predicate over a long string exceeds the budget of a short read",
        arguments: predicates + searches)
    func short(predicate: String) throws {
        let failure = try failure(
            Fetch("Item", where: .format(predicate), selection: .identifiers), steps: 40_000)
        guard case .budgetExceeded? = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
    }

    @Test(
        "a sort of long strings ends at its deadline without rows in an incomplete order",
        arguments: [StringOrder.caseInsensitive, .localizedStandard])
    func sort(order: StringOrder) throws {
        var key = SortKey("text")
        key.stringOrder = order
        let failure = try failure(Fetch("Item", sort: [key], selection: .identifiers))
        guard case .failed(let error)? = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(error.code == .timeout)
    }

    /// In quadratic time this would take hours.
    @Test("a long string of unordered combining marks is stored in linear time")
    func marks() throws {
        let text = "e" + String(repeating: "\u{301}\u{323}", count: 200_000)
        let fixture = try fixture([text])
        let query = Query.count(entityName: "Item", predicate: .format("text == %@"))
        let parameters = QueryParameters(arguments: [.value(.string(text))])
        #expect(fixture.rows(try fixture.batches(query, parameters)) == ["1"])
    }
}
