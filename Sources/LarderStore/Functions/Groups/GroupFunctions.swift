import LarderModel

/// Groups by hashing, where SQLite would sort all rows to find those that belong together.
///
/// `larder_groups(form, key, …, value, …)` runs over all rows, keeps the groups, and gives
/// their number; its `form` says how many keys there are and what is computed: `2 rows sum`, of
/// which only `sum` has a value among the arguments. `larder_count_groups(key, …)` does so where
/// only rows are counted, without a form to be read for each row. From that number the table
/// `_groups` has a row for each group, in no order: `g0`, `g1`, … are its keys, and behind them what
/// was computed.
enum GroupFunctions {
    static let groups = "larder_groups"
    static let countGroups = "larder_count_groups"
    static let table = "_groups"
    /// How many keys and computed values there may be: SQLite allows a function some more
    /// arguments.
    static let columnsMax = 100

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
            Grouping(rows, faults, hasForm: true)
        }
        try connection.registerAggregate(name: countGroups, argumentCount: -1) {
            Grouping(rows, faults, hasForm: false)
        }
        try connection.registerTable(name: table, columns: (0..<columnsMax).map(column)) {
            rows.table?.value(of: $0, at: $1, faults) ?? .null
        }
        return rows
    }

    /// The column of the table with a key, or behind the keys with a computed value.
    static func column(_ place: Int) -> String { "g\(place)" }

    /// The beginning of a call, up to its first key.
    static func call(keyCount: Int, _ functions: [GroupFunction]) -> String {
        if functions == [.rows] { return "\(countGroups)(" }
        let form = ([String(keyCount)] + functions.map(\.rawValue)).joined(separator: " ")
        return "\(groups)('\(form)', "
    }
}

/// The groups of the statement that runs. One a connection, which runs one such at a time.
final class GroupedRows {
    /// nil where nothing was grouped.
    fileprivate var table: GroupTable?

    /// Forgets them.
    func removeAll() { table = nil }
}

private final class Grouping: Aggregation {
    private let rows: GroupedRows
    private let faults: FunctionFaults
    private let hasForm: Bool
    /// Unchecked: it is touched by one call of SQLite at a time, and the check of each access would
    /// take a sixth of the time.
    @exclusivity(unchecked) private var table: GroupTable?

    init(_ rows: GroupedRows, _ faults: FunctionFaults, hasForm: Bool) {
        self.rows = rows
        self.faults = faults
        self.hasForm = hasForm
    }

    func step(_ arguments: FunctionArguments) {
        if table == nil { table = makeTable(arguments) }
        table?.add(arguments)
    }

    func finish() -> FunctionResult {
        guard let table else { return .integer(0) }
        self.table = nil
        guard !table.isFull else { return faults.report(GroupFunctions.tooManyGroups) }
        rows.table = table
        return .integer(Int64(table.count))
    }

    private func makeTable(_ arguments: FunctionArguments) -> GroupTable {
        guard hasForm else {
            return GroupTable(
                keyCount: arguments.count, firstKey: 0, [GroupColumn(.rows, ofValuesAt: 0)])
        }
        let words = arguments[0].string.split(separator: " ")
        let keyCount = words.first.flatMap { Int($0) } ?? 0
        var place = 1 + keyCount
        var columns: [GroupColumn] = []
        for function in words.dropFirst().compactMap({ GroupFunction(rawValue: String($0)) }) {
            columns.append(GroupColumn(function, ofValuesAt: place))
            if function != .rows { place += 1 }
        }
        return GroupTable(keyCount: keyCount, firstKey: 1, columns)
    }
}
