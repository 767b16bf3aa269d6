import LarderModel

/// A written predicate: a constant, or an expression for the database.
package enum WrittenPredicate {
    case always(Bool)
    case sql(SQL)
}

extension SQLWriter {
    /// Writes a predicate, or its negation; see ``SQLWriter`` for the two forms.
    package mutating func predicate(
        _ predicate: PlanPredicate, _ polarity: Polarity
    ) throws(LarderError) -> WrittenPredicate {
        let prefersKeyList = prefersKeyList
        self.prefersKeyList = false
        switch predicate {
        case .constant(let bool): return polarity.always(bool)
        case .decided(let comparison): return polarity.always(try ask(.holds(comparison)))
        case .not(let part): return try self.predicate(part, polarity.opposite)
        case .and(let parts): return try connect(parts, isAnd: polarity == .positive, polarity)
        case .or(let parts): return try connect(parts, isAnd: polarity == .negated, polarity)
        case .isTrue(.function(.search, let operands, _, _)):
            return try search(operands, polarity)
        case .isTrue(let operand):
            let isTrue = polarity == .negated ? dialect.isNotTrue : dialect.isTrue
            return .sql(try self.operand(operand) + isTrue)
        case .comparison(let left, let name, let right, let options):
            self.prefersKeyList = prefersKeyList
            return try comparison(left, name, right, options, polarity)
        case .between(let value, let lower, let upper, let options):
            return try between(value, lower, upper, options, polarity)
        case .oneOf(let operand, let list, let options):
            return try oneOf(operand, list, options, polarity)
        case .oneOfList(let operand, let list, let options):
            return try oneOfList(operand, list, options, polarity)
        case .isKind(let column, let names):
            return .sql(finished(dialect.isKind(column.reference.sql, names), polarity))
        case .exists(let collection):
            if prefersKeyList, polarity == .positive, let list = try keyList(collection) {
                return .sql(list)
            }
            guard let elements = try select("1", collection) else {
                return polarity.always(false)
            }
            var test: SQL = "EXISTS \(elements.inParentheses)"
            test.depth += Self.existsDepth
            return .sql(polarity == .negated ? "NOT \(test)" : test)
        }
    }

    /// A test that may be unknown, or its negation, which never is.
    package func finished(_ test: SQL, _ polarity: Polarity) -> SQL {
        polarity == .negated ? test.inParentheses + dialect.isNotTrue : test
    }

    /// The depth that a subquery in parentheses adds to the parser's stack.
    static let existsDepth = 8

    private mutating func connect(
        _ parts: [PlanPredicate], isAnd: Bool, _ polarity: Polarity
    ) throws(LarderError) -> WrittenPredicate {
        var written: [SQL] = []
        for part in parts {
            switch try predicate(part, polarity) {
            case .always(let bool): if bool != isAnd { return .always(bool) }
            case .sql(let fragment): written.append(fragment)
            }
        }
        return Self.connected(written, isAnd: isAnd)
    }

    /// Connects predicates by AND or OR.
    ///
    /// The depth of SQLite's parser stack and of its trees is bounded. Therefore long lists are
    /// divided into groups. If a part is deep, the deepest comes first, where least is on the
    /// stack, and parentheses that only human readers need are left out.
    static func connected(_ parts: [SQL], isAnd: Bool) -> WrittenPredicate {
        guard let first = parts.first else { return .always(isAnd) }
        guard parts.count > 1 else { return .sql(first) }
        let isDeep = parts.contains { $0.depth > depthForReaders }
        var parts = parts.map { part in
            switch part.junction {
            case nil: part
            case .or: isAnd ? part.inParentheses : part
            // AND binds closer.
            case .and: isDeep ? part : part.inParentheses
            }
        }
        if isDeep {
            parts = parts.enumerated()
                .sorted { ($1.element.depth, $0.offset) < ($0.element.depth, $1.offset) }
                .map(\.element)
        }
        let junction = isAnd ? SQL.Junction.and : .or
        while parts.count > groupCount {
            parts = stride(from: 0, to: parts.count, by: groupCount).map { start in
                parts[start..<min(start + groupCount, parts.count)]
                    .joined(separator: junction.separator).inParentheses
            }
        }
        var connected = parts.joined(separator: junction.separator)
        connected.junction = junction
        return .sql(connected)
    }

    private static let groupCount = 32
    private static let depthForReaders = 8

    /// `SELECT … FROM … WHERE …` over a collection; nil if no element can satisfy the predicate.
    package mutating func select(
        _ result: SQL, _ collection: PlanCollection
    ) throws(LarderError) -> SQL? {
        let outerSearch = rankedSearch
        rankedSearch = nil
        defer { rankedSearch = outerSearch }
        let predicate = try self.predicate(collection.predicate, .positive)
        if case .always(false) = predicate { return nil }
        // A correlated subquery begins at the outer object.
        let isCorrelated = collection.sources.first?.condition != nil
        let sources = try from(collection.sources, isFixed: isCorrelated)
        var statement: SQL = "SELECT \(result) FROM \(sources)"
        var conditions: [SQL] = []
        if let first = collection.sources.first, let condition = first.condition {
            conditions.append(condition.sql(of: first, dialect))
        }
        if case .sql(let fragment) = predicate {
            // A deep part comes first, where least is on the parser's stack.
            conditions.insert(
                conditions.isEmpty ? fragment : fragment.asConjunct,
                at: fragment.depth > 3 * Self.existsDepth ? 0 : conditions.count)
        }
        if !conditions.isEmpty { statement += " WHERE \(conditions, separator: " AND ")" }
        return statement
    }
}
