import LarderModel

/// A query with resolved names and types, independent of how it is run.
package struct TypedQuery: Sendable {
    /// One column of the result.
    package struct OutputColumn: Sendable {
        package enum Content: Sendable {
            case operand(TypedOperand)
            /// The destinations of a to-many relationship of the queried object.
            case list(Relationship)
        }

        package var name: String
        package var content: Content

        package var isList: Bool { if case .list = content { true } else { false } }

        /// Nil for a list.
        package var type: OperandType? {
            if case .operand(let operand) = content { operand.type } else { nil }
        }

        /// Whether it contains this operand.
        func contains(_ other: TypedOperand) -> Bool {
            if case .operand(let operand) = content { operand == other } else { false }
        }
    }

    package struct Order: Sendable {
        package enum Key: Sendable {
            case operand(TypedOperand)
            /// The index of an output column, from 0.
            case output(Int)
        }

        package var key: Key
        package var isDescending = false
        package var nilComesFirst = true
        package var stringOrder = StringOrder.plain
    }

    package enum Verb: String, Hashable, Sendable {
        case fetch = "Fetch"
        case count = "Count"
        case aggregate = "Aggregate"
    }

    package var verb: Verb
    /// The entity of the queried objects.
    package var entity: Entity
    /// Whether they may be of subentities.
    package var includesSubentities: Bool
    package var predicate: TypedPredicate
    package var groupBy: [TypedOperand] = []
    package var having = TypedPredicate.constant(true)
    package var columns: [OutputColumn]
    package var order: [Order] = []
    package var isDistinct = false
    /// Whether the object's key and version are in the result.
    package var givesIdentity = false
    /// Whether the order of the rows is not requested, so that an index may determine it.
    package var hasIndexableOrder = false
    package var prefetch: [Prefetch] = []

    /// Related objects that are read with those of the query.
    package struct Prefetch: Sendable {
        package let keyPath: String
        /// The index of the column with the relationship.
        package let column: Int
        package let query: TypedQuery
    }
}
