import LarderModel
import LarderQuery
import LarderWire
import Testing

@testable import LarderServer

@Suite("Cached replies")
struct ReplyCacheTests {
    private static let stamp = ObjectStamp(slot: 1, version: 2)

    private func reply(_ number: Int64, bytes: Int = 0) -> EncodedBatches {
        var column = Column(name: "n", kind: .attribute(.int64))
        column.append(integer: number)
        let name = String(repeating: "x", count: bytes)
        return EncodedBatches(
            encoding: [
                Batch(
                    rowCount: 1,
                    identity: Batch.Identity(entityName: name, keys: [1], versions: [1]),
                    columns: [column])
            ])
    }

    private func find(
        _ request: [UInt8], in cache: ReplyCache, isCurrent: Bool = true
    ) -> ReplyCache.Lookup {
        cache.find(request.span.bytes) { stamp, _ in stamp == Self.stamp && isCurrent }
    }

    /// Sends a request until it is a repeated one, and caches this reply.
    private func insert(_ reply: EncodedBatches, for request: [UInt8], in cache: ReplyCache) {
        for _ in 0..<2 {
            if case .repeated(let key) = find(request, in: cache, isCurrent: false) {
                return cache.insert(reply, for: key, Self.stamp, countedIn: nil)
            }
        }
        Issue.record("not repeated")
    }

    private func cached(
        _ request: [UInt8], in cache: ReplyCache, isCurrent: Bool = true
    ) -> EncodedBatches? {
        guard case .reply(let reply, _) = find(request, in: cache, isCurrent: isCurrent) else {
            return nil
        }
        return reply
    }

    @Test("a cached reply is found by all bytes of its request while its stamp is current")
    func find() {
        let cache = ReplyCache(bytesMax: 10_000)
        let request: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8, 9]
        insert(reply(1), for: request, in: cache)
        #expect(cached(request, in: cache) == reply(1))
        #expect(cached(request, in: cache, isCurrent: false) == nil)
        for index in request.indices {
            var other = request
            other[index] += 1
            #expect(cached(other, in: cache) == nil)
        }
        #expect(cached(Array(request.dropLast()), in: cache) == nil)
        #expect(cached(request + [0], in: cache) == nil)
        #expect(cached([], in: cache) == nil)
    }

    @Test("a cached reply is replaced by a later reply to the same request")
    func replace() {
        let cache = ReplyCache(bytesMax: 10_000)
        insert(reply(1), for: [1], in: cache)
        insert(reply(2), for: [1], in: cache)
        #expect(cached([1], in: cache) == reply(2))
    }

    @Test("cached replies are removed when their memory is used up, except those in use")
    func memory() {
        let cache = ReplyCache(bytesMax: 4_000)
        for number in 0..<100 {
            insert(reply(Int64(number)), for: [UInt8(number)], in: cache)
            #expect(cached([0], in: cache) == reply(0))
        }
        let found = (0..<100).filter { cached([UInt8($0)], in: cache) != nil }
        #expect(found.count > 3 && found.count < 40)
        #expect(found.contains(99))
        cache.removeAll()
        #expect(cached([0], in: cache) == nil)
    }

    @Test("a reply that is long or exceeds the memory is not cached")
    func notStored() {
        let cache = ReplyCache(bytesMax: 100_000)
        insert(reply(1, bytes: 5_000), for: [1], in: cache)
        #expect(cached([1], in: cache) == nil)
        insert(reply(1, bytes: 3_000), for: [1], in: cache)
        #expect(cached([1], in: cache) != nil)
        let none = ReplyCache(bytesMax: 0)
        insert(reply(1), for: [1], in: none)
        #expect(cached([1], in: none) == nil)
    }

    @Test("the reply to a repeated request is cached, unless too many others came between")
    func repeated() {
        let cache = ReplyCache(bytesMax: 10_000)
        func isRepeated(_ number: Int) -> Bool {
            let request = withUnsafeBytes(of: number) { Array($0) }
            if case .repeated = find(request, in: cache) { return true }
            return false
        }
        #expect(!isRepeated(1))
        #expect(isRepeated(1))
        for number in 2..<200_000 { _ = isRepeated(number) }
        #expect(!isRepeated(1))
    }
}
