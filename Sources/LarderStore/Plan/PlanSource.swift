/// A column of a table in a FROM clause.
struct ColumnReference: Hashable, Sendable {
    /// The number behind the `t` of the table's alias.
    var alias: Int
    var column: String
}

/// A table in a FROM clause. Aliases are numbered through the whole statement.
struct PlanSource: Hashable, Sendable {
    enum Join: Hashable, Sendable {
        /// The first table of a clause; its condition, if any, leads to the clause outside.
        case first
        /// A further step of a to-many key path.
        case inner
        /// A to-one step: a row without destination stays, with nil for what lies behind it.
        case left
    }

    /// `column` of this table equals `key`.
    struct Condition: Hashable, Sendable {
        var column: String
        var key: ColumnReference
    }

    var alias: Int
    var table: String
    var join: Join
    var condition: Condition?
}
