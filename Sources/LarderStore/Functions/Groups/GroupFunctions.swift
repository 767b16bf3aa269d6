import LarderModel
import LarderSQL

extension GroupFunctions {
    /// SQLite groups a larger number by sorting on disk.
    static let groupsMax = 65_536
    static let byteCountMax = 16 << 20

    /// Ends the statement. The cursor then runs a statement that groups by sorting.
    static let tooManyGroups = LarderError(
        .resourceExhausted, "there are more groups than are kept in memory")

    static func register(
        on connection: Connection, _ problems: FunctionFaults
    ) throws(SQLError) -> GroupedRows {
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
