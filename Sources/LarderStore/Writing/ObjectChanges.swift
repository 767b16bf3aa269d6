import LarderModel

/// What a change set does to each object, gathered while it runs.
///
/// It is the net of it: an object that the set inserts is not also updated, one that it deletes is
/// not also updated, and one that it inserts and deletes is not mentioned. An object counts as
/// updated if its version grows, or if one of its relationships changes from the other side.
struct ObjectChanges {
    /// The last key of each entity before the set: greater ones are its own inserts.
    let lastKeys: [Int64]
    private var entities: [EntityChanges]
    private(set) var updated = ObjectSet()
    private var gone = ObjectSet()

    private struct EntityChanges {
        /// Keys ascend. In ranges, since a stream inserts any number of objects.
        var inserted: [ClosedRange<Int64>] = []
        /// By property, the objects in which it got another value.
        var changed: [(place: StoredEntity.Place, keys: KeySet)] = []

        mutating func note(_ key: Int64, _ place: StoredEntity.Place) {
            let known = changed.firstIndex { $0.place == place }
            if known == nil { changed.append((place, KeySet())) }
            changed[known ?? changed.count - 1].keys.insert(key)
        }
    }

    init(lastKeys: [Int64]) {
        self.lastKeys = lastKeys
        // Not `repeating:`, whose generic code looks the array's type up each time.
        entities = lastKeys.map { _ in EntityChanges() }
    }

    mutating func insert(_ object: ObjectKey) {
        insert(object.entity, object.key...object.key)
    }

    /// Notes objects with consecutive keys.
    mutating func insert(_ entity: Int, _ keys: ClosedRange<Int64>) {
        if let last = entities[entity].inserted.last, last.upperBound + 1 == keys.lowerBound {
            let end = entities[entity].inserted.count - 1
            entities[entity].inserted[end] = last.lowerBound...keys.upperBound
        } else {
            entities[entity].inserted.append(keys)
        }
    }

    /// - Parameter place: The property that changed; nil where it is not known that one did.
    mutating func update(_ object: ObjectKey, _ place: StoredEntity.Place?) {
        guard !isInserted(object) else { return }
        updated.insert(object)
        guard let place else { return }
        entities[object.entity].note(object.key, place)
    }

    /// Takes an object out that turned out not to be there.
    mutating func forget(_ object: ObjectKey) { updated.remove(object) }

    /// The keys of the objects of an entity in which a property got another value.
    func keys(changedIn place: StoredEntity.Place, of entity: Int) -> [Int64] {
        entities[entity].changed.first { $0.place == place }?.keys.keys ?? []
    }

    mutating func delete(_ object: ObjectKey) { gone.insert(object) }

    /// The keys of all objects that were there before and are changed or gone; those of several
    /// entities may be the same.
    func forEachExisting(_ body: (Int64) -> Void) {
        if !updated.isEmpty { updated.forEach(body) }
        if !gone.isEmpty { gone.forEach(body) }
    }

    /// In ascending order; some of them may be gone again.
    func insertedKeys(_ entity: Int) -> [ClosedRange<Int64>] { entities[entity].inserted }

    func isInserted(_ object: ObjectKey) -> Bool { object.key > lastKeys[object.entity] }

    /// All changes, inserts first and deletes last, by entity and key; neighbours that are alike
    /// are one run.
    var runs: [ChangeRun] {
        var runs = ChangeRuns()
        for (entity, changes) in entities.enumerated() {
            let gone = gone[entity]
            for keys in changes.inserted {
                if gone.isEmpty {
                    runs.append(.inserted, entity, keys, [])
                    continue
                }
                for key in keys where !gone.contains(key) {
                    runs.append(.inserted, entity, key...key, [])
                }
            }
        }
        if !updated.isEmpty { runs.append(updatedRuns) }
        for (entity, lastKey) in lastKeys.enumerated() where !gone.isEmpty {
            for key in gone[entity].keys where key <= lastKey {
                runs.append(.deleted, entity, key...key, [])
            }
        }
        return runs.runs
    }

    /// What was updated and is not gone.
    var updatedRuns: [ChangeRun] {
        var runs = ChangeRuns()
        for entity in lastKeys.indices { appendUpdated(entity, to: &runs) }
        return runs.runs
    }

    /// The keys of the objects of an entity that were deleted, inserted ones among them.
    func deletedKeys(_ entity: Int) -> [Int64] { gone[entity].keys }

    /// Sixty-four keys at a time, and of these as many at once as have the same properties changed.
    private func appendUpdated(_ entity: Int, to runs: inout ChangeRuns) {
        let (updated, gone) = (updated[entity], gone[entity])
        if updated.isEmpty { return }
        let changed = entities[entity].changed
        for number in updated.wordNumbers {
            var rest = updated.word(number) & ~gone.word(number)
            let places = changed.compactMap { place, keys in
                let word = keys.word(number) & rest
                return word == 0 ? nil : (place: place, word: word)
            }
            while rest != 0 {
                let first = rest.trailingZeroBitCount
                let bit: UInt64 = 1 << UInt64(first)
                let alike = places.reduce(rest) { alike, place in
                    alike & (place.word & bit == 0 ? ~place.word : place.word)
                }
                let count = (~(alike >> UInt64(first))).trailingZeroBitCount
                let key = number << 6 + Int64(first)
                runs.append(
                    .updated, entity, key...(key + Int64(count) - 1),
                    places.filter { $0.word & bit != 0 }.map(\.place))
                for done in first..<first + count { rest &= ~(1 << UInt64(done)) }
            }
        }
    }
}

/// The same change to objects of one entity with consecutive keys.
struct ChangeRun: Hashable {
    /// The numbers by which the history stores them.
    enum Kind: Int64 {
        case inserted = 1
        case updated = 2
        case deleted = 3
    }

    let kind: Kind
    let entity: Int
    let first: Int64
    var last: Int64
    /// In the order in which the set first changed one.
    let places: [StoredEntity.Place]
}

/// Runs that grow while what comes next continues the last.
private struct ChangeRuns {
    private(set) var runs: [ChangeRun] = []

    /// Appends what continues none of these.
    mutating func append(_ others: [ChangeRun]) { runs += others }

    mutating func append(
        _ kind: ChangeRun.Kind, _ entity: Int, _ keys: ClosedRange<Int64>,
        _ places: [StoredEntity.Place]
    ) {
        if let end = runs.indices.last, runs[end].kind == kind, runs[end].entity == entity,
            runs[end].last + 1 == keys.lowerBound, runs[end].places == places
        {
            runs[end].last = keys.upperBound
            return
        }
        runs.append(
            ChangeRun(
                kind: kind, entity: entity, first: keys.lowerBound, last: keys.upperBound,
                places: places))
    }
}
