/// Where the keys of a to-many are, and their order.
struct PlanList: Hashable, Sendable {
    let table: String
    /// The column with the key of the object to which the list belongs.
    let ownerColumn: String
    /// The column with the keys in the list.
    let keyColumn: String
    /// The entity of the listed objects, or a common ancestor of their entities.
    let entityName: String
    /// The table with the entities of the objects; nil if all are of one entity.
    let entityTable: String?
    /// Reads the keys of one object's list, perhaps each with the name of its entity. They have the
    /// order of the list, or their own if it has none. The parameter is the object's key.
    let statement: SQL
    /// Reads the lists of many objects: the object's index in the JSON array of keys that is the
    /// parameter, a key, and perhaps an entity. Object by object, each list in the order of
    /// ``statement``.
    let statementForMany: SQL

    init(_ link: Link, of entityName: String, entityTable: String?) {
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
        let key: SQL = "\(name: keyColumn)"
        statement = """
            SELECT \(key)\(entity("\(name: table).\(key)")) FROM \(name: table) \
            WHERE \(name: ownerColumn) = ? \
            ORDER BY \(positionColumn.map { "\(name: $0), \(key)" } ?? key)
            """
        let listKey: SQL = "l.\(key)"
        statementForMany = """
            SELECT o.key, \(listKey)\(entity(listKey)) FROM json_each(?) AS o \
            CROSS JOIN \(name: table) AS l ON l.\(name: ownerColumn) = o.value \
            ORDER BY o.key, \(positionColumn.map { "l.\(name: $0), \(listKey)" } ?? listKey)
            """
    }
}
