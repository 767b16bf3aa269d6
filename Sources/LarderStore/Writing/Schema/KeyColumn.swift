import LarderModel

/// The column of a to-one relationship, with its statements.
final class KeyColumn: Sendable {
    let column: String
    let positionColumn: String?
    /// Reads the rows that hold a key, and their positions, in list order.
    let holders: SQLText
    /// Reads the key that a row holds.
    let held: SQLText
    /// Sets the key and the position of a row.
    let set: SQLText
    /// Returns a row with the position if a given row holds a given key.
    let member: SQLText
    /// The order of the inverse's lists; nil if the inverse is not ordered.
    let order: ListOrder?
    /// Counts the rows that hold a key.
    let count: SQLText
    /// Returns a row if the object is stored and holds no key.
    let isMissing: SQLText

    init(table: String, column: String, positionColumn: String?) {
        let (table, key) = (SQL.quoted(table), SQL.quoted(column))
        let own = SQL.quoted(Layout.keyColumn)
        let position = positionColumn.map(SQL.quoted)
        self.column = column
        self.positionColumn = positionColumn
        holders = SQLText(
            "SELECT \(own), \(position ?? "NULL") FROM \(table) WHERE \(key) = ? ORDER BY "
                + (position.map { "\($0), " } ?? "") + own)
        held = SQLText("SELECT \(key) FROM \(table) WHERE \(own) = ?")
        set = SQLText(
            "UPDATE \(table) SET \(key) = ?2\(position.map { ", \($0) = ?3" } ?? "") "
                + "WHERE \(own) = ?1")
        member = SQLText(
            "SELECT \(position ?? "NULL") FROM \(table) WHERE \(key) = ?1 AND \(own) = ?2")
        order = position.map {
            ListOrder(table: table, owner: key, item: own, position: $0)
        }
        count = SQLText("SELECT count(*) FROM \(table) WHERE \(key) = ?")
        isMissing = SQLText("SELECT 1 FROM \(table) WHERE \(own) = ? AND \(key) IS NULL")
    }
}
