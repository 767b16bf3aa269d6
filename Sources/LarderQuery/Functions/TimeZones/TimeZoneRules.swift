import LarderModel

/// The offsets of a time zone from UTC. Instants are seconds from 2001-01-01T00:00:00Z.
package struct TimeZoneRules: Sendable {
    /// A time with one offset, in seconds, from its start or from the beginning of time.
    package typealias Period = (start: Int128?, offset: Int)

    static let utc = TimeZoneRules(initialOffset: 0, starts: [], offsets: [], rule: nil)

    /// The offset before the first change.
    let initialOffset: Int
    /// The instants at which the offset changes, in ascending order.
    private(set) var starts: [Int64]
    /// The offset after each change.
    private(set) var offsets: [Int]
    /// The changes after the last one of `starts`; nil if there are none.
    let rule: TimeZoneRule?

    /// The last year whose changes are computed once. Later ones are computed for each instant.
    private static let listedYearMax: Int64 = 2_100

    init(initialOffset: Int, starts: [Int64], offsets: [Int], rule: TimeZoneRule?) {
        precondition(starts.count == offsets.count)
        self.initialOffset = initialOffset
        self.starts = starts
        self.offsets = offsets
        self.rule = rule
        if let rule { list(rule) }
    }

    /// Lists the next changes of the rule.
    private mutating func list(_ rule: TimeZoneRule) {
        let first = starts.last.map {
            Int64(LocalTime(seconds: Int128($0)).date.year)
        }
        for year in max(first ?? 1_900, 1_900)...max(first ?? 1_900, Self.listedYearMax) {
            for change in rule.changes(in: year) where change.start > starts.last ?? .min {
                starts.append(change.start)
                offsets.append(change.offset)
            }
        }
    }

    package func period(at instant: Int128) -> Period {
        guard let first = starts.first, instant >= Int128(first), let last = starts.last else {
            // A zone whose offset never changes may have a rule only.
            return (nil, starts.isEmpty ? rule?.standardOffset ?? initialOffset : initialOffset)
        }
        if instant >= Int128(last), let rule, let period = rule.period(at: instant) {
            return period
        }
        // The last change that is not after the instant.
        var (low, high) = (0, starts.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if Int128(starts[middle]) <= instant { low = middle } else { high = middle }
        }
        return (Int128(starts[low]), offsets[low])
    }
}
