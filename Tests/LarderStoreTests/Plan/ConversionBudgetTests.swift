import FoundationEssentials
import LarderModel
import LarderQuery
import Testing

@testable import LarderSQL
@testable import LarderStore

@Suite("the conversion of a query's values")
struct ConversionBudgetTests {
    private let store: Store
    private let reader: Reader

    init() throws {
        store = try Store.inMemory(
            schema: Schema(entities: [
                Entity(
                    name: "Item",
                    attributes: [
                        Attribute(name: "text", type: .string),
                        Attribute(name: "number", type: .int64),
                        Attribute(name: "price", type: .decimal),
                        Attribute(name: "date", type: .date),
                        Attribute(name: "document", type: .json),
                    ])
            ]))
        reader = try #require(try store.makeReader() as? Reader)
    }

    /// The failure of opening a cursor, or nil.
    private func failure(
        _ predicate: String, _ parameters: QueryParameters, _ budget: ReadBudget
    ) throws -> ReadFailure? {
        let query = Query.count(entityName: "Item", predicate: .format(predicate))
        let plan = try store.plan(query, parameters)
        do throws(ReadFailure) {
            try reader.open(plan, parameters, budget: budget).close()
            return nil
        } catch {
            return error
        }
    }

    private func code(_ failure: ReadFailure?) -> ErrorCode? {
        guard case .failed(let error)? = failure else { return nil }
        return error.code
    }

    private func isExceeded(_ failure: ReadFailure?) -> Bool {
        guard case .budgetExceeded? = failure else { return false }
        return true
    }

    /// More than 64 KiB of each kind of value.
    private static let large: [(name: String, predicate: String, parameters: QueryParameters)] = [
        ("a text", "text == %@", .init(arguments: [.value(.string(accents))])),
        ("a folded text", "text ==[cd] %@", .init(arguments: [.value(.string(accents))])),
        (
            "a folded variable", "text CONTAINS[cd] $v OR text ==[cd] $v",
            .init(variables: ["v": .value(.string(accents))])
        ),
        ("a list", "number IN %@", .init(arguments: [.list((0..<5_000).map { .int($0) })])),
        (
            "folded texts", "text IN[cd] %@",
            .init(arguments: [.list((0..<5_000).map { .string("é\($0)") })])
        ),
        (
            "decimals as text", "price IN %@",
            .init(arguments: [
                .list((0..<5_000).map { .string("123456789012345678901234567890.\($0)1") })
            ])
        ),
        (
            "decimals", "price IN %@",
            .init(arguments: [.list((0..<300).map { .decimal(Decimal($0)) })])
        ),
        (
            "dates as text", "date IN %@",
            .init(arguments: [
                .list(.init(repeating: .string("2026-01-31T08:15:00.25Z"), count: 5_000))
            ])
        ),
        (
            "a JSON array", "number IN %@",
            .init(
                arguments: [
                    .value(.string("[\(repeatElement("1", count: 40_000).joined(separator: ","))]"))
                ], argumentsAreText: true)
        ),
        ("JSON", "document == %@", .init(arguments: [.value(.json("\"\(accents)\""))])),
        ("two values", "%@ == %@", .init(arguments: [.value(.string(accents)), "b"])),
    ]

    private static let accents = String(repeating: "é", count: 40_000)

    @Test("a deadline, a cancellation or a budget of work stops the conversion of a query's values")
    func budgets() throws {
        for (name, predicate, parameters) in Self.large {
            let late = ReadBudget(deadline: .now)
            #expect(code(try failure(predicate, parameters, late)) == .timeout, "\(name)")
            let cancellation = ReadCancellation()
            cancellation.cancel()
            let cancelled = ReadBudget(cancellation: cancellation)
            #expect(code(try failure(predicate, parameters, cancelled)) == .cancelled, "\(name)")
            let short = ReadBudget(work: 1_000_000)
            #expect(isExceeded(try failure(predicate, parameters, short)), "\(name)")
            #expect(try failure(predicate, parameters, ReadBudget()) == nil, "\(name)")
        }
    }

    @Test("the conversion of at most 64 KiB fits a budget of work")
    func shortValues() throws {
        let budget = ReadBudget(work: 1_000_000)
        for (count, isTooLong) in [((64 << 10) - 16, false), ((64 << 10) - 15, true)] {
            let text = QueryArgument.value(.string(String(repeating: "a", count: count)))
            let failure = try failure("text == %@", QueryParameters(arguments: [text]), budget)
            #expect(isExceeded(failure) == isTooLong)
        }
    }

    @Test("a long variable of a query is converted and folded once for all its uses")
    func conversions() throws {
        let parameters = QueryParameters(variables: ["v": .value(.string(Self.accents))])
        let predicate = repeatElement("text ==[cd] $v", count: 40).joined(separator: " OR ")
        for _ in 0..<2 {
            let before = reader.session.conversions.count
            #expect(try failure(predicate, parameters, ReadBudget()) == nil)
            #expect(reader.session.conversions.count == before + 1)
        }
        let list = QueryParameters(variables: ["v": .list((0..<1_000).map { .string("é\($0)") })])
        let before = reader.session.conversions.count
        let lists = "text IN[cd] $v OR text IN $v OR text IN[c] $v"
        #expect(try failure(lists, list, ReadBudget()) == nil)
        #expect(reader.session.conversions.count == before + 1_000)
    }

    @Test("the values of a query bind at most 32 MiB, counted as often as they are used")
    func boundBytes() throws {
        let text = String(repeating: "a", count: SQLTemplate.valueBytesMax / 8)
        let parameters = QueryParameters(variables: ["v": .value(.string(text))])
        for (uses, expected) in [(8, nil), (9, ErrorCode.resourceExhausted)] {
            let predicate = repeatElement("text == $v", count: uses).joined(separator: " OR ")
            #expect(code(try failure(predicate, parameters, ReadBudget())) == expected)
        }
    }

    @Test("a long element of a list is not bound more than once")
    func repeatedElement() throws {
        let text = String(repeating: "a", count: SQLTemplate.valueBytesMax / 2)
        let elements: [Value] = ["b", "c", "d", "e", .string(text)]
        let parameters = QueryParameters(arguments: [.list(elements)])
        #expect(try failure("text IN %@", parameters, ReadBudget()) == nil)
    }

    @Test("a JSON array with too many elements is refused before it is parsed into a tree")
    func jsonElements() throws {
        for (count, expected) in [
            (Limits.listElementsMax, nil),
            (Limits.listElementsMax + 1, ErrorCode.resourceExhausted),
        ] {
            let array = "[\(repeatElement("1", count: count).joined(separator: ","))]"
            let parameters = QueryParameters(
                arguments: [.value(.string(array))], argumentsAreText: true)
            #expect(code(try failure("number IN %@", parameters, ReadBudget())) == expected)
        }
    }

    @Test("the conversion of values is within the budget of an explanation too")
    func explanation() throws {
        let parameters = QueryParameters(arguments: [.value(.string(Self.accents))])
        let query = Query.count(entityName: "Item", predicate: .format("text ==[cd] %@"))
        let plan = try store.plan(query, parameters)
        #expect(throws: ReadFailure.self) {
            try reader.explain(plan, parameters, budget: ReadBudget(deadline: .now))
        }
        #expect(!(try reader.explain(plan, parameters, budget: ReadBudget()).sql.isEmpty))
    }
}
