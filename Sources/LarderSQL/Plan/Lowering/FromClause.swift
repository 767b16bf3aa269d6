import LarderModel

/// The FROM clause of one SELECT while expressions are lowered.
///
/// Key paths add joins, each to-one path once. After all expressions of the clause are lowered,
/// `sources` is complete.
package final class FromClause {
    package private(set) var sources: [PlanSource] = []
    /// The condition under which the user may see the objects of the collection.
    private(set) var visibility = PlanPredicate.yes
    /// The order of the elements of its last to-many step; nil if they have none.
    package private(set) var position: PlanJoin.Position?

    package func add(_ source: PlanSource) { sources.append(source) }

    func restrict(to visible: PlanPredicate) { visibility = visibility.and(visible) }

    /// - Parameter column: The column with the index of an element; nil if there is no order.
    func setPosition(_ column: String?, key: String, alias: Int) {
        position = column.map {
            PlanJoin.Position(
                index: ColumnReference(alias: alias, column: $0),
                key: ColumnReference(alias: alias, column: key))
        }
    }
}

/// An object to which a key path leads: its key, which may be available before its table is joined,
/// and the joined table after a property of it was requested.
package final class JoinedRow {
    package let entity: Entity
    let clause: FromClause
    package let key: ColumnReference
    /// Whether there may be no object, because a to-one step leads to it.
    package let isOptional: Bool
    /// The number of the joined table's alias; nil as long as only the key is needed.
    package var alias: Int?
    /// The to-one steps from here that have been joined.
    package var destinations: [String: JoinedRow] = [:]

    package init(
        entity: Entity, clause: FromClause, key: ColumnReference, isOptional: Bool, alias: Int?
    ) {
        self.entity = entity
        self.clause = clause
        self.key = key
        self.isOptional = isOptional
        self.alias = alias
    }

    /// The object itself. Keys are always indexed.
    package func keyColumn(name: String) -> PlanColumn {
        PlanColumn(
            reference: key, type: .object(entityName: entity.name), isNullable: isOptional,
            isIndexed: true, name: name)
    }
}
