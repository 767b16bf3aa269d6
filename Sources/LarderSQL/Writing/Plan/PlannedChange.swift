import LarderModel
import LarderQuery

/// A change that is valid in itself: what it names is in the schema, its values have the right
/// types and are within their bounds, and its temporary identifiers have become keys.
enum PlannedChange: Sendable {
    case insert(PlannedInsert)
    case update(ObjectKey, Expectation, PlannedValues)
    case delete(ObjectKey, Expectation)
    case updateAll(PlannedSelection, [PlannedAssignment])
    case deleteAll(PlannedSelection)
}

/// The values that a change sets.
struct PlannedValues: Sendable {
    /// In the order of the entity's attributes.
    var attributes: [(attribute: Int, value: SQLValue)] = []
    /// In the order in which they are made: first those that only the base has, each group in the
    /// order of the schema.
    var assignments: [Assignment] = []
    /// Edits of relationships that are not assigned, in the given order.
    var edits: [PlannedEdit] = []
}

/// An insert. It is a class because copying its parts on each access to a change costs more than
/// one allocation.
final class PlannedInsert: Sendable {
    let object: ObjectKey
    /// One value for each attribute: the given one, or the default.
    let row: [SQLValue]
    /// The given values.
    let values: PlannedValues
    /// Errors that count only if the object is new, and not if the insert updates another one.
    let missing: [LarderError]

    init(object: ObjectKey, row: [SQLValue], values: PlannedValues, missing: [LarderError]) {
        self.object = object
        self.row = row
        self.values = values
        self.missing = missing
    }
}

/// The state of an object that a change is based on.
struct Expectation: Sendable {
    var version: Int64?
    var attributes: [(attribute: Int, value: SQLValue)] = []
    var relationships: [(relationship: Int, targets: [Assignment.Target])] = []

    var isEmpty: Bool { version == nil && attributes.isEmpty && relationships.isEmpty }
}

/// The new destinations of a relationship: the whole list of a to-many, one or none of a to-one.
package struct Assignment: Sendable {
    package struct Target: Hashable, Sendable {
        let object: ObjectKey
        /// The index of the change that inserts the object; nil for an object that exists already.
        let insertedBy: Int?

        package init(object: ObjectKey, insertedBy: Int?) {
            self.object = object
            self.insertedBy = insertedBy
        }

        var key: Int64 { object.key }
    }

    let relationship: Int
    let targets: [Target]
}

/// An edit of a to-many relationship.
struct PlannedEdit: Sendable {
    enum Kind: Sendable {
        case add(InsertionPoint)
        case remove
        case move(InsertionPoint)
    }

    /// Where an edit puts its objects.
    enum InsertionPoint: Sendable {
        case first, last
        case before(Assignment.Target)
        case after(Assignment.Target)
        case index(Int64)
    }

    let relationship: Int
    let kind: Kind
    let targets: [Assignment.Target]

    /// Every object that the edit names.
    var named: [Assignment.Target] {
        switch kind {
        case .add(.before(let neighbor)), .add(.after(let neighbor)),
            .move(.before(let neighbor)), .move(.after(let neighbor)):
            targets + [neighbor]
        case .add, .move, .remove: targets
        }
    }
}

// MARK: - Conditions and bulk changes

/// A condition of a change set, and the query that counts its objects.
struct PlannedCondition: Sendable {
    let entityName: String
    let count: Int64
    /// Selects at most one object more than ``count``.
    let sql: SQL
}

/// The objects of a bulk update or delete, and the query that selects them.
struct PlannedSelection: Sendable {
    let entity: Int
    /// Its columns: the objects' keys, the computed values, and the stored values of the assigned
    /// attributes.
    let plan: ReadPlan
    let parameters: QueryParameters
    let wantsIdentifiers: Bool
}

/// The new value of a property in a bulk update.
struct PlannedAssignment: Sendable {
    enum Content: Sendable {
        /// One value for all objects.
        case attribute(SQLValue)
        /// One list of destinations for all objects.
        case relationship([Assignment.Target])
        /// The column of the query with the value that is computed for each object, and its type.
        case computed(Int, OperandType)
    }

    let property: StoredEntity.Property
    let content: Content
    /// The column of the query with the stored value of the attribute; nil for a relationship.
    let storedColumn: Int?
}
