import LarderModel

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
    case insert(PlannedInsert)
    case update(ObjectKey, Expectation, PlannedValues)
    case delete(ObjectKey, Expectation)
}

/// What a change sets.
struct PlannedValues: Sendable {
    /// In the order of the entity's attributes.
    var attributes: [(attribute: Int, value: SQLBinding)] = []
    var assignments: [Assignment] = []
    /// Of relationships that are not assigned, in the order given.
    var edits: [PlannedEdit] = []
}

struct PlannedInsert: Sendable {
    let object: ObjectKey
    /// One for each attribute: what is given, or the default.
    let row: [SQLBinding]
    /// What is given.
    let values: PlannedValues
    /// What is missing if the object is new, and not where the insert updates another.
    let missing: [LarderError]
}

/// How the caller saw the object of a change.
struct Expectation: Sendable {
    var version: Int64?
    var attributes: [(attribute: Int, value: SQLBinding)] = []
    var relationships: [(relationship: Int, keys: [Int64])] = []

    var isEmpty: Bool { version == nil && attributes.isEmpty && relationships.isEmpty }
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

/// A difference that is made to a to-many relationship.
struct PlannedEdit: Sendable {
    enum Kind: Sendable {
        case add(Place)
        case remove
        case move(Place)
    }

    enum Place: Sendable {
        case first, last
        case before(Assignment.Target)
        case after(Assignment.Target)
        case index(Int64)
    }

    let relationship: Int
    let kind: Kind
    let targets: [Assignment.Target]

    var place: Place? {
        switch kind {
        case .add(let place), .move(let place): place
        case .remove: nil
        }
    }

    /// Every object that it names.
    var named: [Assignment.Target] {
        switch place {
        case .before(let neighbor), .after(let neighbor): targets + [neighbor]
        case .first, .last, .index, nil: targets
        }
    }
}

/// A change set that is right by itself, or that is so but for single values.
struct PlannedChangeSet: Sendable {
    /// nil for a change that has a fault of its own.
    var changes: [PlannedChange?]
    /// The last key of each entity, with the inserts' included.
    var lastKeys: [Int64]
    var onUniqueConflict = UniqueConflictPolicy.error
    var mergePolicy = MergePolicy.error
    /// Of single values; the set is looked at to its end for others, and then refused.
    var faults = ChangeFaults()
}
