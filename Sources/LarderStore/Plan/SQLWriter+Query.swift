import LarderModel

extension SQLWriter {
    /// The whole statement, or that of one segment behind a place.
    mutating func statement(
        _ query: ResolvedQuery, _ segment: PlaceSegment? = nil
    ) throws(LarderError) -> SQLFragment {
        var first: [SQLFragment] = []
        if let segment { first = try conditions(segment, query) }
        return try statement(query, segment, first)
    }

    /// The statement for those objects whose keys are in the JSON array that is its only parameter.
    mutating func statementByKeys(_ query: ResolvedQuery) throws(LarderError) -> SQLFragment {
        let key = "t0.\(SQL.quoted(Layout.keyColumn))"
        return try statement(
            query, nil, [SQLFragment("\(key) IN (SELECT value FROM json_each(?))")])
    }

    private mutating func statement(
        _ query: ResolvedQuery, _ segment: PlaceSegment?, _ first: [SQLFragment]
    ) throws(LarderError) -> SQLFragment {
        if let groups = try groupedByHashing(query) { return try self.statement(query, groups) }
        var statement = SQLFragment(query.isDistinct ? "SELECT DISTINCT " : "SELECT ")
        statement += try results(query).joined(separator: ", ")
        statement += " FROM " + from(query.sources)
        let kind = try kindCondition(query, segment)
        try append(first, and: query.predicate, kind, to: &statement)
        if !query.groupBy.isEmpty {
            var groups: [SQLFragment] = []
            for (place, group) in query.groupBy.enumerated() {
                if case .column = group {
                    groups.append(try operand(group))
                } else {
                    // Written twice, it would be two expressions if it has parameters.
                    groups.append(SQLFragment("\(place + 1)"))
                }
            }
            statement += " GROUP BY " + groups.joined(separator: ", ")
        }
        try append(" HAVING ", query.having, to: &statement)
        if !query.order.isEmpty {
            statement += " ORDER BY " + (try terms(of: query, segment).joined(separator: ", "))
        }
        try appendLimit(to: &statement)
        return statement
    }

    mutating func results(_ query: ResolvedQuery) throws(LarderError) -> [SQLFragment] {
        var results: [SQLFragment] = []
        if query.hasIdentity {
            results.append(SQLFragment("t0.\(SQL.quoted(Layout.keyColumn))"))
            results.append(SQLFragment("t0.\(SQL.quoted(Layout.versionColumn))"))
        }
        if query.hasEntity {
            results.append(SQLFragment("t0.\(SQL.quoted(Layout.entityColumn))"))
        }
        var entities: [SQLFragment] = []
        for column in query.columns {
            guard case .operand(let operand) = column.content else { continue }
            let result = try self.operand(operand)
            results.append(result)
            if let table = column.entityTable {
                entities.append(Self.entity(of: result, in: table))
            }
        }
        // Behind all others, whose places the order of rows refers to.
        return results + entities
    }

    /// The name of the entity of the object with a key.
    static func entity(of key: String, in table: String) -> String {
        entity(of: SQLFragment(key), in: table).text
    }

    private static func entity(of key: SQLFragment, in table: String) -> SQLFragment {
        "(SELECT k.\(SQL.quoted(Layout.entityColumn)) FROM \(SQL.quoted(table)) AS k "
            + "WHERE k.\(SQL.quoted(Layout.keyColumn)) = " + key + ")"
    }

    /// The condition that picks the rows of some entities.
    ///
    /// How many they are nobody tells SQLite. Their index serves where nothing else does; where the
    /// first rows of an order are wanted that an index gives, that is followed.
    mutating func kindCondition(
        _ query: ResolvedQuery, _ segment: PlaceSegment?
    ) throws(LarderError) -> SQLFragment? {
        guard let names = query.entityNames else { return nil }
        let column = "t0.\(SQL.quoted(Layout.entityColumn))"
        var wantsFirst = segment != nil
        if !wantsFirst { wantsFirst = try ask(.hasLimit) }
        guard query.isOrderedByIndex, wantsFirst else {
            return SQLFragment("unlikely(\(Self.kindTest(column, names)))")
        }
        return SQLFragment(Self.kindTest("+" + column, names))
    }

    /// - Parameters:
    ///   - first: conditions that stand in front.
    ///   - last: one that stands behind.
    mutating func append(
        _ first: [SQLFragment], and predicate: PlanPredicate, _ last: SQLFragment?,
        to statement: inout SQLFragment
    ) throws(LarderError) {
        let conjuncts = predicate.conjuncts
        let isSelective = !first.isEmpty || conjuncts.contains(where: \.isIndexedEquality)
        var written = first
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
        if let last { written.append(last) }
        guard case .sql(let fragment) = Self.connected(written, isAnd: true) else { return }
        statement += " WHERE " + fragment
    }

    mutating func append(
        _ keyword: String, _ predicate: PlanPredicate, to statement: inout SQLFragment
    ) throws(LarderError) {
        switch try self.predicate(predicate, negated: false) {
        case .always(true): break
        case .always(false): statement += keyword + "0"
        case .sql(let fragment): statement += keyword + fragment
        }
    }

    mutating func appendLimit(to statement: inout SQLFragment) throws(LarderError) {
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
    ///
    /// - Parameter isFixed: The tables are read in this order. A plus hides the key in front of a
    ///   step from indexes, which else would let SQLite begin at the far end and find, for each
    ///   object outside, the whole world that leads there.
    func from(_ sources: [PlanSource], isFixed: Bool = false) -> SQLFragment {
        var text = ""
        for source in sources {
            let table = "\(SQL.quoted(source.table)) AS t\(source.alias)"
            guard source.join != .first, let condition = source.condition else {
                text += table
                continue
            }
            text += source.join == .left ? " LEFT JOIN " : " JOIN "
            text += "\(table) ON \(Self.text(condition, of: source, hidesKey: isFixed))"
        }
        return SQLFragment(text)
    }

    static func text(
        _ condition: PlanSource.Condition, of source: PlanSource, hidesKey: Bool = false
    ) -> String {
        let key = (hidesKey ? "+" : "") + text(condition.key)
        return "t\(source.alias).\(SQL.quoted(condition.column)) = \(key)"
    }

    static func text(_ reference: ColumnReference) -> String {
        "t\(reference.alias).\(SQL.quoted(reference.column))"
    }
}

extension ResolvedQuery {
    /// Whether an index of the table gives the order of the rows, apart from that of one entity's.
    fileprivate var isOrderedByIndex: Bool {
        guard case .operand(.column(let column))? = order.first?.key,
            column.isIndexed, column.reference.alias == 0
        else { return false }
        return column.reference.column != Layout.keyColumn || entityNames?.count != 1
    }
}
