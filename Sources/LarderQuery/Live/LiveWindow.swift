import LarderModel

/// The objects of an observed fetch in their order, with the values of their sort keys: all of
/// them, or the first ones.
///
/// It changes by what an evaluation of some objects found, and returns how the observed rows
/// change. It is a pure value.
package struct LiveWindow: Sendable {
    package struct Entry: Hashable, Sendable {
        package let key: Int64
        package let values: [Value]

        package init(_ key: Int64, _ values: [Value]) {
            self.key = key
            self.values = values
        }
    }

    /// How the observed rows change: remove the rows at the old indexes, and insert the placed rows
    /// at their new indexes in ascending order.
    package struct Change: Hashable, Sendable {
        package struct Placement: Hashable, Sendable {
            package var key: Int64
            /// nil for a row that was not observed before.
            package var oldIndex: Int?
            package var newIndex: Int
            /// Whether the row has another position among those that stay.
            package var isMoved: Bool

            package init(_ key: Int64, from oldIndex: Int?, to newIndex: Int, isMoved: Bool) {
                self.key = key
                self.oldIndex = oldIndex
                self.newIndex = newIndex
                self.isMoved = isMoved
            }
        }

        /// Ascending.
        package var deleted: [Int]
        /// In ascending order of the new indexes.
        package var placed: [Placement]

        package init(deleted: [Int] = [], placed: [Placement] = []) {
            self.deleted = deleted
            self.placed = placed
        }

        package var isEmpty: Bool { deleted.isEmpty && placed.isEmpty }
    }

    private let directions: [SortDirection]
    /// The number of rows that are observed; nil for all.
    private let limit: Int?
    /// The objects in their order, also those beyond the observed rows.
    package private(set) var entries: [Entry] = []
    private var values: [Int64: [Value]] = [:]
    /// Whether there are no objects after the last entry.
    private var isComplete = true
    /// The observed rows before a change that needs a new reading, and the evaluated objects.
    private var unread: (old: [Int64], changed: Set<Int64>)?

    /// The number of rows that a reply can name. A window with a greater limit has all objects.
    package static let rowsMax = Int(Int32.max)

    package init(_ directions: [SortDirection], limit: Int?) {
        self.directions = directions
        self.limit = limit.flatMap { $0 <= Self.rowsMax ? $0 : nil }
    }

    /// The number of entries to read for the window: more than are observed, so that most deletions
    /// need no other query.
    package var readCount: Int? { limit.map { $0 + max(16, $0 / 2) } }

    /// The number of observed rows.
    package var count: Int { min(entries.count, limit ?? .max) }

    /// The keys of the observed rows.
    package var keys: [Int64] { entries.prefix(count).map(\.key) }

    /// The values of an object's sort keys; nil if the window does not have the object.
    package func values(of key: Int64) -> [Value]? { values[key] }

    /// Replaces all entries by those that a query returned, in its order.
    package mutating func replace(with entries: [Entry]) {
        self.entries = entries
        values = Dictionary(
            entries.lazy.map { ($0.key, $0.values) }, uniquingKeysWith: { first, _ in first })
        isComplete = readCount.map { entries.count < $0 } ?? true
    }

    // MARK: - Changes

    /// The result of applying an evaluation.
    package enum Outcome: Hashable, Sendable {
        case change(Change)
        /// Objects may be missing at the end: read the window, and call ``change(to:)``.
        case needsReading
    }

    /// Applies an evaluation of some objects.
    ///
    /// - Parameters:
    ///   - evaluated: The objects that were evaluated.
    ///   - matching: Those of them that the fetch selects.
    package mutating func apply(_ evaluated: Set<Int64>, matching: [Entry]) -> Outcome {
        let old = limit == nil ? [] : keys
        let removed = evaluated.compactMap { key in
            values.removeValue(forKey: key).map { index(of: Entry(key, $0)) }
        }.sorted()
        let oldIndexes = Dictionary(
            uniqueKeysWithValues: removed.map { (entries[$0].key, $0) })
        entries.remove(at: removed)
        var inserted: [Entry] = []
        for entry in matching.sorted(by: precedes) {
            // The objects after the last entry of an incomplete window are unknown.
            let isKnown = isComplete || entries.last.map { precedes(entry, $0) } ?? false
            guard isKnown else { continue }
            inserted.append(entry)
            values[entry.key] = entry.values
        }
        let newIndexes = insert(inserted)
        trim()
        guard let limit else {
            return .change(change(removed, oldIndexes, inserted, newIndexes))
        }
        guard isComplete || entries.count >= limit else {
            unread = (old, evaluated)
            return .needsReading
        }
        return .change(difference(from: old, changed: evaluated))
    }

    /// Replaces all entries by those of a new reading, after ``Outcome/needsReading``.
    package mutating func change(to entries: [Entry]) -> Change {
        let (old, changed) = unread ?? ([], [])
        unread = nil
        replace(with: entries)
        return difference(from: old, changed: changed)
    }

    private func change(
        _ removed: [Int], _ oldIndexes: [Int64: Int], _ inserted: [Entry], _ newIndexes: [Int]
    ) -> Change {
        var change = Change()
        var placedKeys: Set<Int64> = []
        for (number, (entry, newIndex)) in zip(inserted, newIndexes).enumerated() {
            placedKeys.insert(entry.key)
            let oldIndex = oldIndexes[entry.key]
            // The number of rows that stay before the row, then and now.
            let before = oldIndex.map { $0 - removed.firstIndex(notBefore: $0) }
            change.placed.append(
                Change.Placement(
                    entry.key, from: oldIndex, to: newIndex,
                    isMoved: before.map { $0 != newIndex - number } ?? false))
        }
        for (key, oldIndex) in oldIndexes where !placedKeys.contains(key) {
            change.deleted.append(oldIndex)
        }
        change.deleted.sort()
        return change
    }

    /// The change of the observed rows of a window with a limit.
    private func difference(from old: [Int64], changed: Set<Int64>) -> Change {
        let new = keys
        let newKeys = Set(new)
        let oldIndexes = Dictionary(
            uniqueKeysWithValues: old.enumerated().map { ($1, $0) })
        let kept = old.indices.filter { newKeys.contains(old[$0]) && !changed.contains(old[$0]) }
        var change = Change()
        change.deleted = old.indices.filter { !newKeys.contains(old[$0]) }
        var keptCount = 0
        for (newIndex, key) in new.enumerated() {
            let oldIndex = oldIndexes[key]
            if oldIndex != nil, !changed.contains(key) {
                keptCount += 1
                continue
            }
            let before = oldIndex.map { kept.firstIndex(notBefore: $0) }
            change.placed.append(
                Change.Placement(
                    key, from: oldIndex, to: newIndex,
                    isMoved: before.map { $0 != keptCount } ?? false))
        }
        return change
    }

    // MARK: - Entries

    /// Keeps the entries that ``readCount`` allows.
    private mutating func trim() {
        guard let readCount, entries.count > readCount * 2 else { return }
        for entry in entries[readCount...] { values[entry.key] = nil }
        entries.removeSubrange(readCount...)
        isComplete = false
    }

    /// Inserts entries that are in their order.
    ///
    /// - Returns: their indexes.
    private mutating func insert(_ inserted: [Entry]) -> [Int] {
        guard !inserted.isEmpty else { return [] }
        var indexes: [Int] = []
        for (number, entry) in inserted.enumerated() {
            indexes.append(index(of: entry) + number)
        }
        if inserted.count == 1 {
            entries.insert(inserted[0], at: indexes[0])
            return indexes
        }
        var merged: [Entry] = []
        merged.reserveCapacity(entries.count + inserted.count)
        var next = 0
        for (number, entry) in inserted.enumerated() {
            let end = indexes[number] - number
            merged += entries[next..<end]
            merged.append(entry)
            next = end
        }
        merged += entries[next...]
        entries = merged
        return indexes
    }

    /// The index of the first entry that does not precede an entry.
    private func index(of entry: Entry) -> Int {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if precedes(entries[middle], entry) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private func precedes(_ left: Entry, _ right: Entry) -> Bool {
        for (index, direction) in directions.enumerated() {
            let order = direction.order(left.values[index], right.values[index])
            if order != 0 { return order < 0 }
        }
        return left.key < right.key
    }
}

extension [LiveWindow.Entry] {
    /// Removes the elements at ascending indexes.
    fileprivate mutating func remove(at indexes: [Int]) {
        guard let first = indexes.first else { return }
        if indexes.count == 1 {
            remove(at: first)
            return
        }
        var target = first
        var next = 0
        for source in first..<count {
            if next < indexes.count, indexes[next] == source {
                next += 1
            } else {
                self[target] = self[source]
                target += 1
            }
        }
        removeSubrange(target...)
    }
}

extension [Int] {
    /// The number of elements of an ascending list that are less than a number.
    fileprivate func firstIndex(notBefore number: Int) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] < number { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
