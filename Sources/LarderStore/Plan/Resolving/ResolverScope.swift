import LarderModel

/// The FROM clause of one SELECT while its key paths are resolved.
///
/// Key paths add joins, each to-one path once. After all key paths of the clause are resolved,
/// `sources` is complete. An inner scope can refer to the rows of the outer one.
final class ResolverScope {
    private(set) var sources: [PlanSource] = []
    let outer: ResolverScope?
    private var variables: [String: ResolverRow] = [:]

    init(outer: ResolverScope?) { self.outer = outer }

    func add(_ source: PlanSource) { sources.append(source) }

    /// Binds a variable to a row, and returns its former row in this clause.
    @discardableResult
    func bind(_ variable: String, to row: ResolverRow?) -> ResolverRow? {
        let previous = variables[variable]
        variables[variable] = row
        return previous
    }

    func row(named variable: String) -> ResolverRow? {
        variables[variable] ?? outer?.row(named: variable)
    }
}

/// An object to which a key path leads: its key, which may be available before its table is joined,
/// and the joined table after a property of it was requested.
final class ResolverRow {
    let entity: Entity
    let scope: ResolverScope
    let key: ColumnReference
    /// Whether there may be no object, because a to-one step leads to it.
    let isOptional: Bool
    /// The number of the joined table's alias; nil as long as only the key is needed.
    var alias: Int?
    /// The to-one steps from here that have been joined.
    var destinations: [String: ResolverRow] = [:]

    init(
        entity: Entity, scope: ResolverScope, key: ColumnReference, isOptional: Bool, alias: Int?
    ) {
        self.entity = entity
        self.scope = scope
        self.key = key
        self.isOptional = isOptional
        self.alias = alias
    }

    /// The object itself. Keys are always indexed.
    func keyColumn(name: String) -> PlanColumn {
        PlanColumn(
            reference: key, type: .object(entityName: entity.name), isNullable: isOptional,
            isIndexed: true, name: name)
    }
}
