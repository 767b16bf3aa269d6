/// Groups of integers that came last, one for each remainder by their number, with the rows that
/// have come since.
///
/// In front of a hash table it counts the rows of few groups, or of such as stand next to each
/// other, for a third of the table's cost.
struct RecentGroups {
    private struct Entry {
        let integer: Int64
        let group: Int
        var rowCount: Int64 = 0
    }

    private static let count = 256
    /// The integer of a place without a group belongs in another.
    private var entries = InlineArray<256, Entry> { Entry(integer: Int64(~$0), group: 0) }

    /// Counts a row if the integer's group is here.
    @inline(__always)
    mutating func count(_ integer: Int64) -> Bool {
        let place = Self.place(integer)
        guard entries[place].integer == integer else { return false }
        entries[place].rowCount &+= 1
        return true
    }

    /// Takes an integer's group in, and adds to the rows of the one that was in its place.
    mutating func insert(_ integer: Int64, _ group: Int, _ rowCounts: inout [Int64]) {
        let place = Self.place(integer)
        rowCounts[entries[place].group] += entries[place].rowCount
        entries[place] = Entry(integer: integer, group: group)
    }

    /// Adds the rows of all that are here.
    func add(to rowCounts: inout [Int64]) {
        // By a span: each look at an inline array may copy it.
        let entries = entries.span
        for place in entries.indices where entries[place].rowCount > 0 {
            rowCounts[entries[place].group] += entries[place].rowCount
        }
    }

    @inline(__always)
    private static func place(_ integer: Int64) -> Int {
        Int(truncatingIfNeeded: integer) & (count - 1)
    }
}
