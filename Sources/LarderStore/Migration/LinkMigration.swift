import LarderModel
import LarderSQL

/// A relationship whose links move to another column or join table.
///
/// The links are copied to a temporary table before the tables of the old layout change, and from
/// there to their new place.
struct LinkMigration: Sendable {
    /// `Article.category`.
    let name: String
    /// Where the links go.
    let link: Link
    /// Each selects links of the old store: the key of this side, the key of the other, the other's
    /// position in this side's list, and this side's position in the other's list.
    let origins: [SQL]
    /// The tables from which the origins read.
    let sourceTables: [String]
    /// The column of the position next to a key in a column.
    let positionColumn: String?
    let isOneToOne: Bool
    let isOrdered: Bool
    let isInverseOrdered: Bool

    /// The key of this side, of the other side, and the two positions.
    static let columns = ["own", "other", "own_position", "other_position"]

    /// - Parameter isFlipped: Whether the link is given from the other side.
    static func select(_ link: Link, inversePosition: String?, isFlipped: Bool) -> SQL {
        let key: SQL = "\(name: Layout.keyColumn)"
        func position(_ column: String?) -> SQL { column.map { "\(name: $0)" } ?? "NULL" }
        let (own, other, ownPosition, otherPosition, source): (SQL, SQL, SQL, SQL, SQL)
        switch link {
        case .column(let table, let column):
            (own, other) = (key, "\(name: column)")
            (ownPosition, otherPosition) = ("NULL", position(inversePosition))
            source = "\(name: table) WHERE \(name: column) IS NOT NULL"
        case .inverseColumn(let table, let column, let positionColumn):
            (own, other) = ("\(name: column)", key)
            (ownPosition, otherPosition) = (position(positionColumn), "NULL")
            source = "\(name: table) WHERE \(name: column) IS NOT NULL"
        case .join(let table, let ownColumn, let otherColumn, let positionColumn):
            (own, other) = ("\(name: ownColumn)", "\(name: otherColumn)")
            (ownPosition, otherPosition) = (position(positionColumn), position(inversePosition))
            source = "\(name: table)"
        }
        return isFlipped
            ? "SELECT \(other), \(own), \(otherPosition), \(ownPosition) FROM \(source)"
            : "SELECT \(own), \(other), \(ownPosition), \(otherPosition) FROM \(source)"
    }

    /// The statement that fills the new place from a temporary table.
    func fillStatement(from stash: SQL) -> SQL {
        let key: SQL = "\(name: Layout.keyColumn)"
        // A list that was not ordered gets the order of its keys.
        func position(_ column: SQL, of list: SQL, item: SQL, _ isOrdered: Bool) -> SQL {
            isOrdered
                ? """
                COALESCE(\(column), row_number() OVER (PARTITION BY \(list) ORDER BY \(item)) \
                * \(ListPosition.gap))
                """ : "NULL"
        }
        let ownPosition = position("own_position", of: "own", item: "other", isOrdered)
        let otherPosition = position(
            "other_position", of: "other", item: "own", isInverseOrdered)
        let links: SQL = """
            SELECT own, other, \(ownPosition) AS own_position, \
            \(otherPosition) AS other_position FROM \(stash)
            """
        switch link {
        case .column(let table, let column):
            let position: SQL = positionColumn.map { ", \(name: $0) = other_position" } ?? ""
            return """
                UPDATE \(name: table) SET \(name: column) = other\(position) \
                FROM (\(links)) AS link WHERE link.own = \(name: table).\(key)
                """
        case .join(let table, let own, let other, let positionColumn):
            var columns = [own, other]
            var values: [SQL] = ["own", "other"]
            if let positionColumn {
                columns.append(positionColumn)
                values.append("own_position")
            }
            let inverseColumn = "\(own)_position"
            if isInverseOrdered, inverseColumn != positionColumn {
                columns.append(inverseColumn)
                values.append("other_position")
            }
            return """
                INSERT OR IGNORE INTO \(name: table) (\(names: columns)) \
                SELECT \(values) FROM (\(links)) ORDER BY own, other
                """
        case .inverseColumn: preconditionFailure("links are planned at the side with the column")
        }
    }
}
