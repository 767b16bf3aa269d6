import LarderModel
import LarderQuery

/// A query with resolved names and types: the stage between the vocabulary and SQL.
package struct ResolvedQuery: Hashable, Sendable {
    /// One column of the result.
    package struct OutputColumn: Hashable, Sendable {
        package enum Content: Hashable, Sendable {
            case operand(PlanOperand)
            /// The destinations of a to-many, which another statement reads.
            case list(PlanList)
        }

        package var name: String
        package var kind: Column.Kind
        package var content: Content
        /// The table with the entities of the objects; nil if all are of one entity.
        package var entityTable: String?

        package var isList: Bool { if case .list = content { true } else { false } }
    }

    package struct Order: Hashable, Sendable {
        package enum Key: Hashable, Sendable {
            case operand(PlanOperand)
            /// The index of an output column, from 0.
            case output(Int)
        }

        package var key: Key
        var isDescending = false
        var nilComesFirst = true
        var stringOrder = StringOrder.plain
    }

    package var verb: TypedQuery.Verb
    package var entityName: String
    /// The names of the entities of the requested rows; nil for all rows of the table.
    package var entityNames: [String]?
    package var sources: [PlanSource]
    package var predicate: PlanPredicate
    var groupBy: [PlanOperand] = []
    var having = PlanPredicate.yes
    /// Whether the object's key and version come before the columns.
    package var hasIdentity = false
    /// Whether they are in the result, and not only needed to read lists.
    package var givesIdentity = true
    /// Whether the name of its entity follows them.
    package var hasEntity = false
    package var columns: [OutputColumn]
    package var order: [Order] = []
    var isDistinct = false
    /// Whether the predicate selects a range of an indexed column.
    var hasIndexedRange = false
    package var prefetch: [PlanPrefetch] = []

    /// Whether equal values are one result. A statement then has the ``JSONKey`` of JSON, because
    /// equal values have several texts.
    package var comparesResults: Bool { verb == .aggregate || isDistinct }

    /// Whether the result has the entities of other objects with their keys.
    package var namesOtherEntities: Bool {
        columns.contains { column in
            if case .list(let list) = column.content { return list.entityTable != nil }
            return column.entityTable != nil
        }
    }
}
