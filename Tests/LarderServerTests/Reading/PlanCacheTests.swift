import LarderModel
import Testing

@testable import LarderServer
@testable import LarderWire

@Suite("Cached plans")
struct PlanCacheTests {
    static func entry() -> PlanCache.Entry { PlanCache.Entry(plan: FakePlan(words: [])) }

    @Test("one cached plan above the maximum removes the least recently used one")
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

    @Test("one byte of cached shapes above the maximum removes as many plans as needed")
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

    @Test("after a read that was too long, 64 reads start in the pool, and then one on the loop")
    func cost() {
        let entry = Self.entry()
        #expect(entry.startsInline())
        entry.wasTooLong()
        #expect((0..<64).allSatisfy { _ in !entry.startsInline() })
        #expect(entry.startsInline())
    }
}
