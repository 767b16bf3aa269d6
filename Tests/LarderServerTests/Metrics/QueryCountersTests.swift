import LarderModel
import LarderQuery
import NIOCore
import Testing

@testable import LarderServer
@testable import LarderWire

@Suite("The counters of queries")
struct QueryCountersTests {
    private static func shape(_ number: Int) -> QueryCounters.Shape {
        .query(QueryShape(bytes: withUnsafeBytes(of: number) { Array($0) }))
    }

    private func counters(
        _ countMax: Int, bytes: Int = 1 << 30, userShare: Double = 1
    ) -> QueryCounters {
        QueryCounters(countMax: countMax, memory: SharedLimit(bytes, userShare: userShare))
    }

    /// Counts reads of a shape.
    @discardableResult
    private func call(
        _ shape: QueryCounters.Shape, _ times: Int = 1, by user: UInt32 = 1,
        in counters: QueryCounters
    ) -> QueryCounters.RecordNumber? {
        let record = counters.record(of: shape, for: user)
        for _ in 0..<times { counters.end(record, .microseconds(5), failed: false) }
        return record
    }

    @Test("percentiles of times are right to an eighth, from microseconds to a minute")
    func percentiles() {
        for exponent in 10..<36 {
            for part: Int64 in [8, 9, 10, 13, 15] {
                let time = part << Int64(exponent - 3)
                var counts = TimeCounts()
                for _ in 0..<99 { counts.record(nanoseconds: time) }
                counts.record(nanoseconds: .max)
                let error = abs(Double(counts.percentile(0.5)) / Double(time) - 1)
                #expect(error <= 0.125, "\(time) ns: \(counts.percentile(0.5))")
                #expect(counts.percentile(0.99) == counts.percentile(0.5))
                #expect(counts.percentile(1) > 60_000_000_000)
            }
        }
        #expect(TimeCounts().percentile(0.99) == 0)
        var short = TimeCounts()
        for time: Int64 in [.min, -1, 0, 1, 1_023] { short.record(nanoseconds: time) }
        #expect(short.percentile(1) < 1_500)
    }

    @Test("one shape above the maximum leaves out those with the fewest calls, and counts them")
    func eviction() {
        let counters = counters(40)
        for number in 0..<40 { call(Self.shape(number), number + 1, in: counters) }
        call(Self.shape(40), in: counters)
        #expect(counters.totals.shapes.load(ordering: .relaxed) == 39)
        #expect(counters.totals.evicted.load(ordering: .relaxed) == 2)
        #expect(counters.evictedCount == 2)
        let left = Set(counters.counts.map(\.shape))
        #expect(!left.contains(Self.shape(0)) && !left.contains(Self.shape(1)))
        #expect(left.contains(Self.shape(2)) && left.contains(Self.shape(40)))
    }

    @Test("a user who has more than its share of the memory loses its own shapes only")
    func shares() {
        let one = counters(1_000)
        _ = one.record(of: Self.shape(0), for: 1)
        let bytes = one.totals.bytes.load(ordering: .relaxed)
        #expect(bytes > 800 && bytes < 2_000)
        let counters = counters(1_000, bytes: 4 * bytes, userShare: 0.5)
        call(Self.shape(100), by: 7, in: counters)
        for number in 0..<10 { call(Self.shape(number), 5, in: counters) }
        #expect(counters.counts.contains { $0.shape == Self.shape(100) })
        #expect(counters.totals.bytes.load(ordering: .relaxed) <= 3 * bytes)
    }

    @Test("a shape that was left out is counted from the beginning with its next read")
    func again() throws {
        let counters = counters(1)
        let first = try #require(call(Self.shape(1), 3, in: counters))
        #expect(counters.isCurrent(first))
        let second = try #require(call(Self.shape(2), in: counters))
        #expect(!counters.isCurrent(first) && counters.isCurrent(second))
        counters.end(first, .microseconds(5), failed: false)
        #expect(counters.counts.map(\.shape) == [Self.shape(2)])
        #expect(counters.counts.map(\.counts.calls) == [1])
        let third = try #require(call(Self.shape(1), in: counters))
        #expect(third != first && counters.isCurrent(third) && !counters.isCurrent(second))
        #expect(counters.counts.map(\.shape) == [Self.shape(1)])
        #expect(counters.counts.map(\.counts.calls) == [1])
    }

    @Test("after a reset, plans and replies that have records count from the beginning")
    func reset() throws {
        let counters = counters(10)
        let record = try #require(call(Self.shape(1), 3, in: counters))
        counters.reset()
        #expect(counters.counts.isEmpty)
        #expect(counters.totals.bytes.load(ordering: .relaxed) == 0)
        #expect(!counters.isCurrent(record))
        counters.end(record, .microseconds(5), failed: false)
        #expect(counters.counts.isEmpty)
        let other = try #require(call(Self.shape(1), in: counters))
        #expect(other != record && counters.isCurrent(other))
        #expect(counters.counts.map(\.counts.calls) == [1])
    }

    @Test("all work of a request is counted in its record")
    func work() throws {
        let counters = counters(10)
        let record = try #require(counters.record(of: Self.shape(1), for: 1))
        var work = ReadWork()
        (work.scannedRows, work.steps) = (5, 70)
        counters.add(rowCount: 3, work, to: record)
        counters.addRows(2, to: record)
        counters.addCachedReply(to: record)
        counters.end(record, .microseconds(5), failed: true)
        counters.end(nil, .microseconds(5), failed: true)
        let counts = try #require(counters.counts.first?.counts)
        #expect(counts.rows == 6 && counts.scannedRows == 5 && counts.steps == 70)
        #expect(counts.calls == 1 && counts.errors == 1 && counts.cachedReplies == 1)
        #expect(counts.nanoseconds == 5_000)
    }

    @Test("reads by identifier have a record for each entity and list of properties")
    func gets() throws {
        let counters = counters(10)
        func get(_ entity: String, _ properties: [String]?) throws -> QueryCounters.RecordNumber {
            let object = PersistentIdentifier(temporary: "a", entityName: entity)
            return try #require(counters.record(ofGet: [object], properties, for: 1))
        }
        let first = try get("Item", nil)
        #expect(try get("Item", nil) == first)
        #expect(try get("Item", ["a"]) != first)
        #expect(try get("Other", nil) != first)
        #expect(try get("Item", nil) == first)
        #expect(counters.record(ofGet: [], nil, for: 1) == nil)
    }

    @Test("without room for any shape, queries are counted nowhere and nothing fails")
    func none() {
        let counters = counters(0)
        #expect(call(Self.shape(1), in: counters) == nil)
        #expect(counters.counts.isEmpty)
    }
}
