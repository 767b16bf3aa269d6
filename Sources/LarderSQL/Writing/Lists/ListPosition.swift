/// Computes the positions of objects in an ordered list: ascending numbers with gaps between them,
/// so that an insertion changes no other row.
///
/// An appended object gets the last position plus ``gap``, an object that is put first gets the
/// first position minus ``gap``. Objects that are put between two others share the room between
/// them evenly. If there is no room, the objects that follow are moved, as few as possible: up to
/// the first that leaves more room than the square of their number (Dietz and Sleator, "Two
/// algorithms for maintaining order in a list", 1987). So the number of rows that an insertion
/// changes is logarithmic on average, wherever objects are inserted. Only a list that reaches an
/// end of ``range`` is renumbered.
package enum ListPosition {
    package static let gap: Int64 = 1 << 16
    /// Its width, and sums and products of counts with ``gap``, fit into 64 bits.
    static let range: ClosedRange<Int64> = -(1 << 61)...(1 << 61)

    enum Spacing: Equatable {
        /// New positions for the first items; the others keep theirs.
        case positions([Int64])
        /// The caller has to pass more of the items that follow.
        case needsMore
        /// The list has to be renumbered.
        case noRoom
    }

    /// Finds room for items that follow each other directly after `left`.
    ///
    /// - Parameters:
    ///   - left: The position before the items; nil at the beginning of the list.
    ///   - items: Their positions: nil for new items, which come first.
    ///   - endsList: Whether the last item is the last of the list.
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
                // New items need one number each; others move only where there is room for long.
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

    /// Evenly spaced numbers between two others.
    private static func shared(_ low: Int64, _ high: Int64, _ count: Int64) -> [Int64] {
        let (step, rest) = (high - low).quotientAndRemainder(dividingBy: count + 1)
        return (0..<count).map { low + step * ($0 + 1) + rest * ($0 + 1) / (count + 1) }
    }

    /// Positions for a whole list. As many objects as possible keep the position that they have.
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

    /// The longest ascending subsequence; nil for all other items.
    static func longestAscent(_ items: [Int64?]) -> [Int64?] {
        // By the length of a subsequence minus one, the index of the smallest number that ends it.
        var ends: [Int] = []
        var previous = [Int?](repeating: nil, count: items.count)
        for (index, item) in items.enumerated() {
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
            previous[index] = low > 0 ? ends[low - 1] : nil
            if low == ends.count { ends.append(index) } else { ends[low] = index }
        }
        var ascent = [Int64?](repeating: nil, count: items.count)
        var index = ends.last
        while let kept = index {
            ascent[kept] = items[kept]
            index = previous[kept]
        }
        return ascent
    }
}
