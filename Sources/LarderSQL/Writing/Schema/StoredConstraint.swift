import LarderModel

/// A uniqueness constraint, with the statements that find objects with equal values. nil equals
/// nothing: a constraint applies to objects that have all its values.
package final class StoredConstraint: Sendable {
    let names: [String]
    /// The entity that declares it.
    package let declarerNumber: Int
    let properties: [StoredEntity.Property]
    /// The attribute of the UNIQUE index. nil if the constraint's index permits equal values, which
    /// are then found at the end of a change set.
    package let uniqueAttribute: Int?
    /// Whether values that differ only in case and accents are equal. It has one property then.
    let isInsensitive: Bool
    /// Finds another object with the values of an object.
    let duplicate: SQL
    /// Finds the object with given values.
    package let match: SQL
    /// Reads the values of an object.
    let values: SQL

    init(
        _ names: [String], _ declarer: EntityLayout.Declarer, table: String,
        properties: [StoredEntity.Property], columns: [String], _ dialect: SQLDialect
    ) {
        if declarer.isUniqueIndex, case .attribute(let number)? = properties.first {
            uniqueAttribute = number
        } else {
            uniqueAttribute = nil
        }
        declarerNumber = declarer.number
        let (table, key): (SQL, SQL) = ("\(name: table)", "\(name: Layout.keyColumn)")
        func isOfEntity(_ table: SQL) -> SQL {
            guard let names = declarer.entityNames else { return "" }
            let list = names.map { "\(literal: $0)" as SQL }
            let column: SQL = "\(table)\(name: Layout.entityColumn)"
            return " AND \(dialect.hidden(column)) IN (\(list))"
        }
        let isInsensitive = declarer.isInsensitive
        func compared(_ value: SQL) -> SQL {
            isInsensitive ? "\(function: IndexFunctions.canonical)(\(value))" : value
        }
        let equal = columns.map {
            "\(compared("other.\(name: $0)")) = \(compared("own.\(name: $0)"))" as SQL
        }
        let given = columns.map { "\(compared("\(name: $0)")) = \(compared("?"))" as SQL }
        self.isInsensitive = isInsensitive
        self.names = names
        self.properties = properties
        duplicate = """
            SELECT other.\(key) FROM \(table) AS own CROSS JOIN \(table) AS other \
            WHERE own.\(key) = ?1 AND other.\(key) <> ?1 AND \(equal, separator: " AND ")\
            \(isOfEntity("other."))\(dialect.orderOfDuplicates("other.\(key)")) LIMIT 1
            """
        match = """
            SELECT \(key) FROM \(table) WHERE \(given, separator: " AND ")\
            \(isOfEntity(""))\(dialect.orderOfDuplicates(key)) LIMIT 1
            """
        values = "SELECT \(names: columns) FROM \(table) WHERE \(key) = ?"
    }

    /// The form of a value in which the constraint compares it.
    func compared(_ value: SQLValue) -> SQLValue {
        guard isInsensitive, case .text(let text) = value else { return value }
        return .text(StringFunctions.folded(text, .insensitive))
    }
}
