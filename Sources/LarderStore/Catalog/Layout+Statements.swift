import LarderModel

extension Layout {
    /// The statements that create every table and index, in an order in which they can run.
    var createStatements: [String] {
        roots.map(createTable) + joinTables.map(createJoinTable)
            + roots.compactMap(createEntityIndex) + schema.entities.flatMap(createIndexes)
            + joinTables.map(createJoinIndex) + createOrderIndexes
    }

    /// The entities that have tables of their own.
    var roots: [Entity] { schema.entities.filter { $0.parent == nil } }

    private func createTable(for root: Entity) -> String {
        var columns = [
            "\(SQL.quoted(Layout.keyColumn)) INTEGER PRIMARY KEY AUTOINCREMENT",
            "\(SQL.quoted(Layout.versionColumn)) INTEGER NOT NULL",
        ]
        let kinds = kinds(inTableOf: root)
        if kinds != nil { columns.append("\(SQL.quoted(Layout.entityColumn)) TEXT NOT NULL") }
        for entity in kinds ?? [root] {
            columns += declaredColumns(of: entity).map { "\(SQL.quoted($0.name)) \($0.type)" }
        }
        return "CREATE TABLE \(SQL.quoted(table(for: root))) (\(columns.joined(separator: ", ")))"
    }

    /// The columns of what an entity declares itself.
    func declaredColumns(of entity: Entity) -> [(name: String, type: String)] {
        var columns = entity.declared.attributes.map {
            (name: column(for: $0, of: entity), type: Layout.columnType(of: $0.type))
        }
        for (relationship, column) in declaredToOnes(of: entity) {
            columns.append((column, "INTEGER"))
            if let position = positionColumn(beside: relationship, column) {
                columns.append((position, "INTEGER"))
            }
        }
        return columns
    }

    /// Finds the objects of one entity among those of several, in the order of their keys.
    private func createEntityIndex(of root: Entity) -> String? {
        guard kinds(inTableOf: root) != nil else { return nil }
        return "CREATE INDEX \(SQL.quoted("_entity.\(root.name)")) "
            + "ON \(SQL.quoted(table(for: root))) (\(SQL.quoted(Layout.entityColumn)))"
    }

    private func createIndexes(for entity: Entity) -> [String] {
        let table = SQL.quoted(table(for: entity))
        func index(_ name: String, unique: Bool, on columns: [String]) -> String {
            let list = columns.map(SQL.quoted).joined(separator: ", ")
            return
                "CREATE \(unique ? "UNIQUE " : "")INDEX \(SQL.quoted(name)) ON \(table) (\(list))"
        }
        var statements: [String] = []
        for (relationship, column) in declaredToOnes(of: entity) {
            // The position comes second, so that an ordered list is read in order.
            let position = positionColumn(beside: relationship, column)
            let columns = [column] + [position].compactMap(\.self)
            statements.append(
                index(
                    "_link.\(entity.name).\(relationship.name)",
                    unique: isOneToOne(relationship), on: columns))
        }
        for (number, names) in entity.declared.uniquenessConstraints.enumerated() {
            let columns = columns(named: names, of: entity)
            let isUnique = isUniqueIndex(names, of: entity)
            statements.append(
                index("_unique.\(entity.name).\(number)", unique: isUnique, on: columns))
        }
        for (number, names) in entity.declared.indexes.enumerated() {
            let columns = columns(named: names, of: entity)
            statements.append(index("_index.\(entity.name).\(number)", unique: false, on: columns))
        }
        return statements
    }

    /// Whether a constraint's index is SQLite's UNIQUE, which tells its planner that there is at
    /// most one row. SQLite looks at each statement, and a set may pass through states that it
    /// does not end in: the value of a single attribute can stand aside meanwhile, a combination
    /// cannot. A constraint over an inherited attribute does not bind all rows of the table.
    ///
    /// - Parameter entity: the one that declares the constraint.
    func isUniqueIndex(_ names: [String], of entity: Entity) -> Bool {
        guard names.count == 1, case .attribute = entity.property(named: names[0]) else {
            return false
        }
        return schema.declaringEntity(of: names[0], in: entity).name == entity.name
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

    /// Those of them that the entity declares itself.
    func declaredToOnes(of entity: Entity) -> [(Relationship, column: String)] {
        let inherited = entity.relationships.count - entity.declared.relationships.count
        let names = Set(entity.relationships.prefix(inherited).map(\.name))
        return storedToOnes(of: entity).filter { !names.contains($0.0.name) }
    }

    /// The column of a to-one's position in the list of its inverse, if that is ordered.
    ///
    /// - Parameter column: the one of the to-one itself.
    func positionColumn(beside toOne: Relationship, _ column: String) -> String? {
        guard let inverse = Layout.inverse(of: toOne, in: schema), inverse.isToMany,
            inverse.isOrdered
        else { return nil }
        return Layout.positionColumn(beside: column)
    }

    /// How wide the table of an entity without parent is.
    func columnCount(of root: Entity) -> Int {
        guard let kinds = kinds(inTableOf: root) else {
            return 2 + declaredColumns(of: root).count
        }
        return 3 + kinds.reduce(0) { $0 + declaredColumns(of: $1).count }
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
