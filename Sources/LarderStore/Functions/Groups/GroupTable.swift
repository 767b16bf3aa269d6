import LarderModel
import LarderSQL

/// Groups of rows with their computed values, found by the hash of their keys.
///
/// Sendable unchecked: it is used by one thread at a time, by that of its connection and then by
/// the one that adds it to another table.
final class GroupTable: Aggregation, @unchecked Sendable {
    private let rows: GroupedRows
    private let problems: FunctionFaults
    private let kind: Kind
    private var keys = GroupKeys(count: 0)
    /// The number of rows of each group, without those in `recent`.
    private var rowCounts: [Int64] = []
    private var recent = RecentGroups()
    /// The other computed values.
    private var columns: [GroupColumn] = []
    /// The index of each output in `columns`; nil for the number of rows.
    private var outputs: [Int?] = []
    private var state = State.empty

    enum Kind {
        /// The first argument describes the others.
        case computing
        /// All arguments are keys, and rows are counted.
        case counting
        /// As `counting`, with one key, which is an integer or nil.
        case countingIntegers
    }

    private enum State {
        /// There was no row yet.
        case empty
        case open
        /// There are too many groups, or arguments are missing. The table is not valid.
        case failed
    }

    init(_ rows: GroupedRows, _ problems: FunctionFaults, _ kind: Kind) {
        self.rows = rows
        self.problems = problems
        self.kind = kind
    }

    /// A table for the groups of other ones. If they have no keys, it has its only group already.
    init(_ rows: GroupedRows, _ problems: FunctionFaults, _ form: GroupForm) {
        self.rows = rows
        self.problems = problems
        kind = .computing
        open(form, firstKey: 0)
        if form.hasOneGroup { append() }
    }

    /// - Parameter arguments: The form if there is one, the keys, the values.
    func step(_ arguments: FunctionArguments) {
        if kind == .countingIntegers {
            let integer = arguments[0].int64
            // Zero may be nil.
            if integer != 0 || arguments[0].isInteger, recent.count(integer) { return }
        }
        add(arguments)
    }

    @inline(never)
    private func add(_ arguments: FunctionArguments) {
        if state == .empty { open(arguments) }
        if state == .failed { return }
        let group = keys.number(of: arguments, first: kind == .computing ? 1 : 0)
        if group == rowCounts.count { append() }
        rowCounts[group] += 1
        for column in columns.indices { columns[column].add(arguments, to: group) }
        if kind == .countingIntegers, arguments[0].isInteger {
            recent.insert(arguments[0].int64, group, &rowCounts)
        }
    }

    func finish() -> FunctionResult {
        guard state != .failed else { return problems.report(GroupFunctions.tooManyGroups) }
        recent.add(to: &rowCounts)
        // More rows may follow.
        recent = RecentGroups()
        rows.table = self
        return .integer(Int64(rowCounts.count))
    }

    var count: Int { rowCounts.count }

    /// Adds the groups of a table with the same keys and functions.
    ///
    /// - Returns: false if there are too many.
    func add(_ other: GroupTable, hasOneGroup: Bool) -> Bool {
        for otherGroup in other.rowCounts.indices {
            let group = hasOneGroup ? 0 : keys.number(of: otherGroup, in: other.keys)
            if group == rowCounts.count { append() }
            if state == .failed { return false }
            rowCounts[group] += other.rowCounts[otherGroup]
            for column in columns.indices {
                columns[column].add(other.columns[column], otherGroup, to: group)
            }
        }
        return other.state != .failed
    }

    /// A key or, after the keys, a computed value; nil for a group that does not exist.
    func value(of group: Int, at index: Int) -> FunctionResult {
        guard rowCounts.indices.contains(group), index < keys.keyCount + outputs.count else {
            return .null
        }
        if index < keys.keyCount { return keys.value(of: group, at: index) }
        guard let column = outputs[index - keys.keyCount] else { return .integer(rowCounts[group]) }
        return columns[column].result(of: group, problems)
    }

    /// Reads the form with the first row.
    private func open(_ arguments: FunctionArguments) {
        var form = GroupForm(keyCount: arguments.count, functions: [.rows])
        if kind == .computing, arguments.count > 0 { form = GroupForm(arguments[0].string) }
        let firstKey = kind == .computing ? 1 : 0
        let keysMax = arguments.count - firstKey - form.functions.count { $0 != .rows }
        // Larder's own calls are always complete, but a view in a file may call anything.
        guard form.keyCount > 0, form.keyCount <= keysMax else {
            state = .failed
            return
        }
        open(form, firstKey: firstKey)
    }

    /// - Parameter firstKey: The index of the first key among the arguments.
    private func open(_ form: GroupForm, firstKey: Int) {
        state = .open
        keys = GroupKeys(count: form.keyCount)
        for function in form.functions {
            outputs.append(function == .rows ? nil : columns.count)
            guard function != .rows else { continue }
            let argumentIndex = firstKey + form.keyCount + columns.count
            columns.append(GroupColumn(function, argumentIndex: argumentIndex))
        }
    }

    /// Adds a group.
    private func append() {
        rowCounts.append(0)
        for column in columns.indices { columns[column].append() }
        let isFull =
            rowCounts.count > GroupFunctions.groupsMax
            || keys.byteCount + columns.reduce(0, { $0 + $1.byteCount })
                > GroupFunctions.byteCountMax
        if isFull { state = .failed }
    }
}
