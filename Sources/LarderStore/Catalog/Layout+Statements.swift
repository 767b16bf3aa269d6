import LarderModel

extension Layout {
    /// The statements that create every table and index, in an order in which they can run.
    var createStatements: [String] {
        schema.entities.map(createTable) + joinTables.map(createJoinTable)
            + schema.entities.flatMap(createIndexes) + joinTables.map(createJoinIndex)
            + createOrderIndexes
    }

    private func createTable(for entity: Entity) -> String {
        var columns = [
            "\(SQL.quoted(Layout.keyColumn)) INTEGER PRIMARY KEY AUTOINCREMENT",
            "\(SQL.quoted(Layout.versionColumn)) INTEGER NOT NULL",
        ]
        columns += entity.attributes.map {
            "\(SQL.quoted(column(for: $0))) \(Layout.columnType(of: $0.type))"
        }
        for (relationship, column) in storedToOnes(of: entity) {
            columns.append("\(SQL.quoted(column)) INTEGER")
            if let position = positionColumn(beside: relationship) {
                columns.append("\(SQL.quoted(position)) INTEGER")
            }
        }
        return "CREATE TABLE \(SQL.quoted(table(for: entity))) (\(columns.joined(separator: ", ")))"
    }

    private func createIndexes(for entity: Entity) -> [String] {
        let table = SQL.quoted(table(for: entity))
        func index(_ name: String, unique: Bool, on columns: [String]) -> String {
            let list = columns.map(SQL.quoted).joined(separator: ", ")
            return
                "CREATE \(unique ? "UNIQUE " : "")INDEX \(SQL.quoted(name)) ON \(table) (\(list))"
        }
        var statements: [String] = []
        for (relationship, column) in storedToOnes(of: entity) {
            // The position comes second, so that an ordered list is read in order.
            let columns = [column] + [positionColumn(beside: relationship)].compactMap(\.self)
            statements.append(
                index(
                    "_link.\(entity.name).\(relationship.name)",
                    unique: isOneToOne(relationship), on: columns))
        }
        for (number, names) in entity.uniquenessConstraints.enumerated() {
            let columns = columns(named: names, of: entity)
            let isUnique = Layout.isUniqueIndex(names, of: entity)
            statements.append(
                index("_unique.\(entity.name).\(number)", unique: isUnique, on: columns))
        }
        for (number, names) in entity.indexes.enumerated() {
            let columns = columns(named: names, of: entity)
            statements.append(index("_index.\(entity.name).\(number)", unique: false, on: columns))
        }
        return statements
    }

    /// Whether a constraint's index is SQLite's UNIQUE, which tells its planner that there is at
    /// most one row. SQLite looks at each statement, and a set may pass through states that it
    /// does not end in: the value of a single attribute can stand aside meanwhile, a combination
    /// cannot.
    static func isUniqueIndex(_ names: [String], of entity: Entity) -> Bool {
        guard names.count == 1, case .attribute = entity.property(named: names[0]) else {
            return false
        }
        return true
    }

    /// The columns of an index, in its order; a property without a column is left out.
    func columns(named names: [String], of entity: Entity) -> [String] {
        names.compactMap { entity.property(named: $0) }.compactMap { column(for: $0, of: entity) }
    }

    /// The to-one relationships whose key is a column of the entity's own table.
    func storedToOnes(of entity: Entity) -> [(Relationship, column: String)] {
        entity.relationships.compactMap { relationship in
            guard case .column(_, let column) = link(for: relationship, of: entity) else {
                return nil
            }
            return (relationship, column)
        }
    }

    /// The column of a to-one's position in the list of its inverse, if that is ordered.
    func positionColumn(beside toOne: Relationship) -> String? {
        guard let inverse = Layout.inverse(of: toOne, in: schema), inverse.isToMany,
            inverse.isOrdered
        else { return nil }
        return Layout.positionColumn(for: toOne)
    }

    /// How wide the entity's table is.
    func columnCount(of entity: Entity) -> Int {
        2 + entity.attributes.count
            + storedToOnes(of: entity).reduce(0) {
                $0 + (positionColumn(beside: $1.0) == nil ? 1 : 2)
            }
    }

    func isOneToOne(_ relationship: Relationship) -> Bool {
        guard let inverse = Layout.inverse(of: relationship, in: schema) else { return false }
        return !relationship.isToMany && !inverse.isToMany
    }

    private static func columnType(of type: AttributeType) -> String {
        switch type {
        case .bool, .int16, .int32, .int64: "INTEGER"
        case .float, .double, .date: "REAL"
        case .decimal: "TEXT COLLATE decimal"
        case .string, .url, .json: "TEXT"
        case .uuid, .data: "BLOB"
        }
    }
}

extension Layout {
    struct JoinTable: Hashable {
        let name: String
        var positionColumns: Set<String>
    }

    /// Each join table once, with the position columns of both its sides.
    var joinTables: [JoinTable] {
        var tables: [String: JoinTable] = [:]
        for entity in schema.entities {
            for relationship in entity.relationships {
                guard case .join(let name, _, _, let position) = link(for: relationship, of: entity)
                else { continue }
                tables[name, default: JoinTable(name: name, positionColumns: [])].positionColumns
                    .formUnion([position].compactMap(\.self))
            }
        }
        return tables.values.sorted { $0.name < $1.name }
    }

    private func createJoinTable(_ table: JoinTable) -> String {
        let columns = [Layout.sourceColumn, Layout.targetColumn] + table.positionColumns.sorted()
        let list = columns.map { "\(SQL.quoted($0)) INTEGER NOT NULL" }.joined(separator: ", ")
        return "CREATE TABLE \(SQL.quoted(table.name)) (\(list), "
            + "PRIMARY KEY (\(SQL.quoted(Layout.sourceColumn)), \(SQL.quoted(Layout.targetColumn)))"
            + ") WITHOUT ROWID"
    }

    private func createJoinIndex(_ table: JoinTable) -> String {
        "CREATE INDEX \(SQL.quoted(table.name + ".target")) ON \(SQL.quoted(table.name)) "
            + "(\(SQL.quoted(Layout.targetColumn)), \(SQL.quoted(Layout.sourceColumn)))"
    }

    /// The indexes by which the ordered lists of join tables are read, and their ends and places
    /// found. Stores of earlier programs have none: they get them when they are opened for writing.
    var createOrderIndexes: [String] {
        joinTables.flatMap { table in
            table.positionColumns.sorted().map { position in
                let owner =
                    position == "\(Layout.targetColumn)_position"
                    ? Layout.sourceColumn : Layout.targetColumn
                return "CREATE INDEX IF NOT EXISTS \(SQL.quoted(table.name + "." + position)) "
                    + "ON \(SQL.quoted(table.name)) (\(SQL.quoted(owner)), \(SQL.quoted(position)))"
            }
        }
    }
}
