/// The keys that a writer has taken for new objects, of each entity without a parent.
///
/// A set takes keys that follow each other. Keys of a set that fails are used again, because
/// nothing of it was committed.
struct KeyBlocks: Equatable {
    /// The last key that was used, by the number of an entity.
    private(set) var lastKeys: [Int64]
    /// The first and the last key of the current block.
    private var starts: [Int64]
    private var ends: [Int64]

    init(entityCount: Int) {
        lastKeys = Array(repeating: 0, count: entityCount)
        starts = Array(repeating: 1, count: entityCount)
        ends = lastKeys
    }

    /// Makes sure that the next keys of an entity, this many, follow each other.
    ///
    /// - Parameter take: Takes at least as many keys, greater than all that were taken before.
    mutating func reserve<Failure: Error>(
        _ count: Int64, of entity: Int, _ take: (Int64) throws(Failure) -> ClosedRange<Int64>
    ) throws(Failure) {
        let missing = count - (ends[entity] - lastKeys[entity])
        guard missing > 0 else { return }
        let next = try take(missing)
        if next.lowerBound == ends[entity] + 1 {
            ends[entity] = next.upperBound
            return
        }
        // Another writer has taken keys in between.
        let block = Int64(next.count) >= count ? next : try take(count)
        lastKeys[entity] = block.lowerBound - 1
        (starts[entity], ends[entity]) = (block.lowerBound, block.upperBound)
    }

    /// The keys up to these are used.
    mutating func use(_ keys: [Int64]) { lastKeys = keys }

    /// The keys that were used after an earlier state are free again.
    mutating func restore(_ earlier: KeyBlocks) {
        for entity in lastKeys.indices {
            lastKeys[entity] = max(earlier.lastKeys[entity], starts[entity] - 1)
        }
    }
}
