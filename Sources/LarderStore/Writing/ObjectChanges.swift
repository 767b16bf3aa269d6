import LarderModel

/// What a change set does to each object, gathered while it runs.
///
/// It is the net of it: an object that the set inserts is not also updated, one that it deletes is
/// not also updated, and one that it inserts and deletes is not mentioned. An object counts as
/// updated if its version grows, or if one of its relationships changes from the other side.
struct ObjectChanges {
    /// The last key of each entity before the set: greater ones are its own inserts.
    let lastKeys: [Int64]
    /// By entity; keys ascend. In ranges, since a stream inserts any number of objects.
    private var inserted: [[ClosedRange<Int64>]]
    /// With the properties that got other values.
    private(set) var updated: [ObjectKey: Set<StoredEntity.Place>] = [:]
    private(set) var gone: Set<ObjectKey> = []

    init(lastKeys: [Int64]) {
        self.lastKeys = lastKeys
        inserted = Array(repeating: [], count: lastKeys.count)
    }

    mutating func insert(_ object: ObjectKey) {
        insert(object.entity, object.key...object.key)
    }

    /// Notes objects with consecutive keys.
    mutating func insert(_ entity: Int, _ keys: ClosedRange<Int64>) {
        if let last = inserted[entity].last, last.upperBound + 1 == keys.lowerBound {
            inserted[entity][inserted[entity].count - 1] = last.lowerBound...keys.upperBound
        } else {
            inserted[entity].append(keys)
        }
    }

    /// - Parameter place: The property that changed; nil where it is not known that one did.
    mutating func update(_ object: ObjectKey, _ place: StoredEntity.Place?) {
        guard !isInserted(object) else { return }
        if let place {
            updated[object, default: []].insert(place)
        } else if updated[object] == nil {
            updated[object] = []
        }
    }

    /// Takes an object out that turned out not to be there.
    mutating func forget(_ object: ObjectKey) { updated[object] = nil }

    mutating func delete(_ object: ObjectKey) { gone.insert(object) }

    /// In ascending order; some of them may be gone again.
    func insertedKeys(_ entity: Int) -> [ClosedRange<Int64>] { inserted[entity] }

    func isInserted(_ object: ObjectKey) -> Bool { object.key > lastKeys[object.entity] }

    /// All changes, inserts first and deletes last, by entity and key; neighbours that are alike
    /// are one run.
    var runs: [ChangeRun] {
        var runs: [ChangeRun] = []
        for (entity, ranges) in inserted.enumerated() {
            for keys in ranges {
                if gone.isEmpty {
                    runs.append(
                        ChangeRun(
                            kind: .inserted, entity: entity, first: keys.lowerBound,
                            last: keys.upperBound, places: []))
                    continue
                }
                for key in keys {
                    let object = ObjectKey(entity: entity, key: key)
                    guard !gone.contains(object) else { continue }
                    ChangeRun.append(.inserted, object, [], to: &runs)
                }
            }
        }
        for (object, places) in updated.sorted(by: { $0.key < $1.key })
        where !gone.contains(object) {
            ChangeRun.append(.updated, object, places, to: &runs)
        }
        for object in gone.sorted() where !isInserted(object) {
            ChangeRun.append(.deleted, object, [], to: &runs)
        }
        return runs
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
    let places: Set<StoredEntity.Place>

    fileprivate static func append(
        _ kind: Kind, _ object: ObjectKey, _ places: Set<StoredEntity.Place>,
        to runs: inout [ChangeRun]
    ) {
        if let end = runs.indices.last, runs[end].kind == kind, runs[end].entity == object.entity,
            runs[end].last + 1 == object.key, runs[end].places == places
        {
            runs[end].last = object.key
            return
        }
        runs.append(
            ChangeRun(
                kind: kind, entity: object.entity, first: object.key, last: object.key,
                places: places))
    }
}
