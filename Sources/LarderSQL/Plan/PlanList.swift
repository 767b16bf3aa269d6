import LarderModel

/// Where the keys of a to-many are, and their order.
package struct PlanList: Hashable, Sendable {
    package let table: String
    /// The column with the key of the object to which the list belongs.
    let ownerColumn: String
    /// The column with the keys in the list.
    package let keyColumn: String
    /// The entity of the listed objects, or a common ancestor of their entities.
    package let entityName: String
    /// The table with the entities of the objects; nil if all are of one entity.
    package let entityTable: String?
    /// Reads the keys of one object's list, perhaps each with the name of its entity. They have the
    /// order of the list, or their own if it has none.
    package let statement: KeyStatement
    /// Reads the lists of many objects: the object's index in the JSON array of keys, a key, and
    /// perhaps an entity. Object by object, each list in the order of ``statement``.
    package let statementForMany: KeyStatement

    /// The objects that the user may see: rows of an alias of a table that meet a condition.
    package struct VisibleObjects {
        package let table: String
        package let alias: Int
        package let condition: SQL

        /// The condition that the object with a key is among them.
        package func has(_ key: SQL) -> SQL {
            """
            EXISTS (SELECT 1 FROM \(name: table) AS t\(alias) \
            WHERE t\(alias).\(name: Layout.keyColumn) = \(key) AND \(condition))
            """
        }
    }

    /// - Parameter visible: nil if the user may see all objects.
    package init(
        _ link: Link, of entityName: String, entityTable: String?, visible: VisibleObjects?,
        _ converter: ValueConverter
    ) throws(LarderError) {
        self.entityName = entityName
        self.entityTable = entityTable
        let positionColumn: String?
        switch link {
        case .inverseColumn(let table, let column, let position):
            (self.table, ownerColumn, keyColumn) = (table, column, Layout.keyColumn)
            positionColumn = position
        case .join(let table, let own, let other, let position):
            (self.table, ownerColumn, keyColumn) = (table, own, other)
            positionColumn = position
        case .column: preconditionFailure("a to-many relationship has no column on its own side")
        }
        func entity(_ key: SQL) -> SQL {
            entityTable.map { ", \(SQLWriter.entity(of: key, in: $0))" } ?? ""
        }
        func condition(_ key: SQL) -> SQL { visible.map { " AND \($0.has(key))" } ?? "" }
        let key: SQL = "\(name: keyColumn)"
        let one: SQL = """
            SELECT \(key)\(entity("\(name: table).\(key)")) FROM \(name: table) \
            WHERE \(name: ownerColumn) = \(.key)\(condition("\(name: table).\(key)")) \
            ORDER BY \(positionColumn.map { "\(name: $0), \(key)" } ?? key)
            """
        let listKey: SQL = "l.\(key)"
        let (keys, index) = converter.dialect.indexedKeys
        let many: SQL = """
            SELECT \(index), \(listKey)\(entity(listKey)) FROM \(keys) \
            \(converter.dialect.orderedJoin) \(name: table) AS l \
            ON l.\(name: ownerColumn) = o.value\
            \(condition(listKey)) \
            ORDER BY o.key, \(positionColumn.map { "l.\(name: $0), \(listKey)" } ?? listKey)
            """
        statement = try KeyStatement(one, converter)
        statementForMany = try KeyStatement(many, converter)
    }
}
