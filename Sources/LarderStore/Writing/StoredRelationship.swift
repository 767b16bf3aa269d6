import LarderModel

/// A relationship with the statements that read and change its links.
struct StoredRelationship: Sendable {
    enum Storage: Sendable {
        /// A to-one whose key is in the object's own row.
        case own(KeyColumn)
        /// The destinations' rows hold the key; `holder` is the inverse, whose storage is `own`.
        case inverse(holder: Int)
        case join(JoinTable)
    }

    /// Its place in ``WritingSchema/relationships``.
    let number: Int
    let entityNumber: Int
    let destinationNumber: Int
    /// The place of the relationship that leads back; its own for one that is its own inverse.
    let inverseNumber: Int?
    let entityName: String
    let relationship: Relationship
    /// `Article.category`.
    let qualifiedName: String
    let isOneToOne: Bool
    let storage: Storage

    var isOwnInverse: Bool { inverseNumber == number }
    var isRequired: Bool { !relationship.isToMany && !relationship.isOptional }
    /// Whether the number of its objects is bound.
    var isCounted: Bool {
        let relationship = relationship
        return relationship.isToMany
            && (!relationship.isOptional || relationship.minCount > 0 || relationship.maxCount > 0)
    }

    func fault(
        _ code: ErrorCode, _ message: String, _ rule: ChangeFault.Rule, uri: String? = nil
    ) -> ChangeFault {
        ChangeFault(
            code, message, entityName: entityName, propertyNames: [relationship.name], uri: uri,
            rule: rule)
    }
}

/// The statements for one column of keys.
struct KeyColumn: Sendable {
    let column: String
    let positionColumn: String?
    /// The rows that hold a key and their positions, in that order.
    let holders: String
    /// The key that a row holds.
    let held: String
    /// Sets key and position of a row.
    let set: String
    /// A row if this key is held by this row.
    let member: String
    /// In the lists of the inverse; nil if that is not ordered.
    let order: ListOrder?
    /// How many rows hold a key.
    let count: String
    /// A row if the object exists and holds none.
    let isMissing: String

    init(table: String, column: String, positionColumn: String?) {
        let (table, key) = (SQL.quoted(table), SQL.quoted(column))
        let own = SQL.quoted(Layout.keyColumn)
        let position = positionColumn.map(SQL.quoted)
        self.column = column
        self.positionColumn = positionColumn
        holders =
            "SELECT \(own), \(position ?? "NULL") FROM \(table) WHERE \(key) = ? ORDER BY "
            + (position.map { "\($0), " } ?? "") + own
        held = "SELECT \(key) FROM \(table) WHERE \(own) = ?"
        set =
            "UPDATE \(table) SET \(key) = ?2\(position.map { ", \($0) = ?3" } ?? "") "
            + "WHERE \(own) = ?1"
        member = "SELECT \(position ?? "NULL") FROM \(table) WHERE \(key) = ?1 AND \(own) = ?2"
        order = position.map {
            ListOrder(table: table, owner: key, item: own, position: $0)
        }
        count = "SELECT count(*) FROM \(table) WHERE \(key) = ?"
        isMissing = "SELECT 1 FROM \(table) WHERE \(own) = ? AND \(key) IS NULL"
    }
}

/// The statements for one side of a join table.
struct JoinTable: Sendable {
    /// The destinations of an object and their positions, in that order.
    let others: String
    /// The objects that have an object on the other side.
    let owners: String
    let count: String
    /// A row if this object has that destination.
    let member: String
    let add: String
    let remove: String
    /// Every pair with an object on this side, and on the other.
    let removeAll: String
    let removeAllInverse: String
    /// In this side's lists, and in the destinations' own; nil if they are not ordered.
    let order: ListOrder?
    let inverseOrder: ListOrder?

    /// - Parameters:
    ///   - own: The column of this side's keys.
    ///   - positionColumn: Of the destination in this side's list.
    ///   - inversePositionColumn: Of this side's object in the destination's list.
    ///   - isOwnInverse: The pairs of both directions are rows of their own.
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
        others =
            "SELECT \(other), \(position ?? "NULL") FROM \(table) WHERE \(own) = ? ORDER BY "
            + (position.map { "\($0), " } ?? "") + other
        owners = "SELECT \(own) FROM \(table) WHERE \(other) = ?"
        count = "SELECT count(*) FROM \(table) WHERE \(own) = ?"
        add =
            "INSERT INTO \(table) (\(columns.joined(separator: ", "))) "
            + "VALUES (\(values.joined(separator: ", ")))"
        member = "SELECT \(position ?? "NULL") FROM \(table) WHERE \(own) = ?1 AND \(other) = ?2"
        remove = "DELETE FROM \(table) WHERE \(own) = ? AND \(other) = ?"
        removeAll = "DELETE FROM \(table) WHERE \(own) = ?"
        removeAllInverse = "DELETE FROM \(table) WHERE \(other) = ?"
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
