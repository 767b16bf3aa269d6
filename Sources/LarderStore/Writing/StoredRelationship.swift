import LarderModel

/// A relationship with the statements that read and change its links.
final class StoredRelationship: Sendable {
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
    let isRequired: Bool
    /// Whether the number of its objects is bound.
    let isCounted: Bool

    init(
        number: Int, entityNumber: Int, destinationNumber: Int, inverseNumber: Int?,
        entityName: String, relationship: Relationship, isOneToOne: Bool, storage: Storage
    ) {
        self.number = number
        self.entityNumber = entityNumber
        self.destinationNumber = destinationNumber
        self.inverseNumber = inverseNumber
        self.entityName = entityName
        self.relationship = relationship
        qualifiedName = "\(entityName).\(relationship.name)"
        self.isOneToOne = isOneToOne
        self.storage = storage
        isRequired = !relationship.isToMany && !relationship.isOptional
        isCounted =
            relationship.isToMany
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
final class KeyColumn: Sendable {
    let column: String
    let positionColumn: String?
    /// The rows that hold a key and their positions, in that order.
    let holders: SQLText
    /// The key that a row holds.
    let held: SQLText
    /// Sets key and position of a row.
    let set: SQLText
    /// A row if this key is held by this row.
    let member: SQLText
    /// In the lists of the inverse; nil if that is not ordered.
    let order: ListOrder?
    /// How many rows hold a key.
    let count: SQLText
    /// A row if the object exists and holds none.
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

/// The statements for one side of a join table.
final class JoinTable: Sendable {
    /// The destinations of an object and their positions, in that order.
    let others: SQLText
    /// The objects that have an object on the other side.
    let owners: SQLText
    let count: SQLText
    /// A row if this object has that destination.
    let member: SQLText
    let add: SQLText
    let remove: SQLText
    /// Every pair with an object on this side, and on the other.
    let removeAll: SQLText
    let removeAllInverse: SQLText
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
