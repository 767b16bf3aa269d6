import LarderModel
import LarderQuery
import Synchronization
import Testing

@testable import LarderServer
@testable import LarderWire

@Suite("Cached plans")
struct PlanCacheTests {
    private static func entry(_ byteCount: Int = 5, of user: UInt32 = 1) -> PlanCache.Entry {
        PlanCache.Entry(plan: SizedPlan(byteCount), of: user)
    }

    private final class SizedPlan: QueryPlan {
        let dependsOnArguments = false
        private let bytes: Atomic<Int>
        private let argumentCount: Int

        /// - Parameter argumentCount: The number of arguments that it serves.
        init(_ byteCount: Int, servingArguments argumentCount: Int = 0) {
            bytes = Atomic(byteCount)
            self.argumentCount = argumentCount
        }

        func serves(_ parameters: QueryParameters) -> Bool {
            parameters.arguments.count == argumentCount
        }

        var byteCount: Int { bytes.load(ordering: .relaxed) }

        func grow(to byteCount: Int) { bytes.store(byteCount, ordering: .relaxed) }
    }

    private static func shape(_ byte: UInt8) -> QueryShape { QueryShape(bytes: [byte]) }

    @Test("one cached plan above the maximum removes the least recently used one")
    func countMax() {
        var cache = PlanCache(countMax: 2, memory: SharedLimit(1_000, userShare: 1))
        cache.insert(Self.entry(), for: Self.shape(1))
        cache.insert(Self.entry(), for: Self.shape(2))
        #expect(cache.found(Self.shape(1)) != nil)
        cache.insert(Self.entry(), for: Self.shape(3))
        #expect(cache.count == 2)
        #expect(cache.found(Self.shape(1)) != nil)
        #expect(cache.found(Self.shape(2)) == nil)
        #expect(cache.memory.used == 2 * 7)
    }

    @Test("one byte above the memory of a user removes as many of its oldest plans as needed")
    func bytesMax() {
        var cache = PlanCache(countMax: 100, memory: SharedLimit(160, userShare: 0.5))
        // With its shape, each takes the eighth of a share that one plan may take.
        for byte in 1...8 { cache.insert(Self.entry(8), for: Self.shape(UInt8(byte))) }
        #expect(cache.count == 8 && cache.memory.used == 80)
        cache.insert(Self.entry(1), for: Self.shape(9))
        #expect(cache.count == 8 && cache.memory.used == 73)
        #expect(cache.found(Self.shape(1)) == nil)
        #expect(cache.found(Self.shape(9)) != nil)
    }

    @Test("a plan above an eighth of what a user may have is not cached")
    func largePlan() {
        var cache = PlanCache(countMax: 100, memory: SharedLimit(160, userShare: 0.5))
        cache.insert(Self.entry(8), for: Self.shape(1))
        cache.insert(Self.entry(9), for: Self.shape(2))
        #expect(cache.count == 1 && cache.memory.used == 10)
    }

    @Test("a user with many plans never removes those of another user")
    func users() {
        var cache = PlanCache(countMax: 100, memory: SharedLimit(160, userShare: 0.5))
        cache.insert(Self.entry(8, of: 2), for: Self.shape(0))
        for byte in 1...50 { cache.insert(Self.entry(8), for: Self.shape(UInt8(byte))) }
        #expect(cache.found(Self.shape(0)) != nil)
        #expect(cache.memory.used(by: 1) == 70 && cache.memory.used(by: 2) == 10)
    }

    @Test("a plan that grows while it is used is charged for that, and removed if it is too large")
    func growth() throws {
        var cache = PlanCache(countMax: 100, memory: SharedLimit(160, userShare: 0.5))
        let plan = SizedPlan(1)
        let entry = PlanCache.Entry(plan: plan, of: 1)
        cache.insert(entry, for: Self.shape(1))
        #expect(cache.memory.used == 3)
        plan.grow(to: 8)
        cache.charge(entry, for: Self.shape(1))
        #expect(cache.memory.used == 10)
        plan.grow(to: 9)
        cache.charge(entry, for: Self.shape(1))
        #expect(cache.count == 0 && cache.memory.used == 0)
        // It is charged to nobody any more.
        cache.charge(entry, for: Self.shape(1))
        #expect(cache.memory.used == 0)
    }

    @Test("a plan that does not serve the types of the arguments makes way for one that does")
    func types() {
        var cache = PlanCache(countMax: 100, memory: SharedLimit(160, userShare: 0.5))
        let shape = Self.shape(1)
        let one = QueryParameters(arguments: [.value(.int(1))])
        cache.insert(Self.entry(), for: shape)
        #expect(cache.entry(for: shape, one) == nil)
        #expect(cache.count == 0 && cache.memory.used == 0)
        let plan = SizedPlan(8, servingArguments: 1)
        cache.insert(PlanCache.Entry(plan: plan, of: 1), for: shape)
        #expect(cache.entry(for: shape, one)?.plan === plan)
        #expect(cache.memory.used == 10)
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

extension PlanCache {
    fileprivate mutating func found(_ shape: QueryShape) -> Entry? {
        entry(for: shape, QueryParameters())
    }
}
