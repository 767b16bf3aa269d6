import LarderModel

@testable import LarderStore

/// The changes of each object, from the history or from two states of a model.
struct RecordedChanges: Equatable {
    typealias Key = ObjectModel.Key

    var inserted: Set<Key> = []
    var updated: [Key: Set<String>] = [:]
    var deleted: Set<Key> = []

    init(_ rows: [RecordedChange]) {
        for row in rows {
            for key in row.keys {
                let object = Key(entity: row.entityName, key: key)
                switch row.kind {
                case .inserted: inserted.insert(object)
                case .updated: updated[object] = row.properties
                case .deleted: deleted.insert(object)
                }
            }
        }
    }

    /// The net difference, by the relationships of the objects that are in both.
    init(from before: ObjectModel, to after: ObjectModel) {
        let (old, new) = (Set(before.links.keys), Set(after.links.keys))
        inserted = new.subtracting(old)
        deleted = old.subtracting(new)
        for object in old.intersection(new) {
            let names = before.relationships(object.entity).filter { relationship in
                let one = before.destinations(object, relationship.name)
                let other = after.destinations(object, relationship.name)
                return relationship.isOrdered ? one != other : Set(one) != Set(other)
            }.map(\.name)
            if !names.isEmpty { updated[object] = Set(names) }
        }
    }

    /// Whether the objects are the same, and the updates of the other are among these: a set may
    /// change a value and change it back.
    func covers(_ other: RecordedChanges) -> Bool {
        inserted == other.inserted && deleted == other.deleted
            && other.updated.allSatisfy { updated[$0.key]?.isSuperset(of: $0.value) ?? false }
    }
}
