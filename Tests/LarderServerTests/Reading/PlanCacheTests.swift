import LarderModel
import Testing

@testable import LarderServer
@testable import LarderWire

@Suite("Plans that are kept")
struct PlanCacheTests {
    static func entry() -> PlanCache.Entry { PlanCache.Entry(plan: FakePlan(words: [])) }

    @Test("one plan past the maximum drives out the one unused for longest")
    func countMax() {
        var cache = PlanCache(countMax: 2, shapeBytesMax: 100)
        cache.insert(Self.entry(), for: QueryShape(bytes: [1]))
        cache.insert(Self.entry(), for: QueryShape(bytes: [2]))
        #expect(cache.entry(for: QueryShape(bytes: [1])) != nil)
        cache.insert(Self.entry(), for: QueryShape(bytes: [3]))
        #expect(cache.count == 2)
        #expect(cache.entry(for: QueryShape(bytes: [1])) != nil)
        #expect(cache.entry(for: QueryShape(bytes: [2])) == nil)
    }

    @Test("one byte of shapes past the maximum drives out as much as it takes")
    func bytesMax() {
        var cache = PlanCache(countMax: 100, shapeBytesMax: 4)
        cache.insert(Self.entry(), for: QueryShape(bytes: [1, 1]))
        cache.insert(Self.entry(), for: QueryShape(bytes: [2, 2]))
        #expect(cache.count == 2)
        cache.insert(Self.entry(), for: QueryShape(bytes: [3, 3, 3]))
        #expect(cache.count == 1)
        cache.insert(Self.entry(), for: QueryShape(bytes: [4, 4, 4, 4, 4]))
        #expect(cache.entry(for: QueryShape(bytes: [4, 4, 4, 4, 4])) == nil)
        #expect(cache.entry(for: QueryShape(bytes: [3, 3, 3])) != nil)
    }

    @Test("a plan that was too long goes to the pool for a while, then tries the loop again")
    func cost() {
        let entry = Self.entry()
        #expect(entry.startsInline())
        entry.wasTooLong()
        #expect((0..<64).allSatisfy { _ in !entry.startsInline() })
        #expect(entry.startsInline())
    }

    private static func counted(_ number: Int64, text: String = "") -> Batch {
        var columns = [
            Column(name: "count", kind: .attribute(.int64), storage: .integers([number]))
        ]
        if !text.isEmpty {
            columns.append(
                Column(
                    name: "text", kind: .attribute(.string),
                    storage: .bytes(heap: Array(text.utf8), ends: [UInt32(text.utf8.count)])))
        }
        return Batch(rowCount: 1, columns: columns)
    }

    @Test("an answer is given again until something is committed, and while nothing is")
    func answers() {
        let entry = Self.entry()
        let plain = QueryParameters()
        #expect(entry.answer(to: plain, 2) == nil)
        entry.keep(Self.counted(7), plain, 2)
        #expect(entry.answer(to: plain, 2) == Self.counted(7))
        #expect(entry.answer(to: plain, nil) == nil)
        #expect(entry.answer(to: plain, 4) == nil)
        #expect(entry.answer(to: QueryParameters(limit: 1), 2) == nil)
        entry.keep(Self.counted(8), plain, 4)
        #expect(entry.answer(to: plain, 2) == nil)
        #expect(entry.answer(to: plain, 4) == Self.counted(8))
    }

    @Test("an answer that depends on values or on the time, or is large, is not kept")
    func unkeptAnswers() {
        for parameters in [
            QueryParameters(arguments: [.value(.string("e\u{301}"))]),
            QueryParameters(variables: ["x": .value(.int(1))]),
            QueryParameters(after: [.int(1)]),
        ] {
            let entry = Self.entry()
            entry.keep(Self.counted(1), parameters, 2)
            #expect(entry.answer(to: parameters, 2) == nil)
        }
        let timely = PlanCache.Entry(plan: FakePlan(words: ["now"]))
        timely.keep(Self.counted(1), QueryParameters(), 2)
        #expect(timely.answer(to: QueryParameters(), 2) == nil)
        let large = Self.entry()
        large.keep(
            Self.counted(1, text: String(repeating: "x", count: 5_000)), QueryParameters(), 2)
        #expect(large.answer(to: QueryParameters(), 2) == nil)
    }
}
