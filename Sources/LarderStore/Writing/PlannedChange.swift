/// An object of this store, by the place of its entity in the schema.
struct ObjectKey: Hashable, Sendable, Comparable {
    let entity: Int
    let key: Int64

    static func < (left: ObjectKey, right: ObjectKey) -> Bool {
        (left.entity, left.key) < (right.entity, right.key)
    }
}

/// A change that is right by itself: what it names is in the schema, its values are of their types
/// and within their bounds, and its temporary identifiers have become keys.
enum PlannedChange: Sendable {
    /// `values` has one for each attribute.
    case insert(ObjectKey, values: [SQLBinding], assignments: [Assignment])
    case update(
        ObjectKey, ifVersion: Int64?, values: [(attribute: Int, value: SQLBinding)],
        assignments: [Assignment])
    case delete(ObjectKey, ifVersion: Int64?)
}

/// What a relationship is set to: the whole list of a to-many, one or none of a to-one.
struct Assignment: Sendable {
    struct Target: Hashable, Sendable {
        let key: Int64
        /// The place of the change that inserts the object; nil for one that exists already.
        let insertedBy: Int?
    }

    let relationship: Int
    let targets: [Target]
}

/// A change set that is right by itself.
struct PlannedChangeSet: Sendable {
    var changes: [PlannedChange]
    /// The last key of each entity, with the inserts' included.
    var lastKeys: [Int64]
}
