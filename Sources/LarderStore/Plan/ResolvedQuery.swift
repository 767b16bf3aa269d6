import LarderModel
import LarderQuery

/// A query with resolved names and types: the stage between the vocabulary and SQL.
struct ResolvedQuery: Hashable, Sendable {
    /// One column of the result.
    struct OutputColumn: Hashable, Sendable {
        enum Content: Hashable, Sendable {
            case operand(PlanOperand)
            /// The destinations of a to-many, which another statement reads.
            case list(PlanList)
        }

        var name: String
        var kind: Column.Kind
        var content: Content
        /// The table with the entities of the objects; nil if all are of one entity.
        var entityTable: String?

        var isList: Bool { if case .list = content { true } else { false } }
    }

    struct Order: Hashable, Sendable {
        enum Key: Hashable, Sendable {
            case operand(PlanOperand)
            /// The index of an output column, from 0.
            case output(Int)
        }

        var key: Key
        var isDescending = false
        var nilComesFirst = true
        var stringOrder = StringOrder.plain
    }

    var verb: TypedQuery.Verb
    var entityName: String
    /// The names of the entities of the requested rows; nil for all rows of the table.
    var entityNames: [String]?
    var sources: [PlanSource]
    var predicate: PlanPredicate
    var groupBy: [PlanOperand] = []
    var having = PlanPredicate.yes
    /// Whether the object's key and version come before the columns.
    var hasIdentity = false
    /// Whether they are in the result, and not only needed to read lists.
    var givesIdentity = true
    /// Whether the name of its entity follows them.
    var hasEntity = false
    var columns: [OutputColumn]
    var order: [Order] = []
    var isDistinct = false
    /// Whether the predicate selects a range of an indexed column.
    var hasIndexedRange = false
    var prefetch: [PlanPrefetch] = []

    /// Whether equal values are one result. A statement then has the ``JSONKey`` of JSON, because
    /// equal values have several texts.
    var comparesResults: Bool { verb == .aggregate || isDistinct }

    /// Whether the result has the entities of other objects with their keys.
    var namesOtherEntities: Bool {
        columns.contains { column in
            if case .list(let list) = column.content { return list.entityTable != nil }
            return column.entityTable != nil
        }
    }
}
