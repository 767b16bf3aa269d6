import LarderModel

/// The statements that insert rows of an entity.
package final class InsertStatements: Sendable {
    private static let rowsMax = 64
    private static let parametersMax = 1_024

    package let one: SQL
    /// Inserts ``rowsAtOnce`` rows, whose values follow each other row by row. Starting and ending
    /// a statement costs as much as several rows.
    ///
    /// After an error it keeps the rows before the one that failed (OR FAIL). To undo them, SQLite
    /// would copy each page that the statement changes to a file: for an index in another order
    /// than that of the rows, several times as many bytes as the rows have.
    package let several: SQL
    /// The number of values in a row.
    package let parameterCount: Int
    package let rowsAtOnce: Int

    /// - Parameters:
    ///   - entityName: The name of the entity, if the table has objects of several.
    init(table: SQL, columns: [String], entityName: String?, _ dialect: SQLDialect) {
        var names = columns + [Layout.versionColumn]
        var values: [SQL] = columns.map { _ in "?" } + ["1"]
        if let entityName {
            names.append(Layout.entityColumn)
            values.append("\(literal: entityName)")
        }
        let row: SQL = "(\(values))"
        let target: SQL = "INTO \(table) (\(names: names)) VALUES"
        parameterCount = columns.count
        rowsAtOnce = max(1, min(Self.rowsMax, Self.parametersMax / columns.count))
        one = "INSERT \(target) \(row)"
        several = "\(dialect.insertSeveral) \(target) \(Array(repeating: row, count: rowsAtOnce))"
    }
}
