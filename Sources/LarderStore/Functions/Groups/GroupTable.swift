import LarderModel

/// Groups of rows and what is computed over each, found by hashing their keys.
final class GroupTable: Aggregation {
    private let rows: GroupedRows
    private let faults: FunctionFaults
    private let kind: Kind
    private var keys = GroupKeys(count: 0)
    /// How many rows each group has, apart from those that `recent` has.
    private var rowCounts: [Int64] = []
    private var recent = RecentGroups()
    /// What else is computed.
    private var columns: [GroupColumn] = []
    /// Where each output is among them; nil for the number of rows.
    private var outputs: [Int?] = []
    private var state = State.empty

    enum Kind {
        /// The first argument says what the others are.
        case computing
        /// All arguments are keys, and rows are counted.
        case counting
        /// The same with one key, an integer or nil.
        case countingIntegers
    }

    private enum State {
        /// No row has come.
        case empty
        case open
        /// There are more groups than are kept, or arguments are missing; the table means nothing.
        case failed
    }

    init(_ rows: GroupedRows, _ faults: FunctionFaults, _ kind: Kind) {
        self.rows = rows
        self.faults = faults
        self.kind = kind
    }

    /// - Parameter arguments: the form if there is one, the keys, the values.
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
        guard state != .failed else { return faults.report(GroupFunctions.tooManyGroups) }
        recent.add(to: &rowCounts)
        rows.table = self
        return .integer(Int64(rowCounts.count))
    }

    /// A key, or behind the keys what was computed; nil of a group that is not there.
    func value(of group: Int, at place: Int) -> FunctionResult {
        guard rowCounts.indices.contains(group), place < keys.keyCount + outputs.count else {
            return .null
        }
        if place < keys.keyCount { return keys.value(of: group, at: place) }
        guard let column = outputs[place - keys.keyCount] else { return .integer(rowCounts[group]) }
        return columns[column].result(of: group, faults)
    }

    /// With the first row.
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
        // Ours are all there. What a file's schema calls may be anything.
        guard keyCount > 0, keyCount <= keysMax else {
            state = .failed
            return
        }
        state = .open
        keys = GroupKeys(count: keyCount)
        for function in functions {
            outputs.append(function == .rows ? nil : columns.count)
            guard function != .rows else { continue }
            let place = firstKey + keyCount + columns.count
            columns.append(GroupColumn(function, ofValuesAt: place))
        }
    }

    /// Another group.
    private func append() {
        rowCounts.append(0)
        for column in columns.indices { columns[column].append() }
        let isFull =
            rowCounts.count > GroupFunctions.groupsMax
            || keys.byteCount > GroupFunctions.keptBytesMax
        if isFull { state = .failed }
    }
}
