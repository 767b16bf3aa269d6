import LarderModel

/// Groups of rows with their computed values, found by the hash of their keys.
final class GroupTable: Aggregation {
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
        rows.table = self
        return .integer(Int64(rowCounts.count))
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
        var keyCount = arguments.count
        var functions: [GroupFunction] = [.rows]
        if kind == .computing, arguments.count > 0 {
            let words = arguments[0].string.split(separator: " ")
            keyCount = words.first.flatMap { Int($0) } ?? 0
            functions = words.dropFirst().compactMap { GroupFunction(rawValue: String($0)) }
        }
        let firstKey = kind == .computing ? 1 : 0
        let keysMax = arguments.count - firstKey - functions.count { $0 != .rows }
        // Larder's own calls are always complete, but a view in a file may call anything.
        guard keyCount > 0, keyCount <= keysMax else {
            state = .failed
            return
        }
        state = .open
        keys = GroupKeys(count: keyCount)
        for function in functions {
            outputs.append(function == .rows ? nil : columns.count)
            guard function != .rows else { continue }
            let argumentIndex = firstKey + keyCount + columns.count
            columns.append(GroupColumn(function, argumentIndex: argumentIndex))
        }
    }

    /// Adds a group.
    private func append() {
        rowCounts.append(0)
        for column in columns.indices { columns[column].append() }
        let isFull =
            rowCounts.count > GroupFunctions.groupsMax
            || keys.byteCount > GroupFunctions.keyBytesMax
        if isFull { state = .failed }
    }
}
