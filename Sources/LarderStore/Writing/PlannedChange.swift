import LarderModel

/// An object of this store, by the place of its own entity in the schema.
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
    case updateAll(PlannedSelection, [PlannedAssignment])
    case deleteAll(PlannedSelection)
}

/// The objects of a change by predicate, and the query that finds them.
struct PlannedSelection: Sendable {
    let entity: Int
    /// Its columns: the objects' keys, what is computed, and the assigned attributes as they are.
    let plan: ReadPlan
    let parameters: QueryParameters
    let wantsIdentifiers: Bool
}

/// What a change by predicate makes of a property.
struct PlannedAssignment: Sendable {
    enum Content: Sendable {
        /// The same for all objects.
        case attribute(SQLBinding)
        case relationship([Assignment.Target])
        /// The query's column with what is computed for each object, and of which type it is.
        case computed(Int, OperandType)
    }

    let place: StoredEntity.Place
    let content: Content
    /// The query's column with the attribute as it was; nil for a relationship.
    let was: Int?
}

/// What a change sets.
struct PlannedValues: Sendable {
    /// In the order of the entity's attributes.
    var attributes: [(attribute: Int, value: SQLBinding)] = []
    /// In the order in which they are made: that of the schema, after what only the base has.
    var assignments: [Assignment] = []
    /// Of relationships that are not assigned, in the order given.
    var edits: [PlannedEdit] = []
}

/// A class, since copying its parts with each look at a change costs more than making one.
final class PlannedInsert: Sendable {
    let object: ObjectKey
    /// One for each attribute: what is given, or the default.
    let row: [SQLBinding]
    /// What is given.
    let values: PlannedValues
    /// What is missing if the object is new, and not where the insert updates another.
    let missing: [LarderError]

    init(object: ObjectKey, row: [SQLBinding], values: PlannedValues, missing: [LarderError]) {
        self.object = object
        self.row = row
        self.values = values
        self.missing = missing
    }
}

/// How the caller saw the object of a change.
struct Expectation: Sendable {
    var version: Int64?
    var attributes: [(attribute: Int, value: SQLBinding)] = []
    var relationships: [(relationship: Int, targets: [Assignment.Target])] = []

    var isEmpty: Bool { version == nil && attributes.isEmpty && relationships.isEmpty }
}

/// What a relationship is set to: the whole list of a to-many, one or none of a to-one.
struct Assignment: Sendable {
    struct Target: Hashable, Sendable {
        let object: ObjectKey
        /// The place of the change that inserts the object; nil for one that exists already.
        let insertedBy: Int?

        var key: Int64 { object.key }
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

    var hasChangesByPredicate = false
    /// Whether a change says how the caller saw its object.
    var hasExpectations = false
}
