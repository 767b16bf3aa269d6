import FoundationEssentials
import LarderModel

/// The groups of an observed count or aggregate, with the contribution of each object, from which
/// the result is computed.
///
/// A change removes the old contributions of the evaluated objects and adds the new ones. It costs
/// as much as these objects and their groups; only ``batches(_:limit:bytesMax:)`` costs as much as
/// the result. It is a pure value.
package struct LiveGroups: Sendable {
    private struct Object {
        let group: Int
        /// The values of the aggregated expressions.
        let values: [Value]
    }

    private struct Group {
        let keys: [Value]
        var totals: [GroupTotal]
        var objectCount = 0
        /// The row of the result.
        var row: [Value] = []
    }

    private let aggregate: LiveAggregate
    private var objects: [Int64: Object] = [:]
    private var groups: [Group] = []
    /// The index of each group.
    private var indexes: [[StoredValue]: Int] = [:]
    private var unusedIndexes: [Int] = []
    /// The groups of the result in its order, by their index.
    private var window: LiveWindow
    /// Groups whose row cannot be computed.
    private var failed: Set<Int> = []
    private var textBytes = 0

    package init(_ aggregate: LiveAggregate) {
        self.aggregate = aggregate
        window = LiveWindow(aggregate.order.map(\.direction), limit: nil)
        guard aggregate.keyCount == 0 else { return }
        // Without keys there is one group, even without objects.
        update([index(of: [])])
    }

    package var objectCount: Int { objects.count }

    /// The approximate size in memory.
    package var byteCount: Int {
        let valueBytes = MemoryLayout<Value>.stride
        let valueCount = aggregate.valueCount
        // An extreme stores each value twice again, in its heap and with its count.
        let objectBytes =
            valueCount == 0 ? 64 : 96 + valueCount * valueBytes + aggregate.extremeCount * 160
        let groupBytes =
            512 + (aggregate.keyCount + aggregate.columns.count) * valueBytes * 3
            + aggregate.columns.reduce(0) { $0 + GroupTotal.byteCount($1.form) }
        return objects.count * objectBytes + groups.count * groupBytes + textBytes
    }

    // MARK: - Changes

    /// Applies an evaluation of some objects.
    ///
    /// - Parameters:
    ///   - evaluated: The objects that were evaluated.
    ///   - matching: The contributions of those that the query selects: the group keys, then the
    ///     values of the aggregated expressions.
    package mutating func apply(_ evaluated: Set<Int64>, matching: [LiveWindow.Entry]) {
        var changed: Set<Int> = []
        for key in evaluated {
            if let group = remove(key) { changed.insert(group) }
        }
        for entry in matching {
            if let group = remove(entry.key) { changed.insert(group) }
            changed.insert(add(entry))
        }
        update(changed)
    }

    private mutating func remove(_ key: Int64) -> Int? {
        guard let object = objects.removeValue(forKey: key) else { return nil }
        groups[object.group].objectCount -= 1
        for (number, column) in aggregate.columns.enumerated() {
            groups[object.group].totals[number].remove(column.value(object.values))
        }
        for value in object.values { textBytes -= value.textBytes }
        return object.group
    }

    private mutating func add(_ entry: LiveWindow.Entry) -> Int {
        let group = index(of: Array(entry.values.prefix(aggregate.keyCount)))
        let object = Object(
            group: group, values: Array(entry.values.dropFirst(aggregate.keyCount)))
        groups[group].objectCount += 1
        for (number, column) in aggregate.columns.enumerated() {
            groups[group].totals[number].add(column.value(object.values))
        }
        for value in object.values { textBytes += value.textBytes }
        objects[entry.key] = object
        return group
    }

    /// The index of the group with these keys, which is added if there is none.
    private mutating func index(of keys: [Value]) -> Int {
        let stored = keys.map(StoredValue.init)
        if let known = indexes[stored] { return known }
        let group = Group(
            keys: stored.map(\.value),
            totals: aggregate.columns.map { GroupTotal($0.function, $0.form) })
        for key in keys { textBytes += key.textBytes }
        let index: Int
        if let unused = unusedIndexes.popLast() {
            index = unused
            groups[index] = group
        } else {
            index = groups.count
            groups.append(group)
        }
        indexes[stored] = index
        return index
    }

    // MARK: - Rows

    /// Computes the rows of groups that have changed.
    private mutating func update(_ changed: Set<Int>) {
        var entries: [LiveWindow.Entry] = []
        for index in changed {
            failed.remove(index)
            if groups[index].objectCount == 0, aggregate.keyCount > 0 {
                removeGroup(index)
                continue
            }
            var row = groups[index].keys
            for total in groups[index].totals {
                if let result = total.result { row.append(result) }
            }
            // A sum may exceed its type, or HAVING may fail.
            guard row.count == aggregate.names.count,
                let isSelected = try? aggregate.selects(row)
            else {
                failed.insert(index)
                continue
            }
            groups[index].row = row
            guard isSelected else { continue }
            entries.append(LiveWindow.Entry(Int64(index), aggregate.order.map { row[$0.column] }))
        }
        _ = window.apply(Set(changed.map { Int64($0) }), matching: entries)
    }

    private mutating func removeGroup(_ index: Int) {
        let keys = groups[index].keys
        for key in keys { textBytes -= key.textBytes }
        indexes[keys.map(StoredValue.init)] = nil
        groups[index] = Group(keys: [], totals: [])
        unusedIndexes.append(index)
    }

    /// The result as a query returns it.
    ///
    /// - Parameters:
    ///   - columns: The columns of the result; their rows are ignored.
    ///   - bytesMax: The size from which on a batch is complete.
    /// - Returns: nil if a row cannot be computed. The query may return an error.
    package func batches(_ columns: [Column], limit: Int64?, bytesMax: Int) -> [Batch]? {
        guard failed.isEmpty, columns.count == aggregate.names.count else { return nil }
        let empty = columns.map { Column(name: $0.name, kind: $0.kind) }
        var batch = Batch(columns: empty)
        var batches: [Batch] = []
        for key in window.keys.prefix(Int(clamping: limit ?? .max)) {
            let byteCount = batch.columns.reduce(0) { $0 + 8 * batch.rowCount + $1.heap.count }
            if batch.rowCount > 0, byteCount >= bytesMax {
                batches.append(batch)
                batch = Batch(columns: empty)
            }
            for (index, value) in groups[Int(key)].row.enumerated() {
                do throws(LarderError) { try batch.columns[index].appendResult(value) } catch {
                    return nil
                }
            }
            batch.rowCount += 1
        }
        return batches + [batch]
    }
}

extension Column {
    /// Appends a result. A filter turns floats into doubles.
    fileprivate mutating func appendResult(_ value: Value) throws(LarderError) {
        if case .double(let double) = value, kind == .attribute(.float) {
            try append(.float(Float(double)))
        } else {
            try append(value)
        }
    }
}

extension Value {
    /// The bytes outside of the value itself.
    fileprivate var textBytes: Int {
        switch self {
        case .string(let text), .json(let text): text.utf8.count
        case .data(let data): data.count
        case .decimal: 16
        case .uuid: 16
        case .object: 128
        default: 0
        }
    }
}
