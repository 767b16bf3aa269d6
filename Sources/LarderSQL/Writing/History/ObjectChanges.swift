import LarderModel

/// The net changes of a change set to each object, collected while it runs.
///
/// An object that the set inserts or deletes is not also updated, and one that it inserts and
/// deletes is in no run. An object counts as updated if its version is incremented, or if one of
/// its relationships changes from the other side.
package struct ObjectChanges {
    /// The last key of each entity before the set. Greater keys are those of its own inserts.
    let lastKeys: [Int64]
    /// The keys of its own inserts, by entity, if other writers may have assigned greater keys than
    /// the last ones; nil if all greater keys are its own.
    private var ownKeys: [[ClosedRange<Int64>]]?
    private var entities: [EntityChanges]
    private(set) var updated = ObjectSet()
    private var deleted = ObjectSet()

    private struct EntityChanges {
        /// Ascending keys. Ranges, because a stream may insert any number of objects.
        var inserted: [ClosedRange<Int64>] = []
        /// The objects in which each property has a new value.
        var changed: [(property: StoredEntity.Property, keys: KeySet)] = []

        mutating func record(_ key: Int64, _ property: StoredEntity.Property) {
            let known = changed.firstIndex { $0.property == property }
            if known == nil { changed.append((property, KeySet())) }
            changed[known ?? changed.count - 1].keys.insert(key)
        }
    }

    /// - Parameter sharesKeys: Whether other writers assign keys; then ``own(_:_:)`` has to be
    ///   called.
    init(lastKeys: [Int64], sharesKeys: Bool = false) {
        self.lastKeys = lastKeys
        ownKeys = sharesKeys ? lastKeys.map { _ in [] } : nil
        // Not `repeating:`, whose generic code looks up the array's type on each call.
        entities = lastKeys.map { _ in EntityChanges() }
    }

    /// Adds keys that the set's own inserts of an entity may have.
    mutating func own(_ keys: ClosedRange<Int64>, _ entity: Int) {
        ownKeys?[entity].append(keys)
    }

    // MARK: - Recording

    mutating func insert(_ object: ObjectKey) {
        insert(object.entity, object.key...object.key)
    }

    /// Records objects with consecutive keys.
    package mutating func insert(_ entity: Int, _ keys: ClosedRange<Int64>) {
        if let last = entities[entity].inserted.last, last.upperBound + 1 == keys.lowerBound {
            let end = entities[entity].inserted.count - 1
            entities[entity].inserted[end] = last.lowerBound...keys.upperBound
        } else {
            entities[entity].inserted.append(keys)
        }
    }

    /// - Parameter property: The property that changed; nil if none may have changed.
    mutating func update(_ object: ObjectKey, _ property: StoredEntity.Property?) {
        guard !isInserted(object) else { return }
        updated.insert(object)
        guard let property else { return }
        entities[object.entity].record(object.key, property)
    }

    mutating func delete(_ object: ObjectKey) { deleted.insert(object) }

    /// Removes an updated object that turned out not to exist.
    mutating func remove(_ object: ObjectKey) { updated.remove(object) }

    // MARK: - Reading

    func isInserted(_ object: ObjectKey) -> Bool {
        guard object.key > lastKeys[object.entity] else { return false }
        guard let ownKeys else { return true }
        return ownKeys[object.entity].contains { $0.contains(object.key) }
    }

    /// The keys of an entity's objects in which a property has a new value.
    func keys(changedIn property: StoredEntity.Property, of entity: Int) -> [Int64] {
        entities[entity].changed.first { $0.property == property }?.keys.keys ?? []
    }

    /// Visits the keys of all objects that existed before the set and were updated or deleted. Keys
    /// of several entities may be equal.
    package func forEachExisting(_ body: (Int64) -> Void) {
        if !updated.isEmpty { updated.forEach(body) }
        if !deleted.isEmpty { deleted.forEach(body) }
    }

    /// Ascending keys of an entity's inserted objects, deleted ones included.
    func insertedKeys(_ entity: Int) -> [ClosedRange<Int64>] { entities[entity].inserted }

    /// The keys of an entity's deleted objects, inserted ones included.
    func deletedKeys(_ entity: Int) -> [Int64] { deleted[entity].keys }

    // MARK: - Runs

    /// All changes: inserts, then updates, then deletes, each by entity and key. Equal changes of
    /// objects with consecutive keys are one run.
    var runs: [ChangeRun] {
        var runs = ChangeRuns()
        for (entity, changes) in entities.enumerated() {
            let deleted = deleted[entity]
            for keys in changes.inserted {
                if deleted.isEmpty {
                    runs.append(.inserted, entity, keys, [])
                    continue
                }
                for key in keys where !deleted.contains(key) {
                    runs.append(.inserted, entity, key...key, [])
                }
            }
        }
        if !updated.isEmpty { runs.append(updatedRuns) }
        for entity in lastKeys.indices where !deleted.isEmpty {
            for key in deleted[entity].keys
            where !isInserted(ObjectKey(entity: entity, key: key)) {
                runs.append(.deleted, entity, key...key, [])
            }
        }
        return runs.runs
    }

    /// The objects that were updated and not deleted.
    var updatedRuns: [ChangeRun] {
        var runs = ChangeRuns()
        for entity in lastKeys.indices { appendUpdated(entity, to: &runs) }
        return runs.runs
    }

    /// Handles 64 keys at a time, and of these as many at once as have the same changed properties.
    private func appendUpdated(_ entity: Int, to runs: inout ChangeRuns) {
        let (updated, deleted) = (updated[entity], deleted[entity])
        if updated.isEmpty { return }
        let changed = entities[entity].changed
        for number in updated.wordNumbers {
            var rest = updated.word(number) & ~deleted.word(number)
            let properties = changed.compactMap { property, keys in
                let word = keys.word(number) & rest
                return word == 0 ? nil : (property: property, word: word)
            }
            while rest != 0 {
                let first = rest.trailingZeroBitCount
                let bit: UInt64 = 1 << UInt64(first)
                let alike = properties.reduce(rest) { alike, property in
                    alike & (property.word & bit == 0 ? ~property.word : property.word)
                }
                let count = (~(alike >> UInt64(first))).trailingZeroBitCount
                let key = number << 6 + Int64(first)
                runs.append(
                    .updated, entity, key...(key + Int64(count - 1)),
                    properties.filter { $0.word & bit != 0 }.map(\.property))
                for done in first..<first + count { rest &= ~(1 << UInt64(done)) }
            }
        }
    }
}
