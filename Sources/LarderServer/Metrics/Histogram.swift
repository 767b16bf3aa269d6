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

    /// - Parameter counts: One more than there are bounds.
    init(bounds: [Int64], counts: [Int64], sum: Int64) {
        precondition(counts.count == bounds.count + 1, "each bucket has a count")
        self.bounds = bounds
        self.counts = counts
        self.sum = sum
    }

    mutating func record(_ value: Int64) {
        counts[bounds.firstIndex { value <= $0 } ?? bounds.count] += 1
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

/// Histograms with the same bounds in one array, so that recording a value, which is done for each
/// request, is two additions.
struct HistogramTable: Hashable, Sendable {
    private let bounds: [Int64]
    private let width: Int
    /// Row after row: the counts of the buckets, and the sum of the values.
    private var numbers: [Int64]

    init(rowCount: Int, bounds: [Int64]) {
        self.bounds = bounds
        width = bounds.count + 2
        numbers = Array(repeating: 0, count: rowCount * width)
    }

    /// Short times, which most are, are in the first buckets. Nothing here can overflow: the sum of
    /// nanoseconds has room for 292 years.
    mutating func record(_ value: Int64, inRow row: Int) {
        let bucket = bounds.firstIndex { value <= $0 } ?? bounds.count
        let start = row &* width
        numbers[start &+ bucket] &+= 1
        numbers[start &+ width &- 1] &+= value
    }

    func histogram(inRow row: Int) -> Histogram {
        let numbers = numbers[(row * width)...].prefix(width)
        return Histogram(
            bounds: bounds, counts: Array(numbers.dropLast()), sum: numbers.last ?? 0)
    }

    /// Adds the values of a table with the same rows and bounds.
    mutating func add(_ other: HistogramTable) {
        for index in numbers.indices {
            numbers[index] = numbers[index].addingClamped(other.numbers[index])
        }
    }
}
