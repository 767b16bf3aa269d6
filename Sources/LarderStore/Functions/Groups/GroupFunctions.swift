import LarderModel

/// Groups by hashing, where SQLite would sort all rows to find those that belong together.
///
/// `larder_groups(form, key, …, value, …)` runs over all rows, keeps the groups, and gives
/// their number; its `form` says how many keys there are and what is computed: `2 rows sum`, of
/// which only `sum` has a value among the arguments. `larder_count_groups(key, …)` does so where
/// only rows are counted, without a form to be read for each row, and
/// `larder_count_integers(key)` where the only key is a column of integers. From that number the
/// table `_groups` has a row for each group, in no order: `g0`, `g1`, … are its keys, and behind
/// them what was computed.
enum GroupFunctions {
    static let groups = "larder_groups"
    static let countGroups = "larder_count_groups"
    static let countIntegers = "larder_count_integers"
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
            GroupTable(rows, faults, .computing)
        }
        try connection.registerAggregate(name: countGroups, argumentCount: -1) {
            GroupTable(rows, faults, .counting)
        }
        try connection.registerAggregate(name: countIntegers, argumentCount: 1) {
            GroupTable(rows, faults, .countingIntegers)
        }
        try connection.registerTable(name: table, columns: (0..<columnsMax).map(column)) {
            rows.table?.value(of: $0, at: $1) ?? .null
        }
        return rows
    }

    /// The column of the table with a key, or behind the keys with a computed value.
    static func column(_ place: Int) -> String { "g\(place)" }

    /// The beginning of a call, up to its first key.
    ///
    /// - Parameter isIntegerColumn: whether the only key is a column of integers.
    static func call(
        keyCount: Int, _ functions: [GroupFunction], isIntegerColumn: Bool
    ) -> String {
        if functions == [.rows] { return "\(isIntegerColumn ? countIntegers : countGroups)(" }
        let form = ([String(keyCount)] + functions.map(\.rawValue)).joined(separator: " ")
        return "\(groups)('\(form)', "
    }
}

/// The groups of the statement that runs. One a connection, which runs one such at a time.
final class GroupedRows {
    /// nil where nothing was grouped.
    var table: GroupTable?

    /// Forgets them.
    func removeAll() { table = nil }
}
