import LarderModel

/// One side of a join table, with its statements.
package final class JoinTable: Sendable {
    /// Reads the destinations of an object and their positions, in list order.
    let others: SQL
    /// Reads the objects that are linked to a destination.
    let owners: SQL
    let count: SQL
    /// Returns a row with the position if an object is linked to a destination.
    let member: SQL
    /// Its parameters are the ``addedValues(_:_:_:_:)``.
    let add: SQL
    let remove: SQL
    /// Removes all pairs with an object on this side.
    let removeAll: SQL
    /// Removes all pairs with an object on the other side.
    let removeAllInverse: SQL
    /// The order of this side's lists, and of the destinations' lists; nil for lists without order.
    let order: ListOrder?
    let inverseOrder: ListOrder?
    private let hasInversePosition: Bool

    /// - Parameters:
    ///   - own: The column of this side's keys.
    ///   - positionColumn: The column of the destination's position in this side's list.
    ///   - inversePositionColumn: The column of this side's position in the destination's list.
    ///   - isOwnInverse: Whether each direction of a link has its own row.
    init(
        table: String, own: String, other: String, positionColumn: String?,
        inversePositionColumn: String?, isOwnInverse: Bool
    ) {
        let (table, own, other): (SQL, SQL, SQL) = (
            "\(name: table)", "\(name: own)", "\(name: other)"
        )
        let position = positionColumn.map { "\(name: $0)" as SQL }
        let inversePosition = inversePositionColumn.map { "\(name: $0)" as SQL }
        var columns = [own, other]
        columns += [position, inversePosition].compactMap(\.self)
        let order = [position, other].compactMap(\.self)
        others = """
            SELECT \(other), \(position ?? "NULL") FROM \(table) WHERE \(own) = ? ORDER BY \(order)
            """
        owners = "SELECT \(own) FROM \(table) WHERE \(other) = ?"
        count = "SELECT count(*) FROM \(table) WHERE \(own) = ?"
        add = "INSERT INTO \(table) (\(columns)) VALUES (\(columns.map { _ in "?" as SQL }))"
        member =
            "SELECT \(position ?? "NULL") FROM \(table) WHERE \(own) = ?1 AND \(other) = ?2"
        remove = "DELETE FROM \(table) WHERE \(own) = ? AND \(other) = ?"
        removeAll = "DELETE FROM \(table) WHERE \(own) = ?"
        removeAllInverse = "DELETE FROM \(table) WHERE \(other) = ?"
        hasInversePosition = inversePosition != nil
        self.order = position.map {
            ListOrder(table: table, owner: own, item: other, position: $0)
        }
        inverseOrder =
            isOwnInverse
            ? self.order
            : inversePosition.map {
                ListOrder(table: table, owner: other, item: own, position: $0)
            }
    }

    /// The values of a new pair: keys, and positions in the lists that are ordered.
    ///
    /// - Parameters:
    ///   - position: The position of `other` in this side's list.
    ///   - inversePosition: The position of `own` in the other side's list.
    func addedValues(
        _ own: Int64, _ other: Int64, _ position: Int64?, _ inversePosition: Int64?
    ) -> [SQLValue] {
        var values: [SQLValue] = [.integer(own), .integer(other)]
        if order != nil { values.append(position.map { .integer($0) } ?? .null) }
        if hasInversePosition { values.append(inversePosition.map { .integer($0) } ?? .null) }
        return values
    }
}
