/// A direct-mapped cache of recent groups of integers, with the number of their rows since they
/// were inserted.
///
/// It counts the rows of few groups, or of adjacent rows of the same group, at a third of the cost
/// of the hash table.
struct RecentGroups {
    private struct Entry {
        let integer: Int64
        let group: Int
        var rowCount: Int64 = 0
    }

    private static let count = 256
    /// The integer of an empty slot belongs to another slot.
    private var entries = InlineArray<256, Entry> { Entry(integer: Int64(~$0), group: 0) }

    /// Counts a row if the integer's group is in the cache.
    @inline(__always)
    mutating func count(_ integer: Int64) -> Bool {
        let slot = Self.slot(integer)
        guard entries[slot].integer == integer else { return false }
        entries[slot].rowCount &+= 1
        return true
    }

    /// Inserts an integer's group, and adds the rows of the replaced entry to its group.
    mutating func insert(_ integer: Int64, _ group: Int, _ rowCounts: inout [Int64]) {
        let slot = Self.slot(integer)
        rowCounts[entries[slot].group] += entries[slot].rowCount
        entries[slot] = Entry(integer: integer, group: group)
    }

    /// Adds the rows of all entries to their groups.
    func add(to rowCounts: inout [Int64]) {
        // By a span, because each access to an inline array may copy it.
        let entries = entries.span
        for slot in entries.indices where entries[slot].rowCount > 0 {
            rowCounts[entries[slot].group] += entries[slot].rowCount
        }
    }

    @inline(__always)
    private static func slot(_ integer: Int64) -> Int {
        Int(truncatingIfNeeded: integer) & (count - 1)
    }
}
