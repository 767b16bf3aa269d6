/// Counts values by their size, as a histogram of Prometheus: each bucket has an upper bound.
struct Histogram: Hashable, Sendable {
    /// The upper bounds of the buckets, ascending. One more bucket has the larger values.
    let bounds: [Int64]
    /// The values of each bucket alone.
    private(set) var counts: [Int64]
    private(set) var sum: Int64 = 0

    init(bounds: [Int64]) {
        self.bounds = bounds
        counts = Array(repeating: 0, count: bounds.count + 1)
    }

    /// Short times, which most are, are in the first buckets.
    mutating func record(_ value: Int64) {
        var bucket = 0
        while bucket < bounds.count, value > bounds[bucket] { bucket += 1 }
        counts[bucket] += 1
        sum = sum.addingClamped(value)
    }

    var count: Int64 { counts.reduce(0, +) }

    /// Adds the values of a histogram with the same bounds.
    mutating func add(_ other: Histogram) {
        for bucket in counts.indices { counts[bucket] += other.counts[bucket] }
        sum = sum.addingClamped(other.sum)
    }
}

extension Histogram {
    /// Nanoseconds, from 10 microseconds to 30 seconds.
    static let times = Histogram(bounds: [
        10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000, 30_000_000,
        100_000_000, 300_000_000, 1_000_000_000, 3_000_000_000, 10_000_000_000, 30_000_000_000,
    ])

    /// Change sets per commit, which has at most 256.
    static let groups = Histogram(bounds: [1, 2, 4, 8, 16, 32, 64, 128])
}
