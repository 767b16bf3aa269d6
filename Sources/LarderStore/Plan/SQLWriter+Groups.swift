import LarderModel

/// What is computed over groups that a hash table keeps: the keys, and the functions with their
/// arguments.
struct HashedGroups {
    var keys: [PlanOperand]
    var columns: [(function: GroupFunction, argument: PlanOperand?)] = []
    /// Where each group has what the clauses over groups speak of.
    var places: [PlanOperand: Int] = [:]
}

extension SQLWriter {
    /// How the query groups by hashing; nil where SQLite has to sort, or has an index whose order
    /// lets it stop early.
    mutating func groupedByHashing(_ query: ResolvedQuery) throws(LarderError) -> HashedGroups? {
        guard !sortsGroups, !query.groupBy.isEmpty, query.groupBy.allSatisfy(\.isHashable) else {
            return nil
        }
        if case .column(let key) = query.groupBy[0], key.isIndexed, try ask(.hasLimit) {
            return nil
        }
        var groups = HashedGroups(keys: query.groupBy)
        for (place, key) in query.groupBy.enumerated() { groups.places[key] = place }
        var operands = query.columns.compactMap { column in
            if case .operand(let operand) = column.content { operand } else { nil }
        }
        operands += query.order.compactMap { order in
            if case .operand(let operand) = order.key { operand } else { nil }
        }
        operands += query.having.aggregates
        for aggregate in operands.flatMap(\.aggregates) where groups.places[aggregate] == nil {
            guard case .aggregate(let function, let argument, _, _) = aggregate,
                let hashed = GroupFunction(function, argument)
            else { return nil }
            groups.places[aggregate] = groups.keys.count + groups.columns.count
            groups.columns.append((hashed, argument))
        }
        let columnCount = groups.keys.count + groups.columns.count
        return columnCount <= GroupFunctions.columnsMax ? groups : nil
    }

    mutating func statement(
        _ query: ResolvedQuery, _ groups: HashedGroups
    ) throws(LarderError) -> SQLFragment {
        let grouping = try grouping(query, groups)
        groupPlaces = groups.places
        defer { groupPlaces = [:] }
        var statement = "SELECT " + (try results(query).joined(separator: ", "))
        statement += " FROM \(GroupFunctions.table)((" + grouping + "))"
        try append(" WHERE ", query.having, to: &statement)
        statement += " ORDER BY " + (try terms(of: query, nil).joined(separator: ", "))
        try appendLimit(to: &statement)
        return statement
    }

    /// The statement that makes the groups and gives their number.
    private mutating func grouping(
        _ query: ResolvedQuery, _ groups: HashedGroups
    ) throws(LarderError) -> SQLFragment {
        var arguments: [SQLFragment] = []
        for operand in groups.keys + groups.columns.compactMap(\.argument) {
            arguments.append(try self.operand(operand))
        }
        let call = GroupFunctions.call(
            keyCount: groups.keys.count, groups.columns.map(\.function),
            isIntegerColumn: groups.keys.count == 1 && groups.keys[0].isIntegerColumn)
        var statement = "SELECT \(call)" + arguments.joined(separator: ", ") + ")"
        statement += " FROM " + from(query.sources)
        try append([], and: query.predicate, kindCondition(query, nil), to: &statement)
        return statement
    }
}

extension GroupFunction {
    /// nil where the function keeps more of a group than a number.
    fileprivate init?(_ function: AggregateFunction, _ argument: PlanOperand?) {
        guard let argument else {
            self = .rows
            return
        }
        let type = argument.type
        switch function {
        case .count: self = .count
        case .sum where type?.isInteger == true: self = .sum
        case .average where type?.isInteger == true: self = .average
        case .minimum where type?.isBinaryNumber == true: self = .minimum
        case .maximum where type?.isBinaryNumber == true: self = .maximum
        default: return nil
        }
    }
}

extension OperandType {
    /// Whether values are stored as integers or doubles, whose order is theirs.
    fileprivate var isBinaryNumber: Bool {
        isInteger || self == .attribute(.double) || self == .attribute(.float)
            || self == .attribute(.date)
    }
}

extension PlanOperand {
    /// Whether values are equal if they are stored alike. Decimals are written in several ways,
    /// and what is computed may be an integer here and a double there.
    fileprivate var isHashable: Bool {
        switch self {
        case .column: type != .attribute(.decimal)
        case .function: type?.isInteger == true || type?.isString == true
        case .predicate: true
        case .value, .member, .converted, .collection, .aggregate: false
        }
    }

    /// Whether it is a column that holds integers and nil alone.
    fileprivate var isIntegerColumn: Bool {
        guard case .column = self else { return false }
        return switch type {
        case .attribute(let type): type.isInteger || type == .bool
        case .object: true
        case nil: false
        }
    }

    /// The aggregates within it, none within another.
    fileprivate var aggregates: [PlanOperand] {
        switch self {
        case .aggregate: [self]
        case .predicate(let predicate): predicate.aggregates
        default: operands.flatMap(\.aggregates)
        }
    }
}

extension PlanPredicate {
    fileprivate var aggregates: [PlanOperand] {
        switch self {
        case .and(let parts), .or(let parts): parts.flatMap(\.aggregates)
        case .not(let part): part.aggregates
        case .decided, .constant, .exists: []
        default: operands.flatMap(\.aggregates)
        }
    }
}
