import LarderModel

/// Groups rows by hashing. SQLite itself would sort all rows.
///
/// `larder_groups(form, key, …, value, …)` aggregates all rows, stores the groups, and returns
/// their number. Its `form` is the number of keys and the functions, for example `2 rows sum`;
/// `rows` has no value among the arguments. `larder_count_groups(key, …)` only counts rows and
/// needs no form. `larder_count_integers(key)` does the same for a single column of integers. The
/// table `_groups(number)` has a row for each group, in no order: its keys in `g0`, `g1`, …, then
/// the computed values.
enum GroupFunctions {
    static let groups = "larder_groups"
    static let countGroups = "larder_count_groups"
    static let countIntegers = "larder_count_integers"
    static let table = "_groups"
    /// The maximum number of keys and computed values. SQLite allows a function some more
    /// arguments.
    static let columnsMax = 100

    /// SQLite groups a larger number by sorting on disk.
    static let groupsMax = 65_536
    static let byteCountMax = 16 << 20

    /// Ends the statement. The cursor then runs a statement that groups by sorting.
    static let tooManyGroups = LarderError(
        .resourceExhausted, "there are more groups than are kept in memory")

    static func register(
        on connection: Connection, _ problems: FunctionFaults
    ) throws(SQLiteError) -> GroupedRows {
        let rows = GroupedRows()
        try connection.registerAggregate(name: groups, argumentCount: -1) {
            rows.begin { GroupTable(rows, problems, .computing) }
        }
        try connection.registerAggregate(name: countGroups, argumentCount: -1) {
            rows.begin { GroupTable(rows, problems, .counting) }
        }
        try connection.registerAggregate(name: countIntegers, argumentCount: 1) {
            rows.begin { GroupTable(rows, problems, .countingIntegers) }
        }
        try connection.registerTable(name: table, columns: (0..<columnsMax).map(column)) { count in
            TableRows(count: Int(clamping: count.int64)) { row, column in
                rows.table?.value(of: row, at: column) ?? .null
            }
        }
        return rows
    }

    /// The column of the table with a key or, after the keys, with a computed value.
    static func column(_ index: Int) -> String { "g\(index)" }

    /// A call with its keys and values.
    ///
    /// - Parameter isIntegerColumn: Whether the only key is a column of integers.
    static func call(
        _ arguments: [SQL], keyCount: Int, _ functions: [GroupFunction], isIntegerColumn: Bool
    ) -> SQL {
        if functions == [.rows] {
            return "\(function: isIntegerColumn ? countIntegers : countGroups)(\(arguments))"
        }
        let form = GroupForm(keyCount: keyCount, functions: functions).text
        return "\(function: groups)(\(literal: form), \(arguments))"
    }
}

/// The number of keys and the functions over groups.
struct GroupForm: Hashable, Sendable {
    let keyCount: Int
    let functions: [GroupFunction]
    /// Whether all rows are one group, whatever its keys; it exists without rows, too.
    var hasOneGroup = false

    init(keyCount: Int, functions: [GroupFunction], hasOneGroup: Bool = false) {
        self.keyCount = keyCount
        self.functions = functions
        self.hasOneGroup = hasOneGroup
    }

    /// Reads a text, for example `2 rows sum`.
    init(_ text: String) {
        let words = text.split(separator: " ")
        keyCount = words.first.flatMap { Int($0) } ?? 0
        functions = words.dropFirst().compactMap { GroupFunction(rawValue: String($0)) }
    }

    var text: String {
        ([String(keyCount)] + functions.map(\.rawValue)).joined(separator: " ")
    }
}

/// The groups of the running statement. There is one per connection, which runs one such statement
/// at a time.
final class GroupedRows {
    /// nil if nothing was grouped.
    var table: GroupTable?
    /// Whether the rows of several statements, one after the other, are added to the same groups.
    var continues = false

    fileprivate func begin(_ make: () -> GroupTable) -> GroupTable {
        if continues, let table { return table }
        return make()
    }

    /// Releases the groups.
    func removeAll() { table = nil }
}
