/// A column of a table in a FROM clause.
struct ColumnReference: Hashable, Sendable {
    /// The number after the `t` of the table's alias.
    var alias: Int
    var column: String
}

/// A table in a FROM clause. Aliases are numbered through the whole statement.
struct PlanSource: Hashable, Sendable {
    enum Join: Hashable, Sendable {
        /// The first table of a clause. Its condition, if there is one, refers to the outer clause.
        case first
        /// A further step of a to-many key path.
        case inner
        /// A to-one step. A row without a destination remains, with nil for the columns after it.
        case left
    }

    /// `column` of this table equals `key`, and the row's object is of one of some entities.
    struct Condition: Hashable, Sendable {
        var column: String
        var key: ColumnReference
        /// nil for objects of all entities.
        var entityNames: [String]?
    }

    var alias: Int
    var table: String
    var join: Join
    var condition: Condition?
    /// The array in JSON whose elements are the rows; nil for a table with objects or links.
    var array: PlanOperand?
    /// A further condition on the row of a to-one step: that the user may see its object.
    var restriction = PlanPredicate.yes
}
