import LarderModel

extension SQLWriter {
    /// The whole statement, or the statement of one segment after a keyset cursor.
    package mutating func statement(
        _ query: ResolvedQuery, _ segment: KeysetSegment? = nil
    ) throws(LarderError) -> SQL {
        let ranked = query.verb == .fetch ? try rankedSearch(of: query) : nil
        defer { rankedSearch = nil }
        if segment == nil, let ranked, try ranksKeys(query, by: ranked) {
            return try statement(query, ranking: ranked)
        }
        if dialect == .sqlite, segment == nil, query.sortsRows, try ask(.hasLongOffset) {
            return try statementByRowNumbers(query)
        }
        rankedSearch = ranked
        var first: [SQL] = []
        if let segment { first = try conditions(segment, query) }
        return try statement(query, segment, first)
    }

    /// The statement for the objects whose keys are in a JSON array, the parameter
    /// ``SQLParameter/key``.
    mutating func statementByKeys(_ query: ResolvedQuery) throws(LarderError) -> SQL {
        // For a few objects, their texts cost less than all that the index finds.
        comparesWords = true
        defer { comparesWords = false }
        return try statement(
            query, nil,
            [dialect.isAmongKeys("t0.\(name: Layout.keyColumn)")])
    }

    private mutating func statement(
        _ query: ResolvedQuery, _ segment: KeysetSegment?, _ first: [SQL]
    ) throws(LarderError) -> SQL {
        if let groups = try groupedByHashing(query) { return try self.statement(query, groups) }
        if first.isEmpty, let index = try decidingIndex(of: query) {
            let table: SQL = "\(name: index.table)"
            return """
                SELECT \(try results(query)) FROM \(table) \
                WHERE \(table) MATCH \(.words(index.text, columns: index.columns))
                """
        }
        let select: SQL = query.isDistinct ? "SELECT DISTINCT" : "SELECT"
        var statement: SQL = "\(select) \(try results(query)) FROM "
        if let rankedSearch { statement += "\(rankedSearch.tables) CROSS JOIN " }
        statement += try from(query.sources)
        let kind = try kindCondition(query, segment)
        try append(first, and: query.predicate, kind, to: &statement)
        if !query.groupBy.isEmpty {
            var groups: [SQL] = []
            for (index, group) in query.groupBy.enumerated() {
                if case .column = group, group.type != .attribute(.json) {
                    groups.append(try operand(group))
                } else {
                    // An expression with parameters, written twice, would be two expressions.
                    groups.append("\(index + 1)")
                }
            }
            statement += " GROUP BY \(groups)"
        }
        try append(" HAVING ", query.having, to: &statement)
        if !query.order.isEmpty {
            statement += " ORDER BY \(try terms(of: query, segment))"
        }
        try appendLimit(to: &statement)
        return statement
    }

    /// The statement for a page after many rows that no index has in order.
    ///
    /// For LIMIT, SQLite inserts each row into a tree of the rows up to the end of the page, whole
    /// and in the order in which it reads them. It sorts the rows of a window function with a merge
    /// sort, here only the keys. The objects of the page are then read by their keys.
    private mutating func statementByRowNumbers(_ query: ResolvedQuery) throws(LarderError) -> SQL {
        let terms = try terms(of: query, nil)
        let key: SQL = "t0.\(name: Layout.keyColumn)"
        var rows: SQL = """
            SELECT \(key) AS k, row_number() OVER (ORDER BY \(terms)) AS n \
            FROM \(try from(query.sources))
            """
        try append([], and: query.predicate, try kindCondition(query, nil), to: &rows)
        // The limit selects no fewer rows than the condition. It ends the statement early.
        let page: SQL = """
            SELECT k FROM (\(rows)) WHERE n > \(.offset) AND n <= \(.offset) + \(.limit) \
            LIMIT \(.limit)
            """
        var condition: SQL = "\(key) IN (\(page))"
        condition.depth += 2 * Self.existsDepth
        return """
            SELECT \(try results(query)) FROM \(try from(query.sources)) WHERE \(condition) \
            ORDER BY \(terms)
            """
    }

    package mutating func results(_ query: ResolvedQuery) throws(LarderError) -> [SQL] {
        var results: [SQL] = []
        if query.hasIdentity {
            results.append("t0.\(name: Layout.keyColumn)")
            results.append("t0.\(name: Layout.versionColumn)")
        }
        if query.hasEntity {
            results.append("t0.\(name: Layout.entityColumn)")
        }
        var entities: [SQL] = []
        for column in query.columns {
            guard case .operand(let operand) = column.content else { continue }
            let result =
                query.comparesResults ? try self.result(operand) : try self.operand(operand)
            results.append(result)
            if let table = column.entityTable {
                entities.append(Self.entity(of: result, in: table))
            }
        }
        // After all others, because ORDER BY refers to columns by their index.
        return results + entities
    }

    /// The name of the entity of the object with a key.
    package static func entity(of key: SQL, in table: String) -> SQL {
        """
        (SELECT k.\(name: Layout.entityColumn) FROM \(name: table) AS k \
        WHERE k.\(name: Layout.keyColumn) = \(key))
        """
    }

    /// The condition that selects the rows of some entities.
    ///
    /// SQLite does not know how many rows that are. It uses the index on entities if no other index
    /// serves; but a query for the first rows of an order uses the index with that order.
    package mutating func kindCondition(
        _ query: ResolvedQuery, _ segment: KeysetSegment?
    ) throws(LarderError) -> SQL? {
        guard let names = query.entityNames else { return nil }
        let column: SQL = "t0.\(name: Layout.entityColumn)"
        var wantsFirst = segment != nil
        if !wantsFirst { wantsFirst = try ask(.hasLimit) }
        guard query.isOrderedByIndex, wantsFirst else {
            return dialect.unlikely(dialect.isKind(column, names))
        }
        return dialect.isKind(dialect.hidden(column), names)
    }

    /// - Parameters:
    ///   - first: Conditions before the predicate.
    ///   - last: A condition after it.
    package mutating func append(
        _ first: [SQL], and predicate: PlanPredicate, _ last: SQL?,
        to statement: inout SQL
    ) throws(LarderError) {
        let conjuncts = predicate.conjuncts
        let first = first + (rankedSearch?.conditions ?? [])
        let isSelective = !first.isEmpty || conjuncts.contains(where: \.isIndexedEquality)
        var written = first
        for conjunct in conjuncts where !isRanked(conjunct) {
            prefersKeyList = !isSelective
            switch try self.predicate(conjunct, .positive) {
            case .always(true): break
            case .always(false):
                statement += " WHERE \(dialect.truth(false))"
                return
            case .sql(let fragment): written.append(fragment)
            }
        }
        if let last { written.append(last) }
        guard case .sql(let fragment) = Self.connected(written, isAnd: true) else { return }
        statement += " WHERE \(fragment)"
    }

    package mutating func append(
        _ keyword: SQL, _ predicate: PlanPredicate, to statement: inout SQL
    ) throws(LarderError) {
        switch try self.predicate(predicate, .positive) {
        case .always(true): break
        case .always(false): statement += keyword + dialect.truth(false)
        case .sql(let fragment): statement += keyword + fragment
        }
    }

    mutating func appendLimit(to statement: inout SQL) throws(LarderError) {
        let hasOffset = try ask(.hasOffset)
        if try ask(.hasLimit) {
            statement += " LIMIT \(.limit)"
        } else if hasOffset {
            statement += dialect.withoutLimit
        }
        if hasOffset { statement += " OFFSET \(.offset)" }
    }

    // MARK: Sources

    /// The tables of a FROM clause. The condition of the first belongs to the WHERE clause.
    ///
    /// - Parameter isFixed: Whether the tables are read in this order. A plus hides the key of each
    ///   join from indexes. Otherwise SQLite could begin at the last table and read, for each outer
    ///   object, all rows that lead there.
    package mutating func from(
        _ sources: [PlanSource], isFixed: Bool = false
    ) throws(LarderError) -> SQL {
        var clause: SQL = ""
        for source in sources {
            var table: SQL = "\(name: source.table)"
            if let array = source.array {
                try dialect.refuse("the elements of a JSON document")
                table += "(\(try operand(array)))"
            }
            table += " AS t\(source.alias)"
            guard source.join != .first, let condition = source.condition else {
                clause += table
                continue
            }
            clause += source.join == .left ? " LEFT JOIN " : " JOIN "
            clause += "\(table) ON \(condition.sql(of: source, dialect, hidesKey: isFixed))"
            switch try predicate(source.restriction, .positive) {
            case .always(true): break
            case .always(false): clause += " AND \(dialect.truth(false))"
            case .sql(let restriction): clause += " AND \(restriction.asConjunct)"
            }
        }
        return clause
    }
}

extension PlanSource.Condition {
    func sql(of source: PlanSource, _ dialect: SQLDialect, hidesKey: Bool = false) -> SQL {
        let column = ColumnReference(alias: source.alias, column: column)
        let condition: SQL = "\(column.sql) = \(hidesKey ? dialect.hidden(key.sql) : key.sql)"
        guard let entityNames else { return condition }
        let entity = ColumnReference(alias: source.alias, column: Layout.entityColumn)
        return "\(condition) AND \(dialect.isKind(entity.sql, entityNames))"
    }
}

extension ColumnReference {
    package var sql: SQL { "t\(alias).\(name: column)" }
}

extension ResolvedQuery {
    /// Whether SQLite has to sort the objects, since no index begins with the first sort key.
    var sortsRows: Bool {
        guard verb == .fetch, !isDistinct, let first = order.first,
            case .operand(let operand) = first.key
        else { return false }
        guard case .column(let column) = operand else { return true }
        return !column.isIndexed || first.stringOrder != .plain
    }

    /// Whether an index of the table has the order of the rows; not the index on entities.
    fileprivate var isOrderedByIndex: Bool {
        guard case .operand(.column(let column))? = order.first?.key,
            order.first?.stringOrder == .caseInsensitive
                ? column.textIndexes.contains(.caseless) : column.isIndexed,
            column.reference.alias == 0
        else { return false }
        return column.reference.column != Layout.keyColumn || entityNames?.count != 1
    }
}
