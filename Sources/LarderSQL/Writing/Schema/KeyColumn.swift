import LarderModel

/// The column of a to-one relationship, with its statements.
package final class KeyColumn: Sendable {
    let column: String
    package let positionColumn: String?
    /// Reads the rows that hold a key, and their positions, in list order.
    let holders: SQL
    /// Reads the key that a row holds.
    let held: SQL
    /// Sets the key and the position of a row.
    let set: SQL
    /// Returns a row with the position if a given row holds a given key.
    let member: SQL
    /// The order of the inverse's lists; nil if the inverse is not ordered.
    let order: ListOrder?
    /// Counts the rows that hold a key.
    let count: SQL
    /// Returns a row if the object is stored and holds no key.
    let isMissing: SQL

    init(table: String, column: String, positionColumn: String?) {
        let (table, key): (SQL, SQL) = ("\(name: table)", "\(name: column)")
        let own: SQL = "\(name: Layout.keyColumn)"
        let position = positionColumn.map { "\(name: $0)" as SQL }
        self.column = column
        self.positionColumn = positionColumn
        holders = """
            SELECT \(own), \(position ?? "NULL") FROM \(table) WHERE \(key) = ? \
            ORDER BY \([position, own].compactMap(\.self))
            """
        held = "SELECT \(key) FROM \(table) WHERE \(own) = ?"
        set = """
            UPDATE \(table) SET \(key) = ?2\(position.map { ", \($0) = ?3" } ?? "") \
            WHERE \(own) = ?1
            """
        member =
            "SELECT \(position ?? "NULL") FROM \(table) WHERE \(key) = ?1 AND \(own) = ?2"
        order = position.map {
            ListOrder(table: table, owner: key, item: own, position: $0)
        }
        count = "SELECT count(*) FROM \(table) WHERE \(key) = ?"
        isMissing = "SELECT 1 FROM \(table) WHERE \(own) = ? AND \(key) IS NULL"
    }
}
