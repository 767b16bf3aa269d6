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
    /// The keys and values that one call takes: SQLite allows a function some more arguments.
    private static let hashedArgumentsMax = 100

    /// What EXPLAIN QUERY PLAN says of reading the groups.
    static let groupsStep = "SCAN _groups"

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
        return groups.keys.count + groups.columns.count <= Self.hashedArgumentsMax ? groups : nil
    }

    mutating func statement(
        _ query: ResolvedQuery, _ groups: HashedGroups
    ) throws(LarderError) -> SQLFragment {
        let call = GroupFunctions.call(
            keyCount: groups.keys.count, groups.columns.map(\.function))
        var arguments: [SQLFragment] = []
        for operand in groups.keys + groups.columns.compactMap(\.argument) {
            arguments.append(try self.operand(operand))
        }
        // From the last group to the first, by their numbers.
        var statement = SQLFragment("WITH RECURSIVE _groups (number) AS (SELECT ")
        statement += call + arguments.joined(separator: ", ") + ") - 1"
        statement += " FROM " + from(query.sources)
        try append([], and: query.predicate, kindCondition(query, nil), to: &statement)
        statement += " UNION ALL SELECT number - 1 FROM _groups WHERE number > 0) SELECT "
        groupPlaces = groups.places
        defer { groupPlaces = [:] }
        statement += try results(query).joined(separator: ", ")
        statement += " FROM _groups"
        // Where there is no group, the first number is -1.
        try append([SQLFragment("number >= 0")], and: query.having, nil, to: &statement)
        statement += " ORDER BY " + (try terms(of: query, nil).joined(separator: ", "))
        try appendLimit(to: &statement)
        return statement
    }

    static func groupValue(at place: Int) -> SQLFragment {
        SQLFragment("\(GroupFunctions.group)(number, \(place))")
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
