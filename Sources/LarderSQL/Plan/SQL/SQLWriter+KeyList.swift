import LarderModel

extension SQLWriter {
    /// `key IN (SELECT …)` instead of `EXISTS (SELECT …)`, if an index finds the few elements that
    /// satisfy the predicate.
    ///
    /// Both mean the same. SQLite evaluates EXISTS for every object, from the object to its
    /// elements. It computes the list once, from the elements to their objects. The collection must
    /// refer to the outer object by its first condition only.
    ///
    /// - Parameter having: A condition on the number of an object's elements, which is at least 1.
    mutating func keyList(
        _ collection: PlanCollection, having: SQL? = nil
    ) throws(LarderError) -> SQL? {
        guard var first = collection.sources.first, let condition = first.condition,
            collection.predicate.conjuncts.contains(where: \.isIndexedEquality)
        else { return nil }
        first.condition = nil
        var independent = collection
        independent.sources[0] = first
        guard independent.outerAliases.isEmpty else { return nil }
        let owner = ColumnReference(alias: first.alias, column: condition.column).sql
        guard var elements = try select(owner, independent) else { return nil }
        if let having { elements += " GROUP BY \(owner) HAVING \(having)" }
        var list: SQL = "\(condition.key.sql) IN \(elements.inParentheses)"
        list.depth += Self.existsDepth
        return list
    }
}

extension PlanPredicate {
    /// Whether an index finds the rows that satisfy it, which are assumed to be few.
    var isIndexedEquality: Bool {
        switch self {
        case .comparison(.column(let column), .equal, let value, let options),
            .comparison(let value, .equal, .column(let column), let options):
            (column.isIndexed(for: options) || column.isIndexed(for: .insensitive))
                && value.isConstant && !value.isNilConstant
        case .comparison(.column(let column), let name, .value, _)
        where [.contains, .endsWith, .like, .matches].contains(name):
            column.searchTable != nil
        case .isTrue(.function(.search, let operands, _, _)):
            SearchedIndex(operands) != nil
        case .oneOf(.column(let column), let list, let options):
            column.isIndexed(for: options)
                && list.allSatisfy { if case .value = $0 { true } else { false } }
        case .oneOfList(.column(let column), _, let options): column.isIndexed(for: options)
        default: false
        }
    }

    /// The aliases of the tables that it reads and that are outside of it.
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
        // The collection's own tables are not outside, for the computed operand neither.
        case .collection(_, let collection, let operand, _, _):
            collection.outerAliases.union(operand?.outerAliases ?? [])
                .subtracting(collection.sources.map(\.alias))
        case .join(let join):
            join.collection.outerAliases.union(join.text.outerAliases)
                .subtracting(join.collection.sources.map(\.alias))
                .union(join.separator.outerAliases)
        default: operands.reduce(into: []) { $0.formUnion($1.outerAliases) }
        }
    }
}

extension PlanCollection {
    fileprivate var outerAliases: Set<Int> {
        let read = sources.compactMap(\.condition?.key.alias)
        let arrays = sources.compactMap(\.array).flatMap(\.outerAliases)
        return predicate.outerAliases.union(read).union(arrays)
            .subtracting(sources.map(\.alias))
    }
}
