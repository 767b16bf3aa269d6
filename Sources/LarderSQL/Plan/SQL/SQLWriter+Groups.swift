import LarderModel
import LarderQuery

/// Groups in a hash table: their keys, and the functions with their arguments.
package struct HashedGroups {
    package var keys: [PlanOperand]
    package var columns: [(function: GroupFunction, argument: PlanOperand?)] = []
    /// The column of the group table for each operand that the clauses over groups use.
    var columnIndexes: [PlanOperand: Int] = [:]
}

extension SQLWriter {
    /// How the query groups by hashing; nil if SQLite has to sort, or has an index whose order lets
    /// it stop early.
    mutating func groupedByHashing(_ query: ResolvedQuery) throws(LarderError) -> HashedGroups? {
        guard !sortsGroups, !query.groupBy.isEmpty, query.groupBy.allSatisfy(\.isHashable) else {
            return nil
        }
        if case .column(let key) = query.groupBy[0], key.isIndexed, try ask(.hasLimit) {
            return nil
        }
        return hashedGroups(query, keys: query.groupBy)
    }

    /// The groups of a query; nil if the group table does not have all of its functions.
    func hashedGroups(_ query: ResolvedQuery, keys: [PlanOperand]) -> HashedGroups? {
        var groups = HashedGroups(keys: keys)
        for (index, key) in keys.enumerated() { groups.columnIndexes[key] = index }
        var operands = query.columns.compactMap { column in
            if case .operand(let operand) = column.content { operand } else { nil }
        }
        operands += query.order.compactMap { order in
            if case .operand(let operand) = order.key { operand } else { nil }
        }
        operands += query.having.aggregates
        for aggregate in operands.flatMap(\.aggregates)
        where groups.columnIndexes[aggregate] == nil {
            guard case .aggregate(let function, let argument, _, _) = aggregate,
                let hashed = GroupFunction(function, argument)
            else { return nil }
            groups.columnIndexes[aggregate] = groups.keys.count + groups.columns.count
            groups.columns.append((hashed, argument))
        }
        let columnCount = groups.keys.count + groups.columns.count
        return columnCount <= GroupFunctions.columnsMax ? groups : nil
    }

    package mutating func statement(
        _ query: ResolvedQuery, _ groups: HashedGroups
    ) throws(LarderError) -> SQL {
        let grouping = try grouping(query, groups)
        return try statement(query, groups, count: "(\(grouping))")
    }

    /// The statement over the groups in the table.
    package mutating func statement(
        _ query: ResolvedQuery, _ groups: HashedGroups, count: SQL
    ) throws(LarderError) -> SQL {
        groupColumns = groups.columnIndexes
        defer { groupColumns = [:] }
        var statement: SQL = """
            SELECT \(try results(query)) FROM \(function: GroupFunctions.table)(\(count))
            """
        try append(" WHERE ", query.having, to: &statement)
        if !query.order.isEmpty { statement += " ORDER BY \(try terms(of: query, nil))" }
        try appendLimit(to: &statement)
        return statement
    }

    /// The subquery that fills the group table and returns the number of groups.
    ///
    /// - Parameter first: Conditions before the predicate.
    package mutating func grouping(
        _ query: ResolvedQuery, _ groups: HashedGroups, _ first: [SQL] = []
    ) throws(LarderError) -> SQL {
        var arguments: [SQL] = []
        for operand in groups.keys + groups.columns.compactMap(\.argument) {
            arguments.append(try self.operand(operand))
        }
        let call = GroupFunctions.call(
            arguments, keyCount: groups.keys.count, groups.columns.map(\.function),
            isIntegerColumn: groups.keys.count == 1 && groups.keys[0].isIntegerColumn)
        var statement: SQL = "SELECT \(call) FROM \(try from(query.sources))"
        try append(first, and: query.predicate, kindCondition(query, nil), to: &statement)
        return statement
    }
}

extension GroupFunction {
    /// nil if the group table does not have it.
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
        case .sum where argument.isRealColumn: self = .realSum
        case .average where argument.isRealColumn: self = .realAverage
        case .sum where argument.isDecimalColumn: self = .decimalSum
        case .average where argument.isDecimalColumn: self = .decimalAverage
        case .minimum where type?.isBinaryNumber == true: self = .minimum
        case .maximum where type?.isBinaryNumber == true: self = .maximum
        default: return nil
        }
    }
}

extension OperandType {
    /// Whether values are stored as integers or doubles and have their order.
    fileprivate var isBinaryNumber: Bool {
        isInteger || self == .attribute(.double) || self == .attribute(.float)
            || self == .attribute(.date)
    }
}

extension PlanOperand {
    /// Whether two values are equal exactly if their stored forms are. Decimals and JSON have
    /// several forms, and a computed number may be an integer for one row and a double for another.
    fileprivate var isHashable: Bool {
        switch self {
        case .column: type != .attribute(.decimal) && type != .attribute(.json)
        case .function: type?.isInteger == true || type?.isString == true
        case .predicate: true
        case .value, .member, .converted, .collection, .join, .aggregate: false
        }
    }

    /// Whether it is a column of doubles and nil.
    fileprivate var isRealColumn: Bool {
        guard case .column = self else { return false }
        return type == .attribute(.double) || type == .attribute(.float)
    }

    fileprivate var isDecimalColumn: Bool {
        guard case .column = self else { return false }
        return type == .attribute(.decimal)
    }

    /// Whether it is a column of integers and nil.
    fileprivate var isIntegerColumn: Bool {
        guard case .column = self else { return false }
        return switch type {
        case .attribute(let type): type.isInteger || type == .bool
        case .object: true
        case nil: false
        }
    }

    /// The aggregates in it, without those inside another aggregate.
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
