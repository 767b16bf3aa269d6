import LarderModel
import LarderQuery

// A query that reads a whole table can be read by several connections, each of which reads ranges
// of keys. What they have read is put together by another statement.

extension SQLWriter {
    /// The statement of a range of keys and the last one; none if the query cannot be divided.
    package mutating func divided(
        _ query: ResolvedQuery
    ) throws(LarderError) -> (statements: [SQL], division: SQLTemplate.Division) {
        guard let root = query.sources.first, root.join == .first, root.array == nil,
            !query.isDistinct, try decidingIndex(of: query) == nil
        else { return ([], .none) }
        return query.verb == .fetch ? try dividedKeys(query) : try dividedGroups(query)
    }

    private static let range: SQL = """
        t0.\(name: Layout.keyColumn) BETWEEN \(.firstKey) AND \(.lastKey)
        """

    // MARK: Counts and aggregates

    private mutating func dividedGroups(
        _ query: ResolvedQuery
    ) throws(LarderError) -> (statements: [SQL], division: SQLTemplate.Division) {
        let hasOneGroup = query.groupBy.isEmpty
        let found =
            hasOneGroup
            ? hashedGroups(query, keys: [Self.onlyKey]) : try groupedByHashing(query)
        guard let groups = found else { return ([], .none) }
        let functions = groups.columns.map(\.function)
        // SQLite counts the rows of a table without reading them.
        if hasOneGroup, functions.allSatisfy({ $0 == .rows }), query.selectsAllRows {
            return ([], .none)
        }
        let form = GroupForm(
            keyCount: groups.keys.count, functions: functions, hasOneGroup: hasOneGroup)
        let part = try grouping(query, groups, [Self.range])
        let end = try statement(query, groups, count: SQL([.key]))
        return ([part, end], .groups(form))
    }

    /// The key of the group of a query without groups.
    private static let onlyKey = PlanOperand.value(
        TypedValue(source: .constant(.int(0)), type: .attribute(.int64), name: "0"))

    // MARK: Objects

    private mutating func dividedKeys(
        _ query: ResolvedQuery
    ) throws(LarderError) -> (statements: [SQL], division: SQLTemplate.Division) {
        guard try !ask(.hasCursor), try rankedSearch(of: query) == nil else { return ([], .none) }
        let hasLimit = try ask(.hasLimit)
        // Without an order SQLite stops at the limit. Without a predicate there is nothing to find.
        guard hasLimit ? query.sortsRows : !query.selectsAllRows else { return ([], .none) }
        if !hasLimit, try ask(.hasOffset) { return ([], .none) }
        var part: SQL = """
            SELECT t0.\(name: Layout.keyColumn) FROM \(try from(query.sources))
            """
        try append(
            [Self.range], and: query.predicate, kindCondition(query, nil), to: &part)
        if hasLimit {
            part += " ORDER BY \(try terms(of: query, nil)) LIMIT \(.limit) + \(.offset)"
        }
        let end = try statementByKeys(query)
        return ([part, end], hasLimit ? .firstKeys : .keys)
    }
}

extension ResolvedQuery {
    /// Whether it has no condition on the rows of its table.
    fileprivate var selectsAllRows: Bool { predicate == .yes && entityNames == nil }
}
