// Where a row of the query's statement has the values of the columns.
extension ResolvedQuery {
    package enum ColumnSource {
        /// The index of the value.
        case value(Int)
        /// The indexes of a key and of the name of the object's entity.
        case object(Int, entityName: Int)
        /// Another statement reads it.
        case list(PlanList)
    }

    /// Visits the columns in order. A row begins with the key, the version and the entity of its
    /// object, as far as it has them; the names of other entities come after all columns.
    package func forEachColumn(_ body: (Int, OutputColumn, ColumnSource) -> Void) {
        var source = (hasIdentity ? 2 : 0) + (hasEntity ? 1 : 0)
        var entitySource = source + columns.count { !$0.isList }
        for (index, column) in columns.enumerated() {
            switch column.content {
            case .operand:
                if column.entityTable != nil {
                    body(index, column, .object(source, entityName: entitySource))
                    entitySource += 1
                } else {
                    body(index, column, .value(source))
                }
                source += 1
            case .list(let list): body(index, column, .list(list))
            }
        }
    }
}
