/// How the places of an ordered list are numbered: ascending numbers with gaps between them, so
/// that what gets in between changes no other row.
///
/// An append is ``gap`` behind the last, whatever is put first as much before the first. What is
/// put between two shares the room between them evenly. Where there is none, those that follow move
/// up, as few as suffice: up to the first that leaves more room than the square of their number
/// (Dietz and Sleator, "Two algorithms for maintaining order in a list", 1987), which keeps the
/// number of rows that one insertion rewrites logarithmic on average, wherever insertions come.
/// Only a list that has come to an end of ``range`` is numbered anew.
enum ListPosition {
    static let gap: Int64 = 1 << 16
    /// The width of it, and sums and products of counts with ``gap``, fit 64 bits.
    static let range: ClosedRange<Int64> = -(1 << 61)...(1 << 61)

    enum Spacing: Equatable {
        /// New positions for as many of the items as change.
        case positions([Int64])
        /// More of the items that follow have to be known.
        case needsMore
        /// The list has to be numbered anew.
        case noRoom
    }

    /// Finds room for items that stand one after another behind `left`.
    ///
    /// - Parameters:
    ///   - left: The position in front of them; nil at the beginning of the list.
    ///   - items: Their positions; nil for one that has none yet, as the first of them.
    ///   - endsList: Whether the last of them is the last of the list.
    static func spacing(
        after left: Int64?, _ items: some Sequence<Int64?>, endsList: Bool
    ) -> Spacing {
        if let left, !range.contains(left) { return .noRoom }
        var count: Int64 = 0
        var movesOthers = false
        for item in items {
            if let right = item, range.contains(right) {
                if left == nil, !movesOthers, right - count * gap >= range.lowerBound {
                    return .positions((0..<count).map { right - (count - $0) * gap })
                }
                let low = left ?? range.lowerBound
                // They need a number each; others move only to where they have room for long.
                let width = movesOthers ? (count + 1) * (count + 1) : count
                if right - low > width { return .positions(shared(low, right, count)) }
            }
            if item != nil { movesOthers = true }
            count += 1
        }
        guard endsList else { return .needsMore }
        let first = left.map { $0 + gap } ?? 0
        guard first + count * gap <= range.upperBound else { return .noRoom }
        return .positions((0..<count).map { first + $0 * gap })
    }

    /// So many numbers between two, evenly.
    private static func shared(_ low: Int64, _ high: Int64, _ count: Int64) -> [Int64] {
        let (step, rest) = (high - low).quotientAndRemainder(dividingBy: count + 1)
        return (0..<count).map { low + step * ($0 + 1) + rest * ($0 + 1) / (count + 1) }
    }

    /// Positions for a whole list whose objects have these, or none: as many as can keep theirs.
    static func positions(for items: [Int64?]) -> [Int64] {
        let kept = longestAscent(items)
        var positions: [Int64] = []
        positions.reserveCapacity(kept.count)
        while positions.count < kept.count {
            if let position = kept[positions.count] {
                positions.append(position)
                continue
            }
            let rest = kept[positions.count...]
            switch spacing(after: positions.last, rest, endsList: true) {
            case .positions(let new): positions += new
            case .needsMore, .noRoom: return (0..<Int64(kept.count)).map { $0 * gap }
            }
        }
        return positions
    }

    /// The longest selection of the numbers that ascends; nil for all others.
    static func longestAscent(_ items: [Int64?]) -> [Int64?] {
        // The places of the smallest numbers that end a selection, by its length less one.
        var ends: [Int] = []
        var previous = [Int?](repeating: nil, count: items.count)
        for (place, item) in items.enumerated() {
            guard let item else { continue }
            var (low, high) = (0, ends.count)
            while low < high {
                let middle = (low + high) / 2
                if let end = items[ends[middle]], end < item {
                    low = middle + 1
                } else {
                    high = middle
                }
            }
            previous[place] = low > 0 ? ends[low - 1] : nil
            if low == ends.count { ends.append(place) } else { ends[low] = place }
        }
        var ascent = [Int64?](repeating: nil, count: items.count)
        var place = ends.last
        while let kept = place {
            ascent[kept] = items[kept]
            place = previous[kept]
        }
        return ascent
    }
}
