import LarderModel

/// The FROM clause of one SELECT while its key paths are being resolved.
///
/// Joins are added as key paths ask for them, each to-one path once; when everything that a clause
/// serves is resolved, `sources` is final. A scope inside another reads the outer one's rows.
final class ResolverScope {
    private(set) var sources: [PlanSource] = []
    let outer: ResolverScope?
    private var variables: [String: ResolverRow] = [:]

    init(outer: ResolverScope?) { self.outer = outer }

    func add(_ source: PlanSource) { sources.append(source) }

    /// Gives a variable its object, and returns what it stood for in this clause before.
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

/// One object within reach: its key, which may be known before its table is joined, and the joined
/// table once a property of it is asked for.
final class ResolverRow {
    let entity: Entity
    let scope: ResolverScope
    let key: ColumnReference
    /// Whether there may be no object: it lies behind a to-one step.
    let isOptional: Bool
    /// The number of the joined table's alias; nil while the key is enough.
    var alias: Int?
    /// The to-one steps from here that were taken already.
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

    /// The object itself. Keys are indexed wherever they are stored.
    func keyColumn(name: String) -> PlanColumn {
        PlanColumn(
            reference: key, type: .object(entityName: entity.name), isNullable: isOptional,
            isIndexed: true, name: name)
    }
}
