import LarderModel

/// Groups by hashing, where SQLite would sort all rows to find those that belong together.
///
/// `larder_groups(form, key, …, value, …)` runs over all rows, keeps the groups, and gives their
/// number; its `form` says how many keys there are and what is computed: `2 rows sum`, of which only
/// `sum` has a value among the arguments. After it
/// `larder_group(number, place)` gives a group's keys and then its computed values.
enum GroupFunctions {
    static let groups = "larder_groups"
    static let group = "larder_group"

    /// More than these are left to SQLite, which sorts on disk.
    static let groupsMax = 65_536
    static let keptBytesMax = 16 << 20

    /// Ends the statement; what else groups has to be asked then.
    static let tooManyGroups = LarderError(
        .resourceExhausted, "there are more groups than are kept in memory")

    static func register(
        on connection: Connection, _ faults: FunctionFaults
    ) throws(SQLiteError) -> GroupedRows {
        let rows = GroupedRows()
        try connection.registerAggregate(name: groups, argumentCount: -1) {
            Grouping(rows, faults)
        }
        try connection.registerScalar(name: group, argumentCount: 2, deterministic: false) {
            rows.value(of: Int($0[0].int64), at: Int($0[1].int64), faults)
        }
        return rows
    }

    static func form(keyCount: Int, _ functions: [GroupFunction]) -> String {
        ([String(keyCount)] + functions.map(\.rawValue)).joined(separator: " ")
    }
}

/// The groups of the statement that runs. One a connection, which runs one such at a time.
final class GroupedRows {
    fileprivate var keys = GroupKeys(count: 0)
    fileprivate var columns: [any GroupColumn] = []
    fileprivate var keyCount = 0

    /// Forgets them.
    func removeAll() {
        keys = GroupKeys(count: 0)
        columns = []
        keyCount = 0
    }

    fileprivate func value(
        of number: Int, at place: Int, _ faults: FunctionFaults
    ) -> FunctionResult {
        guard number >= 0, number < keys.count, place >= 0, place < keyCount + columns.count else {
            return .error("there is no such group")
        }
        return place < keyCount
            ? keys.value(of: number, at: place)
            : columns[place - keyCount].result(of: number, faults)
    }
}

private final class Grouping: Aggregation {
    private let rows: GroupedRows
    private let faults: FunctionFaults
    private var keys = GroupKeys(count: 0)
    private var keyCount = 0
    private var groupCount = 0
    private var columns: [any GroupColumn] = []
    private var isFull = false

    init(_ rows: GroupedRows, _ faults: FunctionFaults) {
        self.rows = rows
        self.faults = faults
    }

    func step(_ arguments: FunctionArguments) {
        if keyCount == 0 { begin(form: arguments[0].string) }
        if isFull { return }
        let group = keys.number(of: arguments, first: 1)
        if group == groupCount { append() }
        for column in columns { column.add(arguments, to: group) }
    }

    func finish() -> FunctionResult {
        guard !isFull else { return faults.report(GroupFunctions.tooManyGroups) }
        rows.keys = keys
        rows.keyCount = keyCount
        rows.columns = columns
        return .integer(Int64(groupCount))
    }

    private func begin(form: String) {
        let words = form.split(separator: " ")
        guard let count = words.first.flatMap({ Int($0) }), count > 0 else {
            preconditionFailure("the planner writes the form")
        }
        keyCount = count
        keys = GroupKeys(count: count)
        var place = 1 + keyCount
        for function in words.dropFirst().compactMap({ GroupFunction(rawValue: String($0)) }) {
            columns.append(function.column(ofValuesAt: place))
            if function != .rows { place += 1 }
        }
    }

    private func append() {
        groupCount += 1
        for column in columns { column.append() }
        isFull =
            groupCount > GroupFunctions.groupsMax
            || keys.byteCount > GroupFunctions.keptBytesMax
    }
}
