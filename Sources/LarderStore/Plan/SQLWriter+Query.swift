import LarderModel

extension SQLWriter {
    /// The whole statement.
    mutating func statement(_ query: ResolvedQuery) throws(LarderError) -> SQLFragment {
        var statement = SQLFragment(query.isDistinct ? "SELECT DISTINCT " : "SELECT ")
        statement += try results(query).joined(separator: ", ")
        statement += " FROM " + from(query.sources)
        try appendConditions(query.predicate, to: &statement)
        if !query.groupBy.isEmpty {
            var groups: [SQLFragment] = []
            for group in query.groupBy { groups.append(try operand(group)) }
            statement += " GROUP BY " + groups.joined(separator: ", ")
        }
        try append(" HAVING ", query.having, to: &statement)
        if !query.order.isEmpty {
            statement += " ORDER BY " + (try terms(of: query).joined(separator: ", "))
        }
        try appendLimit(to: &statement)
        return statement
    }

    private mutating func results(_ query: ResolvedQuery) throws(LarderError) -> [SQLFragment] {
        var results: [SQLFragment] = []
        if query.hasIdentity {
            results.append(SQLFragment("t0.\(SQL.quoted(Layout.keyColumn))"))
            results.append(SQLFragment("t0.\(SQL.quoted(Layout.versionColumn))"))
        }
        for column in query.columns {
            if case .operand(let operand) = column.content {
                results.append(try self.operand(operand))
            }
        }
        return results
    }

    private mutating func appendConditions(
        _ predicate: PlanPredicate, to statement: inout SQLFragment
    ) throws(LarderError) {
        let conjuncts = predicate.conjuncts
        let isSelective = conjuncts.contains(where: \.isIndexedEquality)
        var written: [SQLFragment] = []
        for conjunct in conjuncts {
            prefersKeyList = !isSelective
            switch try self.predicate(conjunct, negated: false) {
            case .always(true): break
            case .always(false):
                statement += " WHERE 0"
                return
            case .sql(let fragment): written.append(fragment)
            }
        }
        guard case .sql(let fragment) = Self.connected(written, isAnd: true) else { return }
        statement += " WHERE " + fragment
    }

    private mutating func append(
        _ keyword: String, _ predicate: PlanPredicate, to statement: inout SQLFragment
    ) throws(LarderError) {
        switch try self.predicate(predicate, negated: false) {
        case .always(true): break
        case .always(false): statement += keyword + "0"
        case .sql(let fragment): statement += keyword + fragment
        }
    }

    private mutating func terms(of query: ResolvedQuery) throws(LarderError) -> [SQLFragment] {
        var terms: [SQLFragment] = []
        for order in query.order {
            var term: SQLFragment
            switch order.key {
            case .operand(let operand):
                term = try self.operand(operand)
                // A plus hides the column's own order. Without it SQLite would rather read the
                // whole table in the order of its keys than a range of an index and sort that.
                if query.hasIndexedRange, try !ask(.hasLimit) { term = "+" + term }
            case .output(let place):
                term = SQLFragment("\(place + 1)")
                // What a function gives has no collation of its own.
                if query.columns[place].kind == .attribute(.decimal) {
                    term += " COLLATE \(DecimalFunctions.collation)"
                }
            }
            terms.append(order.isDescending ? term + " DESC" : term)
        }
        return terms
    }

    private mutating func appendLimit(to statement: inout SQLFragment) throws(LarderError) {
        let hasOffset = try ask(.hasOffset)
        if try ask(.hasLimit) {
            statement += SQLFragment(" LIMIT ?", [.limit])
        } else if hasOffset {
            statement += " LIMIT -1"
        }
        if hasOffset { statement += SQLFragment(" OFFSET ?", [.offset]) }
    }

    // MARK: Sources

    /// The tables of a FROM clause. The condition of the first belongs to the WHERE clause.
    func from(_ sources: [PlanSource]) -> SQLFragment {
        var text = ""
        for source in sources {
            let table = "\(SQL.quoted(source.table)) AS t\(source.alias)"
            guard source.join != .first, let condition = source.condition else {
                text += table
                continue
            }
            text += source.join == .left ? " LEFT JOIN " : " JOIN "
            text += "\(table) ON \(Self.text(condition, of: source))"
        }
        return SQLFragment(text)
    }

    static func text(_ condition: PlanSource.Condition, of source: PlanSource) -> String {
        "t\(source.alias).\(SQL.quoted(condition.column)) = \(text(condition.key))"
    }

    static func text(_ reference: ColumnReference) -> String {
        "t\(reference.alias).\(SQL.quoted(reference.column))"
    }
}
