/// Counts times by their length, so precisely that percentiles are right to about a tenth.
///
/// A bucket is a quarter of an octave: from 1.0, 1.25, 1.5 or 1.75 times a power of two. Those
/// below a microsecond are in the first bucket, and those above a minute in the last one.
struct TimeCounts: Sendable {
    private static let octaves = 10..<37
    /// A power of two.
    private static let partBits = 2
    private static let count = octaves.count << partBits

    /// By bucket; there are `count`.
    private var counts = InlineArray<108, Int64>(repeating: 0)

    mutating func record(nanoseconds: Int64) {
        counts[Self.bucket(of: nanoseconds)] &+= 1
    }

    mutating func add(_ other: TimeCounts) {
        for bucket in counts.indices {
            counts[bucket] = counts[bucket].addingClamped(other.counts[bucket])
        }
    }

    /// The time that a part of all did not exceed, in nanoseconds; 0 if there are none.
    func percentile(_ part: Double) -> Int64 {
        var total: Int64 = 0
        for bucket in counts.indices { total = total.addingClamped(counts[bucket]) }
        let rank = max(1, Int64(clamped: (Double(total) * part).rounded(.up)))
        var sum: Int64 = 0
        for bucket in counts.indices {
            sum = sum.addingClamped(counts[bucket])
            if sum >= rank { return Self.middle(of: bucket) }
        }
        return 0
    }

    private static func bucket(of nanoseconds: Int64) -> Int {
        let octave = Int64.bitWidth - 1 - max(1, nanoseconds).leadingZeroBitCount
        guard octave >= octaves.lowerBound else { return 0 }
        guard octave < octaves.upperBound else { return count - 1 }
        let part = Int(nanoseconds >> Int64(octave - partBits)) & (1 << partBits - 1)
        return (octave - octaves.lowerBound) << partBits | part
    }

    private static func middle(of bucket: Int) -> Int64 {
        let octave = octaves.lowerBound + bucket >> partBits
        let parts = Int64(1 << partBits + bucket & (1 << partBits - 1))
        // The middle of a bucket is half a part above its lower bound.
        return (2 * parts + 1) << Int64(octave - partBits - 1)
    }
}
