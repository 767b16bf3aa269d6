import LarderModel

extension SQLWriter {
    /// `key IN (SELECT …)` instead of `EXISTS (SELECT …)`, where an index finds the few elements
    /// for which the predicate holds.
    ///
    /// The two mean the same. EXISTS is asked for every object, and goes from the object to its
    /// elements; the list is made once, and goes from the elements to their objects. It needs a
    /// collection that refers to the outer object by its first condition only.
    ///
    /// - Parameter having: What must hold of the number of an object's elements; there is one.
    mutating func keyList(
        _ collection: PlanCollection, having: SQLFragment? = nil
    ) throws(LarderError) -> SQLFragment? {
        guard var first = collection.sources.first, let condition = first.condition,
            collection.predicate.conjuncts.contains(where: \.isIndexedEquality)
        else { return nil }
        first.condition = nil
        var independent = collection
        independent.sources[0] = first
        guard independent.outerAliases.isEmpty else { return nil }
        let owner = "t\(first.alias).\(SQL.quoted(condition.column))"
        guard var elements = try select(SQLFragment(owner), independent) else { return nil }
        if let having { elements += " GROUP BY \(owner) HAVING " + having }
        var list = "\(Self.text(condition.key)) IN " + elements.inParentheses
        list.depth += Self.existsDepth
        return list
    }
}

extension PlanPredicate {
    /// Whether an index finds the rows for which it holds, and there are few.
    var isIndexedEquality: Bool {
        switch self {
        case .comparison(.column(let column), .equal, let value, options: []),
            .comparison(let value, .equal, .column(let column), options: []):
            column.isIndexed && value.isConstant && !value.isNilConstant
        case .oneOf(.column(let column), let list, options: []):
            column.isIndexed
                && list.allSatisfy { if case .value = $0 { true } else { false } }
        case .oneOfList(.column(let column), _, options: []): column.isIndexed
        default: false
        }
    }

    /// The aliases of tables that it reads and does not bring along.
    fileprivate var outerAliases: Set<Int> {
        switch self {
        case .and(let parts), .or(let parts):
            parts.reduce(into: []) { $0.formUnion($1.outerAliases) }
        case .not(let part): part.outerAliases
        case .exists(let collection): collection.outerAliases
        default: operands.reduce(into: []) { $0.formUnion($1.outerAliases) }
        }
    }
}

extension PlanOperand {
    fileprivate var isNilConstant: Bool {
        if case .value(let value) = self { value.source == .constant(.null) } else { false }
    }

    fileprivate var outerAliases: Set<Int> {
        switch self {
        case .column(let column): [column.reference.alias]
        case .predicate(let predicate): predicate.outerAliases
        // The clause's own tables are not outside, also for what is computed of them.
        case .collection(_, let collection, let operand, _, _):
            collection.outerAliases.union(operand?.outerAliases ?? [])
                .subtracting(collection.sources.map(\.alias))
        default: operands.reduce(into: []) { $0.formUnion($1.outerAliases) }
        }
    }
}

extension PlanCollection {
    fileprivate var outerAliases: Set<Int> {
        let read = sources.compactMap(\.condition?.key.alias)
        return predicate.outerAliases.union(read).subtracting(sources.map(\.alias))
    }
}
