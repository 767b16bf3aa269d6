/// The statements that read and change positions in the ordered lists of one relationship. The
/// positions are in the destinations' rows or in a join table.
final class ListOrder: Sendable {
    /// Reads the last position of an owner's list.
    let last: SQL
    /// Reads keys and positions after an item of an owner's list, in order, at most a number.
    let following: SQL
    /// Reads keys and positions before an item, in reverse order, at most a number.
    let preceding: SQL
    /// Sets the position of an item in an owner's list.
    let move: SQL

    /// - Parameters: The table, and its columns of owners, items and positions.
    init(table: SQL, owner: SQL, item: SQL, position: SQL) {
        let select: SQL = "SELECT \(item), \(position) FROM \(table) WHERE \(owner) = ?1"
        last = "SELECT max(\(position)) FROM \(table) WHERE \(owner) = ?"
        following = """
            \(select) AND (\(position), \(item)) > (?2, ?3) \
            ORDER BY \(position), \(item) LIMIT ?4
            """
        preceding = """
            \(select) AND (\(position), \(item)) < (?2, ?3) \
            ORDER BY \(position) DESC, \(item) DESC LIMIT ?4
            """
        move = "UPDATE \(table) SET \(position) = ?3 WHERE \(owner) = ?1 AND \(item) = ?2"
    }
}

/// An object in an ordered list.
struct ListItem: Hashable, Sendable {
    let key: Int64
    let position: Int64

    /// Before the first and after the last item. No object has these keys.
    static let start = ListItem(key: 0, position: .min)
    static let end = ListItem(key: .max, position: .max)
}
