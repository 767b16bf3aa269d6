internal import Foundation

/// The difference of two results, as a controller reports it: indexes of what was removed are those
/// before, and indexes of what was inserted are those after all changes.
///
/// An object moves if it is in another section, or in another order with objects that stay. Of two
/// objects, one that has changed moves rather than one that has not.
struct ResultChanges {
    struct Change {
        let object: Any
        let type: NSFetchedResultsChangeType
        var from: IndexPath?
        var to: IndexPath?
    }

    private(set) var deletedSections: [Int] = []
    private(set) var insertedSections: [Int] = []
    private(set) var changes: [Change] = []

    var isEmpty: Bool { deletedSections.isEmpty && insertedSections.isEmpty && changes.isEmpty }

    /// - Parameter isChanged: Whether an object has other values than before.
    init(
        from old: ResultSections, to new: ResultSections, isChanged: (Any) -> Bool
    ) {
        let kept = Self.keptSections(old, new)
        deletedSections = old.sections.indices.filter { !kept.old.contains($0) }
        insertedSections = new.sections.indices.filter { kept.oldIndexes[$0] == nil }
        var inserts: [Change] = []
        var moves: [Change] = []
        var updates: [Change] = []
        for (index, section) in new.sections.enumerated() {
            let stays = Self.staying(section.objects, old, kept.oldIndexes[index], isChanged)
            for (row, object) in section.objects.enumerated() {
                let to = IndexPath(row: row, section: index)
                guard let from = old.path(of: object) else {
                    inserts.append(Change(object: object, type: .insert, to: to))
                    continue
                }
                if !stays.contains(row) {
                    moves.append(Change(object: object, type: .move, from: from, to: to))
                } else if isChanged(object) {
                    updates.append(Change(object: object, type: .update, from: from, to: to))
                }
            }
        }
        for (index, section) in old.sections.enumerated() {
            for (row, object) in section.objects.enumerated() where new.path(of: object) == nil {
                let from = IndexPath(row: row, section: index)
                changes.append(Change(object: object, type: .delete, from: from))
            }
        }
        changes += inserts + moves + updates
    }

    /// The sections that are in both results in one order.
    private static func keptSections(
        _ old: ResultSections, _ new: ResultSections
    ) -> (old: Set<Int>, oldIndexes: [Int: Int]) {
        let known = Dictionary(
            old.sections.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first }
        )
        let common = new.sections.indices.filter { known[new.sections[$0].name] != nil }
        let positions = common.compactMap { known[new.sections[$0].name] }
        var kept: [Int: Int] = [:]
        for position in longestIncreasing(positions) {
            kept[common[position]] = positions[position]
        }
        return (Set(kept.values), kept)
    }

    /// The rows of the objects of a section that do not move.
    ///
    /// - Parameter oldSection: The index of the section in the old result; nil if it is new.
    private static func staying(
        _ objects: [Any], _ old: ResultSections, _ oldSection: Int?, _ isChanged: (Any) -> Bool
    ) -> Set<Int> {
        guard let oldSection else { return [] }
        var candidates: [(row: Int, oldRow: Int, isChanged: Bool)] = []
        for (row, object) in objects.enumerated() {
            guard let path = old.path(of: object), path.section == oldSection else { continue }
            candidates.append((row, path.row, isChanged(object)))
        }
        let unchanged = candidates.indices.filter { !candidates[$0].isChanged }
        let fixed = Set(
            longestIncreasing(unchanged.map { candidates[$0].oldRow }).map { unchanged[$0] })
        // The old row of the next fixed object, from each candidate on.
        var limits = [Int](repeating: .max, count: candidates.count + 1)
        for index in candidates.indices.reversed() {
            limits[index] = fixed.contains(index) ? candidates[index].oldRow : limits[index + 1]
        }
        var stays: Set<Int> = []
        var last = -1
        for (index, candidate) in candidates.enumerated() {
            let fits =
                fixed.contains(index)
                || candidate.isChanged && candidate.oldRow > last
                    && candidate.oldRow < limits[index]
            guard fits else { continue }
            stays.insert(candidate.row)
            last = candidate.oldRow
        }
        return stays
    }

    /// The positions of a longest ascending part of distinct numbers.
    static func longestIncreasing(_ values: [Int]) -> [Int] {
        if zip(values, values.dropFirst()).allSatisfy(<) { return Array(values.indices) }
        /// The position of the least last number of the parts of each length.
        var ends: [Int] = []
        var previous = [Int?](repeating: nil, count: values.count)
        for (position, value) in values.enumerated() {
            var (low, high) = (0, ends.count)
            while low < high {
                let middle = (low + high) / 2
                if values[ends[middle]] < value { low = middle + 1 } else { high = middle }
            }
            previous[position] = low > 0 ? ends[low - 1] : nil
            if low == ends.count { ends.append(position) } else { ends[low] = position }
        }
        var result: [Int] = []
        var position = ends.last
        while let current = position {
            result.append(current)
            position = previous[current]
        }
        return result.reversed()
    }

    /// The changes of a result without sections as a difference of identifiers.
    var difference: CollectionDifference<NSManagedObjectID>? {
        var parts: [CollectionDifference<NSManagedObjectID>.Change] = []
        for change in changes {
            guard change.type != .update, let object = change.object as? NSManagedObject else {
                continue
            }
            let (from, to) = (change.from?.row, change.to?.row)
            if let from {
                parts.append(.remove(offset: from, element: object.objectID, associatedWith: to))
            }
            if let to {
                parts.append(.insert(offset: to, element: object.objectID, associatedWith: from))
            }
        }
        return CollectionDifference(parts)
    }
}
