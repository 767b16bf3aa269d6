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
    let duplicate: SQL
    /// Finds the object with given values.
    let match: SQL

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
        let (table, key): (SQL, SQL) = ("\(name: table)", "\(name: Layout.keyColumn)")
        let isOfEntity = declarer.entityNames.map { names in
            let list = names.map { "\(literal: $0)" as SQL }
            return "\(name: Layout.entityColumn) IN (\(list))" as SQL
        }
        let equal = columns.map { "other.\(name: $0) = own.\(name: $0)" as SQL }
        let given = columns.map { "\(name: $0) = ?" as SQL }
        self.names = names
        self.properties = properties
        duplicate = """
            SELECT other.\(key) FROM \(table) AS own CROSS JOIN \(table) AS other \
            WHERE own.\(key) = ?1 AND other.\(key) <> ?1 AND \(equal, separator: " AND ")\
            \(isOfEntity.map { " AND +other.\($0)" } ?? "") LIMIT 1
            """
        match = """
            SELECT \(key) FROM \(table) WHERE \(given, separator: " AND ")\
            \(isOfEntity.map { " AND +\($0)" } ?? "") LIMIT 1
            """
    }
}
