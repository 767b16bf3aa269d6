import LarderModel

/// One side of a join table, with its statements.
final class JoinTable: Sendable {
    /// Reads the destinations of an object and their positions, in list order.
    let others: SQLText
    /// Reads the objects that are linked to a destination.
    let owners: SQLText
    let count: SQLText
    /// Returns a row with the position if an object is linked to a destination.
    let member: SQLText
    let add: SQLText
    let remove: SQLText
    /// Removes all pairs with an object on this side.
    let removeAll: SQLText
    /// Removes all pairs with an object on the other side.
    let removeAllInverse: SQLText
    /// The order of this side's lists, and of the destinations' lists; nil for lists without order.
    let order: ListOrder?
    let inverseOrder: ListOrder?

    /// - Parameters:
    ///   - own: The column of this side's keys.
    ///   - positionColumn: The column of the destination's position in this side's list.
    ///   - inversePositionColumn: The column of this side's position in the destination's list.
    ///   - isOwnInverse: Whether each direction of a link has its own row.
    init(
        table: String, own: String, other: String, positionColumn: String?,
        inversePositionColumn: String?, isOwnInverse: Bool
    ) {
        let (table, own, other) = (SQL.quoted(table), SQL.quoted(own), SQL.quoted(other))
        let position = positionColumn.map(SQL.quoted)
        let inversePosition = inversePositionColumn.map(SQL.quoted)
        let columns = [own, other] + [position, inversePosition].compactMap(\.self)
        // ?3 is the position in this side's list, ?4 in the other's.
        let values =
            ["?1", "?2"] + (position.map { _ in ["?3"] } ?? [])
            + (inversePosition.map { _ in ["?4"] } ?? [])
        others = SQLText(
            "SELECT \(other), \(position ?? "NULL") FROM \(table) WHERE \(own) = ? ORDER BY "
                + (position.map { "\($0), " } ?? "") + other)
        owners = SQLText("SELECT \(own) FROM \(table) WHERE \(other) = ?")
        count = SQLText("SELECT count(*) FROM \(table) WHERE \(own) = ?")
        add = SQLText(
            "INSERT INTO \(table) (\(columns.joined(separator: ", "))) "
                + "VALUES (\(values.joined(separator: ", ")))")
        member = SQLText(
            "SELECT \(position ?? "NULL") FROM \(table) WHERE \(own) = ?1 AND \(other) = ?2")
        remove = SQLText("DELETE FROM \(table) WHERE \(own) = ? AND \(other) = ?")
        removeAll = SQLText("DELETE FROM \(table) WHERE \(own) = ?")
        removeAllInverse = SQLText("DELETE FROM \(table) WHERE \(other) = ?")
        order = position.map {
            ListOrder(table: table, owner: own, item: other, position: $0)
        }
        inverseOrder =
            isOwnInverse
            ? order
            : inversePosition.map {
                ListOrder(table: table, owner: other, item: own, position: $0)
            }
    }
}
