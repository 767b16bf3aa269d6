/// A column of a table in a FROM clause.
package struct ColumnReference: Hashable, Sendable {
    /// The number after the `t` of the table's alias.
    package var alias: Int
    package var column: String
}

/// A table in a FROM clause. Aliases are numbered through the whole statement.
package struct PlanSource: Hashable, Sendable {
    package enum Join: Hashable, Sendable {
        /// The first table of a clause. Its condition, if there is one, refers to the outer clause.
        case first
        /// A further step of a to-many key path.
        case inner
        /// A to-one step. A row without a destination remains, with nil for the columns after it.
        case left
    }

    /// `column` of this table equals `key`, and the row's object is of one of some entities.
    package struct Condition: Hashable, Sendable {
        package var column: String
        package var key: ColumnReference
        /// nil for objects of all entities.
        package var entityNames: [String]?
    }

    package var alias: Int
    package var table: String
    package var join: Join
    package var condition: Condition?
    /// The array in JSON whose elements are the rows; nil for a table with objects or links.
    package var array: PlanOperand?
    /// A further condition on the row of a to-one step: that the user may see its object.
    var restriction = PlanPredicate.yes
}
