import LarderModel

/// The statements that insert rows of an entity.
final class InsertStatements: Sendable {
    private static let rowsMax = 64
    private static let parametersMax = 1_024

    let one: SQLText
    /// Inserts ``rowsAtOnce`` rows, whose values follow each other row by row. Starting and ending
    /// a statement costs as much as several rows.
    let several: SQLText
    /// The number of values in a row.
    let parameterCount: Int
    let rowsAtOnce: Int

    /// - Parameters:
    ///   - table: In quotation marks, like the columns.
    ///   - entityName: The name of the entity, if the table has objects of several.
    init(table: String, columns: [String], entityName: String?) {
        let version = SQL.quoted(Layout.versionColumn)
        let entityColumn = entityName.map { _ in SQL.quoted(Layout.entityColumn) }
        let names = columns + [version] + [entityColumn].compactMap(\.self)
        let values =
            columns.map { _ in "?" } + ["1"] + [entityName.map { "'\($0)'" }].compactMap(\.self)
        let row = "(\(values.joined(separator: ", ")))"
        let text = "INSERT INTO \(table) (\(names.joined(separator: ", "))) VALUES "
        parameterCount = columns.count
        rowsAtOnce = max(1, min(Self.rowsMax, Self.parametersMax / columns.count))
        one = SQLText(text + row)
        several = SQLText(
            text + Array(repeating: row, count: rowsAtOnce).joined(separator: ", "))
    }
}
