import LarderModel

extension Layout {
    /// The statements that create every table and index, in an order in which they can run.
    var createStatements: [SQL] {
        roots.map(createTable) + joinTables.map(createJoinTable)
            + roots.compactMap(createEntityIndex) + schema.entities.flatMap(createIndexes)
            + joinTables.map(createJoinIndex) + createOrderIndexes
    }

    /// The entities that have tables of their own.
    var roots: [Entity] { schema.entities.filter { $0.parent == nil } }

    private func createTable(for root: Entity) -> SQL {
        var columns: [SQL] = [
            "\(name: Layout.keyColumn) INTEGER PRIMARY KEY AUTOINCREMENT",
            "\(name: Layout.versionColumn) INTEGER NOT NULL",
        ]
        let kinds = kinds(inTableOf: root)
        if kinds != nil { columns.append("\(name: Layout.entityColumn) TEXT NOT NULL") }
        for entity in kinds ?? [root] {
            columns += declaredColumns(of: entity).map { "\(name: $0.name) \($0.type)" }
        }
        return "CREATE TABLE \(name: table(for: root)) (\(columns))"
    }

    /// The columns of the properties that an entity declares itself.
    func declaredColumns(of entity: Entity) -> [(name: String, type: SQL)] {
        var columns = entity.declared.attributes.map {
            (name: column(for: $0, of: entity), type: Layout.columnType(of: $0.type))
        }
        for (relationship, column) in declaredToOnes(of: entity) {
            columns.append((column, "INTEGER"))
            if let position = positionColumn(of: relationship, column) {
                columns.append((position, "INTEGER"))
            }
        }
        return columns
    }

    /// Finds the objects of one entity among those of several, in key order.
    private func createEntityIndex(of root: Entity) -> SQL? {
        guard kinds(inTableOf: root) != nil else { return nil }
        return """
            CREATE INDEX \(name: "_entity.\(root.name)") ON \(name: table(for: root)) \
            (\(name: Layout.entityColumn))
            """
    }

    private func createIndexes(for entity: Entity) -> [SQL] {
        let table = table(for: entity)
        func index(_ name: String, unique: Bool, on columns: [String]) -> SQL {
            """
            CREATE \(unique ? "UNIQUE " : "")INDEX \(name: name) ON \(name: table) \
            (\(names: columns))
            """
        }
        var statements: [SQL] = []
        for (relationship, column) in declaredToOnes(of: entity) {
            // The position comes second, so that an ordered list is read in order.
            let position = positionColumn(of: relationship, column)
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

    /// Whether a constraint's index is a UNIQUE index of SQLite, from which its planner knows that
    /// there is at most one row.
    ///
    /// SQLite checks each statement, and a change set may violate a constraint until it ends: the
    /// value of a single attribute can be deferred until then, a combination cannot. A constraint
    /// over an inherited attribute does not apply to all rows of the table.
    ///
    /// - Parameter entity: The entity that declares the constraint.
    func isUniqueIndex(_ names: [String], of entity: Entity) -> Bool {
        guard names.count == 1, case .attribute = entity.property(named: names[0]) else {
            return false
        }
        return schema.declaringEntity(of: names[0], in: entity).name == entity.name
    }

    /// The columns of an index, in its order, without properties that have no column.
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

    /// The stored to-one relationships that the entity declares itself.
    func declaredToOnes(of entity: Entity) -> [(Relationship, column: String)] {
        let inherited = entity.relationships.count - entity.declared.relationships.count
        let names = Set(entity.relationships.prefix(inherited).map(\.name))
        return storedToOnes(of: entity).filter { !names.contains($0.0.name) }
    }

    /// The column of a to-one's position in the list of its inverse, if that is ordered.
    ///
    /// - Parameter column: The column of the to-one itself.
    func positionColumn(of toOne: Relationship, _ column: String) -> String? {
        guard let inverse = Layout.inverse(of: toOne, in: schema), inverse.isToMany,
            inverse.isOrdered
        else { return nil }
        return Layout.positionColumn(for: column)
    }

    /// The number of columns of the table of an entity without a parent.
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

    private static func columnType(of type: AttributeType) -> SQL {
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

    private func createJoinTable(_ table: JoinTable) -> SQL {
        let names = [Layout.sourceColumn, Layout.targetColumn] + table.positionColumns.sorted()
        let columns = names.map { "\(name: $0) INTEGER NOT NULL" as SQL }
        return """
            CREATE TABLE \(name: table.name) (\(columns), \
            PRIMARY KEY (\(name: Layout.sourceColumn), \(name: Layout.targetColumn))) WITHOUT ROWID
            """
    }

    private func createJoinIndex(_ table: JoinTable) -> SQL {
        """
        CREATE INDEX \(name: table.name + ".target") ON \(name: table.name) \
        (\(name: Layout.targetColumn), \(name: Layout.sourceColumn))
        """
    }

    /// The indexes that give the ordered lists of join tables, their ends and their positions.
    /// Stores of earlier versions have none and get them when they are opened for writing.
    var createOrderIndexes: [SQL] {
        joinTables.flatMap { table in
            table.positionColumns.sorted().map { position in
                let owner =
                    position == "\(Layout.targetColumn)_position"
                    ? Layout.sourceColumn : Layout.targetColumn
                return """
                    CREATE INDEX IF NOT EXISTS \(name: table.name + "." + position) \
                    ON \(name: table.name) (\(name: owner), \(name: position))
                    """
            }
        }
    }
}
