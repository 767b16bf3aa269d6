import LarderModel

/// A predicate as it was written: known already, or left to SQLite.
enum WrittenPredicate {
    case always(Bool)
    case sql(SQLFragment)
}

extension SQLWriter {
    /// Writes a predicate, or its negation; see ``SQLWriter`` for the two forms.
    mutating func predicate(
        _ predicate: PlanPredicate, negated: Bool
    ) throws(LarderError) -> WrittenPredicate {
        let prefersKeyList = prefersKeyList
        self.prefersKeyList = false
        switch predicate {
        case .constant(let bool): return .always(bool != negated)
        case .decided(let comparison): return .always(try ask(.holds(comparison)) != negated)
        case .not(let part): return try self.predicate(part, negated: !negated)
        case .and(let parts): return try connect(parts, isAnd: !negated, negated: negated)
        case .or(let parts): return try connect(parts, isAnd: negated, negated: negated)
        case .isTrue(let operand):
            return .sql(try self.operand(operand) + (negated ? " IS NOT 1" : " = 1"))
        case .comparison(let left, let name, let right, let options):
            self.prefersKeyList = prefersKeyList
            return try comparison(left, name, right, options, negated)
        case .between(let value, let lower, let upper, let options):
            return try between(value, lower, upper, options, negated)
        case .oneOf(let operand, let list, let options):
            return try oneOf(operand, list, options, negated)
        case .oneOfList(let operand, let list, let options):
            return try oneOfList(operand, list, options, negated)
        case .isKind(let column, let names):
            let test = Self.kindTest(Self.text(column.reference), names)
            return .sql(finished(SQLFragment(test), negated))
        case .exists(let collection):
            if prefersKeyList, !negated, let list = try keyList(collection) { return .sql(list) }
            guard let elements = try select(SQLFragment("1"), collection) else {
                return .always(negated)
            }
            var test = "EXISTS " + elements.inParentheses
            test.depth += Self.existsDepth
            return .sql(negated ? "NOT " + test : test)
        }
    }

    /// Names of a schema hold no quotation marks.
    static func kindTest(_ column: String, _ names: [String]) -> String {
        let literals = names.map { "'\($0)'" }
        return literals.count == 1
            ? "\(column) = \(literals[0])" : "\(column) IN (\(literals.joined(separator: ", ")))"
    }

    /// A test that may be unknown, or its negation, which is not.
    func finished(_ test: SQLFragment, _ negated: Bool) -> SQLFragment {
        negated ? test.inParentheses + " IS NOT 1" : test
    }

    /// What a subquery adds to the parser's stack, in parentheses.
    static let existsDepth = 8

    private mutating func connect(
        _ parts: [PlanPredicate], isAnd: Bool, negated: Bool
    ) throws(LarderError) -> WrittenPredicate {
        var written: [SQLFragment] = []
        for part in parts {
            switch try predicate(part, negated: negated) {
            case .always(let bool): if bool != isAnd { return .always(bool) }
            case .sql(let fragment): written.append(fragment)
            }
        }
        return Self.connected(written, isAnd: isAnd)
    }

    /// SQLite's parser and its trees are of bounded depth, so long lists are cut into groups, and
    /// where it is deep, what is deepest comes first, where it leaves least on the parser's stack,
    /// and parentheses that only a reader needs are left out.
    static func connected(_ parts: [SQLFragment], isAnd: Bool) -> WrittenPredicate {
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
        let junction = isAnd ? SQLFragment.Junction.and : .or
        while parts.count > groupCount {
            parts = stride(from: 0, to: parts.count, by: groupCount).map { start in
                parts[start..<min(start + groupCount, parts.count)]
                    .joined(separator: junction.rawValue).inParentheses
            }
        }
        var connected = parts.joined(separator: junction.rawValue)
        connected.junction = junction
        return .sql(connected)
    }

    private static let groupCount = 32
    private static let depthForReaders = 8

    /// `SELECT … FROM … WHERE …` over a collection; nil if it is empty whatever is stored.
    mutating func select(
        _ result: SQLFragment, _ collection: PlanCollection
    ) throws(LarderError) -> SQLFragment? {
        let predicate = try self.predicate(collection.predicate, negated: false)
        if case .always(false) = predicate { return nil }
        // A clause that is asked for each object outside begins at that object.
        let isCorrelated = collection.sources.first?.condition != nil
        var statement =
            "SELECT " + result + " FROM " + from(collection.sources, isFixed: isCorrelated)
        var conditions: [SQLFragment] = []
        if let first = collection.sources.first, let condition = first.condition {
            conditions.append(SQLFragment(Self.text(condition, of: first)))
        }
        if case .sql(let fragment) = predicate {
            // What is deep comes first, where it leaves least on the parser's stack.
            conditions.insert(
                conditions.isEmpty ? fragment : fragment.asConjunct,
                at: fragment.depth > 3 * Self.existsDepth ? 0 : conditions.count)
        }
        if !conditions.isEmpty { statement += " WHERE " + conditions.joined(separator: " AND ") }
        return statement
    }
}
