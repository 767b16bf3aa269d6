import LarderModel

/// A uniqueness constraint, with the statements that find objects with equal values. nil equals
/// nothing: a constraint applies to objects that have all its values.
final class StoredConstraint: Sendable {
    let names: [String]
    /// The entity that declares it.
    let declarerNumber: Int
    let properties: [StoredEntity.Property]
    /// The attribute of the UNIQUE index. nil if the constraint's index permits equal values, which
    /// are then found at the end of a change set.
    let uniqueAttribute: Int?
    /// Finds another object with the values of an object.
    let duplicate: SQLText
    /// Finds the object with given values.
    let match: SQLText

    init(
        _ names: [String], _ declarer: EntityLayout.Declarer, table: String,
        properties: [StoredEntity.Property], columns: [String]
    ) {
        if declarer.isUniqueIndex, case .attribute(let number)? = properties.first {
            uniqueAttribute = number
        } else {
            uniqueAttribute = nil
        }
        declarerNumber = declarer.number
        let (table, key) = (SQL.quoted(table), SQL.quoted(Layout.keyColumn))
        let isOfEntity = declarer.entityNames.map { names in
            let list = names.map { "'\($0)'" }.joined(separator: ", ")
            return "\(SQL.quoted(Layout.entityColumn)) IN (\(list))"
        }
        let equal = columns.map(SQL.quoted).map { "other.\($0) = own.\($0)" }
        let given = columns.map(SQL.quoted).map { "\($0) = ?" }
        self.names = names
        self.properties = properties
        duplicate = SQLText(
            "SELECT other.\(key) FROM \(table) AS own CROSS JOIN \(table) AS other "
                + "WHERE own.\(key) = ?1 AND other.\(key) <> ?1 "
                + "AND \(equal.joined(separator: " AND "))"
                + "\(isOfEntity.map { " AND +other.\($0)" } ?? "") LIMIT 1")
        match = SQLText(
            "SELECT \(key) FROM \(table) WHERE \(given.joined(separator: " AND "))"
                + "\(isOfEntity.map { " AND +\($0)" } ?? "") LIMIT 1")
    }
}
