import LarderModel

extension Layout {
    /// The statements that create every table and index, in an order in which they can run.
    package var createStatements: [SQL] {
        createTableStatements + indexes.map(\.statement) + searchTables.map(\.create)
    }

    var createTableStatements: [SQL] {
        roots.map { createTable(for: $0, named: table(for: $0)) } + joinTables.map(createJoinTable)
    }

    /// All indexes that are not part of a table's description.
    package var indexes: [IndexDefinition] {
        roots.compactMap(entityIndex) + schema.entities.flatMap(indexes) + joinTables.map(joinIndex)
            + orderIndexes
    }

    /// The entities that have tables of their own.
    package var roots: [Entity] { schema.entities.filter { $0.parent == nil } }

    package func createTable(for root: Entity, named name: String) -> SQL {
        let columns = columns(of: root).map { "\(name: $0.name) \($0.type)" as SQL }
        return "CREATE TABLE \(name: name) (\(columns))"
    }

    /// All columns of the table of an entity without a parent.
    package func columns(of root: Entity) -> [(name: String, type: SQL)] {
        var columns: [(name: String, type: SQL)] = [
            (Layout.keyColumn, dialect.primaryKeyType),
            (Layout.versionColumn, "\(dialect.keyType) NOT NULL"),
        ]
        let kinds = kinds(inTableOf: root)
        if kinds != nil { columns.append((Layout.entityColumn, "\(dialect.textType) NOT NULL")) }
        for entity in kinds ?? [root] { columns += declaredColumns(of: entity) }
        let isLong = Set((kinds ?? [root]).flatMap(longColumns))
        return columns.filter { !isLong.contains($0.name) }
            + columns.filter { isLong.contains($0.name) }
    }

    /// The columns whose values may be long. They are the last ones of a row: SQLite stores a long
    /// row in a chain of pages, all of which it reads to find a column after a long value.
    private func longColumns(of entity: Entity) -> [String] {
        entity.declared.attributes.filter { $0.type == .data }.map { column(for: $0, of: entity) }
    }

    /// The columns of the properties that an entity declares itself.
    package func declaredColumns(of entity: Entity) -> [(name: String, type: SQL)] {
        var columns = entity.declared.attributes.map {
            (name: column(for: $0, of: entity), type: dialect.columnType(of: $0.type))
        }
        for (relationship, column) in declaredToOnes(of: entity) {
            columns.append((column, dialect.keyType))
            if let position = positionColumn(of: relationship, column) {
                columns.append((position, dialect.keyType))
            }
        }
        return columns
    }

    /// Finds the objects of one entity among those of several, in key order.
    private func entityIndex(of root: Entity) -> IndexDefinition? {
        guard kinds(inTableOf: root) != nil else { return nil }
        return IndexDefinition(
            name: "_entity.\(root.name)", table: table(for: root),
            columns: [Layout.entityColumn])
    }

    private func indexes(of entity: Entity) -> [IndexDefinition] {
        let table = table(for: entity)
        var indexes: [IndexDefinition] = []
        for (relationship, column) in declaredToOnes(of: entity) {
            // The position comes second, so that an ordered list is read in order.
            let position = positionColumn(of: relationship, column)
            indexes.append(
                IndexDefinition(
                    name: "_link.\(entity.name).\(relationship.name)", table: table,
                    columns: [column] + [position].compactMap(\.self),
                    isUnique: isOneToOne(relationship)))
        }
        for (number, names) in entity.declared.uniquenessConstraints.enumerated() {
            indexes.append(
                IndexDefinition(
                    name: "_unique.\(entity.name).\(number)", table: table,
                    columns: columns(named: names, of: entity),
                    isUnique: isUniqueIndex(names, of: entity),
                    key: entity.declared.isInsensitive(names) ? .canonical : .values))
        }
        for (number, names) in entity.declared.indexes.enumerated() {
            indexes.append(
                IndexDefinition(
                    name: "_index.\(entity.name).\(number)", table: table,
                    columns: columns(named: names, of: entity)))
        }
        for attribute in entity.declared.attributes where attribute.indexed == .insensitive {
            let column = column(for: attribute, of: entity)
            let name = "\(entity.name).\(attribute.name)"
            indexes.append(
                IndexDefinition(
                    name: "_canonical.\(name)", table: table, columns: [column], key: .canonical))
            indexes.append(
                IndexDefinition(
                    name: "_caseless.\(name)", table: table, columns: [column], key: .caseless))
        }
        return indexes
    }

    /// Whether a constraint's index is a UNIQUE index of SQLite, from which its planner knows that
    /// there is at most one row.
    ///
    /// SQLite checks each statement, and a change set may violate a constraint until it ends: the
    /// value of a single attribute can be deferred until then, a combination cannot. A constraint
    /// over an inherited attribute does not apply to all rows of the table.
    ///
    /// - Parameter entity: The entity that declares the constraint.
    package func isUniqueIndex(_ names: [String], of entity: Entity) -> Bool {
        guard names.count == 1, case .attribute = entity.property(named: names[0]) else {
            return false
        }
        return schema.declaringEntity(of: names[0], in: entity).name == entity.name
    }

    /// The columns of an index, in its order, without properties that have no column.
    package func columns(named names: [String], of entity: Entity) -> [String] {
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
    package func declaredToOnes(of entity: Entity) -> [(Relationship, column: String)] {
        let inherited = entity.relationships.count - entity.declared.relationships.count
        let names = Set(entity.relationships.prefix(inherited).map(\.name))
        return storedToOnes(of: entity).filter { !names.contains($0.0.name) }
    }

    /// The column of a to-one's position in the list of its inverse, if that is ordered.
    ///
    /// - Parameter column: The column of the to-one itself.
    package func positionColumn(of toOne: Relationship, _ column: String) -> String? {
        guard let inverse = Layout.inverse(of: toOne, in: schema), inverse.isToMany,
            inverse.isOrdered
        else { return nil }
        return Layout.positionColumn(for: column)
    }

    package func isOneToOne(_ relationship: Relationship) -> Bool {
        guard let inverse = Layout.inverse(of: relationship, in: schema) else { return false }
        return !relationship.isToMany && !inverse.isToMany
    }
}

extension Layout {
    package struct JoinTable: Hashable {
        package let name: String
        package internal(set) var positionColumns: Set<String>
    }

    /// Each join table once, with the position columns of both its sides.
    package var joinTables: [JoinTable] {
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

    package func createJoinTable(_ table: JoinTable) -> SQL {
        let names = [Layout.sourceColumn, Layout.targetColumn] + table.positionColumns.sorted()
        let columns = names.map { "\(name: $0) \(dialect.keyType) NOT NULL" as SQL }
        return """
            CREATE TABLE \(name: table.name) (\(columns), \
            PRIMARY KEY (\(name: Layout.sourceColumn), \(name: Layout.targetColumn)))\
            \(dialect.withoutRowid)
            """
    }

    private func joinIndex(_ table: JoinTable) -> IndexDefinition {
        IndexDefinition(
            name: table.name + ".target", table: table.name,
            columns: [Layout.targetColumn, Layout.sourceColumn])
    }

    /// The indexes that give the ordered lists of join tables, their ends and their positions.
    /// Stores of earlier versions have none and get them when they are opened for writing.
    package var orderIndexes: [IndexDefinition] {
        joinTables.flatMap { table in
            table.positionColumns.sorted().map { position in
                let owner =
                    position == "\(Layout.targetColumn)_position"
                    ? Layout.sourceColumn : Layout.targetColumn
                return IndexDefinition(
                    name: table.name + "." + position, table: table.name,
                    columns: [owner, position])
            }
        }
    }
}

/// An index of the layout.
///
/// Its name has no meaning: after a migration an index may have the name of a former entity.
package struct IndexDefinition {
    package enum Key: Hashable {
        /// The values of the columns.
        case values
        /// The text of the only column without case and accents.
        case canonical
        /// The text of the only column without case, and then the text.
        case caseless
    }

    package let name: String
    package let table: String
    package let columns: [String]
    package var isUnique = false
    package var key = Key.values

    package var statement: SQL { statement(named: name) }

    package func statement(named name: String) -> SQL {
        """
        CREATE \(isUnique ? "UNIQUE " : "")INDEX \(name: name) ON \(name: table) \
        (\(terms))
        """
    }

    private var terms: [SQL] {
        let names = columns.map { "\(name: $0)" as SQL }
        return switch key {
        case .values: names
        case .canonical: names.map { "\(function: IndexFunctions.canonical)(\($0))" }
        case .caseless: names.map { "\(function: IndexFunctions.caseless)(\($0))" } + names
        }
    }
}
