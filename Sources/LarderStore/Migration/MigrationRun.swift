import FoundationEssentials
import LarderModel
import LarderSQL

/// Carries out a plan in the open transaction of a connection. After an error the transaction has
/// to be rolled back, and the store is as it was.
struct MigrationRun {
    let plan: MigrationPlan
    let connection: Connection
    let catalog: Catalog
    /// Called before each step.
    private let progress: (MigrationProgress) -> Void
    private let faults: MigrationFaults
    private let values: ValueCheck
    private let conversions: ValueConversions

    init(
        _ plan: MigrationPlan, _ catalog: Catalog, on connection: Connection,
        progress: @escaping (MigrationProgress) -> Void
    ) {
        self.plan = plan
        self.connection = connection
        self.catalog = catalog
        self.progress = progress
        faults = MigrationFaults(store: catalog.identifier)
        values = ValueCheck(Conversions(connection.limit))
        conversions = ValueConversions(plan.conversions, values, faults)
    }

    /// - Throws: `SQLError`, or a `LarderError`: `migrationRefused` with every object that the
    ///   new schema does not permit.
    func run() throws {
        try StoreFunctions.register(on: connection)
        do {
            let keys = try KeySequences(plan, catalog, connection)
            try changeTables(keys)
            try finish()
            try Catalog.store(
                schema: plan.mapping.new,
                catalog.record.after(plan.mapping, lastKeys: keys.former), on: connection)
            // The archive does not see this commit, and begins with the migrated store.
            try connection.execute(Catalog.deleteArchive)
        } catch let error as SQLError {
            if let fault = connection.functionFaults.take() { throw fault }
            throw error
        }
    }

    private func changeTables(_ keys: KeySequences) throws {
        try conversions.register(on: connection)
        // An index that is kept has nothing to learn of the changes below.
        for table in plan.droppedSearchTables { try connection.execute(table.drop) }
        try removeObjects()
        for (number, link) in plan.links.enumerated() {
            report("moves the links of \(link.name)")
            try stash(link, number)
        }
        for table in plan.tables {
            switch table.method {
            case .create: continue
            case .alter(let alteration):
                if alteration.droppedColumns.isEmpty { continue }
                report("removes columns of the table of \(table.root.name)")
                try dropColumns(of: alteration)
            case .rewrite:
                report("rewrites the table of \(table.root.name)")
                try rewrite(table)
            }
        }
        // A value that could not be converted is nil now, and would be reported again.
        try faults.check()
        for name in plan.droppedJoins + plan.droppedTables {
            try connection.execute("DROP TABLE \(name: name)")
        }
        try renameTables()
        for table in plan.tables { try complete(table) }
        for table in plan.createdJoins { try connection.execute(plan.new.createJoinTable(table)) }
        try keys.store(on: connection)
        for (number, link) in plan.links.enumerated() {
            try fill(link, from: stashTable(number))
        }
        for list in Set(plan.newLists) { try assignPositions(list) }
        try faults.check()
    }

    private func finish() throws {
        let needed = plan.new.indexes
        try dropIndexes(except: needed)
        let missing = try SchemaTable(reading: connection).missing(needed)
        if !missing.isEmpty {
            report("creates \(missing.count) \(missing.count == 1 ? "index" : "indexes")")
        }
        for (index, statement) in missing where !index.isUnique {
            try connection.execute(statement)
        }
        try DerivedValueMigration(plan, catalog.identifier, connection, report).run()
        for table in plan.createdSearchTables {
            report("creates the search index of \(table.attributeName)")
            try connection.execute(table.create)
            try connection.execute(table.fill)
        }
        report("checks the objects")
        try MigrationChecks(plan, connection, values, faults).run()
        try faults.check()
        // After the check, which names every object with an equal value.
        for (index, statement) in missing where index.isUnique {
            try connection.execute(statement)
        }
        try HistoryRenaming(plan.mapping).run(on: connection)
    }

    private func dropIndexes(except needed: [IndexDefinition]) throws {
        let tables = Set(plan.new.roots.map(plan.new.table) + plan.new.joinTables.map(\.name))
        let forms = Set(needed.map(\.form))
        for index in try SchemaTable(reading: connection).objects where index.type == "index" {
            guard let sql = index.sql, tables.contains(index.table),
                !forms.contains(StatementForm(sql))
            else { continue }
            try connection.execute("DROP INDEX \(name: index.name)")
        }
    }

    private func report(_ step: String) { progress(MigrationProgress(step: step)) }

    // MARK: Objects

    /// Deletes the objects of removed entities from tables that stay, and the links to them.
    private func removeObjects() throws {
        for kind in plan.removedKinds {
            let table = plan.old.table(for: kind)
            report("removes the objects of \(kind.name)")
            let keys: SQL = """
                SELECT \(name: Layout.keyColumn) FROM \(name: table) \
                WHERE \(name: Layout.entityColumn) = \(literal: kind.name)
                """
            for entity in plan.mapping.old.entities {
                for relationship in entity.declared.relationships
                where plan.mapping.old.isKind(kind.name, of: relationship.destination)
                    || plan.mapping.old.isKind(kind.name, of: entity.name)
                {
                    try removeLinks(of: relationship, entity, kind, keys)
                }
            }
            try connection.execute(
                """
                DELETE FROM \(name: table) \
                WHERE \(name: Layout.entityColumn) = \(literal: kind.name)
                """)
        }
    }

    private func removeLinks(
        of relationship: Relationship, _ entity: Entity, _ kind: Entity, _ keys: SQL
    ) throws {
        let schema = plan.mapping.old
        let leadsToKind = schema.isKind(kind.name, of: relationship.destination)
        switch plan.old.link(for: relationship, of: entity) {
        case .column(let table, let column) where leadsToKind:
            let position = plan.old.positionColumn(of: relationship, column)
            let reset: SQL = position.map { ", \(name: $0) = NULL" } ?? ""
            try connection.execute(
                """
                UPDATE \(name: table) SET \(name: column) = NULL\(reset) \
                WHERE \(name: column) IN (\(keys))
                """)
        case .join(let table, let own, let other, _):
            let sides = [(own, schema.isKind(kind.name, of: entity.name)), (other, leadsToKind)]
            for (column, isKind) in sides where isKind {
                try connection.execute(
                    "DELETE FROM \(name: table) WHERE \(name: column) IN (\(keys))")
            }
        case .column, .inverseColumn: break
        }
    }

    // MARK: Tables

    /// The name of a table until the old ones are gone.
    private func temporaryName(_ table: String) -> String { "_new.\(table)" }

    private func rewrite(_ table: TableMigration) throws {
        let name = temporaryName(table.name)
        try connection.execute(plan.new.createTable(for: table.root, named: name))
        let sharesTable = plan.new.kinds(inTableOf: table.root) != nil
        for sql in table.copyStatements(into: name, old: plan.old, sharesTable: sharesTable) {
            try connection.execute(sql)
        }
    }

    /// Gives tables their new names, in two steps, because a new name may be the old one of another
    /// table.
    private func renameTables() throws {
        func rename(_ table: String, to name: String) throws(SQLError) {
            try connection.execute("ALTER TABLE \(name: table) RENAME TO \(name: name)")
        }
        var renamed: [String] = []
        for table in plan.tables {
            switch table.method {
            case .create: continue
            case .alter(let alteration):
                if alteration.source == table.name { continue }
                try rename(alteration.source, to: temporaryName(table.name))
            case .rewrite: break
            }
            renamed.append(table.name)
        }
        let joins = plan.keptJoins.filter { $0.key != $0.value }.sorted { $0.key < $1.key }
        for (name, former) in joins { try rename(former, to: temporaryName(name)) }
        for name in renamed + joins.map(\.key) { try rename(temporaryName(name), to: name) }
    }

    private func complete(_ table: TableMigration) throws {
        let name: SQL = "\(name: table.name)"
        switch table.method {
        case .rewrite: break
        case .create:
            try connection.execute(plan.new.createTable(for: table.root, named: table.name))
        case .alter(let alteration):
            report("changes the description of \(table.root.name)")
            // In two steps, for the same reason as tables.
            for column in alteration.renamedColumns {
                try connection.execute(
                    """
                    ALTER TABLE \(name) RENAME COLUMN \(name: column.old) \
                    TO \(name: temporaryName(column.new))
                    """)
            }
            for column in alteration.renamedColumns {
                try connection.execute(
                    """
                    ALTER TABLE \(name) RENAME COLUMN \(name: temporaryName(column.new)) \
                    TO \(name: column.new)
                    """)
            }
            try addColumns(of: alteration, to: table)
        }
    }

    /// SQLite drops no column that an index has.
    private func dropColumns(of alteration: TableAlteration) throws {
        let dropped = Set(alteration.droppedColumns)
        guard !dropped.isEmpty else { return }
        let forms = Set(
            plan.old.indexes.filter {
                $0.table == alteration.source && !dropped.isDisjoint(with: $0.columns)
            }.map(\.form))
        for index in try SchemaTable(reading: connection).objects where index.type == "index" {
            guard let sql = index.sql, forms.contains(StatementForm(sql)) else { continue }
            try connection.execute("DROP INDEX \(name: index.name)")
        }
        for column in alteration.droppedColumns {
            try connection.execute(
                "ALTER TABLE \(name: alteration.source) DROP COLUMN \(name: column)")
        }
    }

    private func addColumns(of alteration: TableAlteration, to table: TableMigration) throws {
        let name: SQL = "\(name: table.name)"
        let entity: SQL = "\(name: Layout.entityColumn)"
        if let entityName = alteration.addedEntityName {
            try connection.execute(
                """
                ALTER TABLE \(name) ADD COLUMN \(entity) TEXT NOT NULL \
                DEFAULT \(literal: entityName)
                """)
        }
        let types = Dictionary(
            plan.new.columns(of: table.root).map { ($0.name, $0.type) },
            uniquingKeysWith: { first, _ in first })
        for column in alteration.addedColumns {
            let value: SQL = column.value.map { " DEFAULT \(constant: $0)" } ?? ""
            try connection.execute(
                """
                ALTER TABLE \(name) ADD COLUMN \(name: column.name) \(types[column.name] ?? "")\
                \(value)
                """)
        }
        guard !alteration.renamedKinds.isEmpty else { return }
        let cases = alteration.renamedKinds.map {
            "WHEN \(literal: $0.old) THEN \(literal: $0.new)" as SQL
        }
        let names = alteration.renamedKinds.map { "\(literal: $0.old)" as SQL }
        try connection.execute(
            """
            UPDATE \(name) SET \(entity) = CASE \(entity) \(cases, separator: " ") END \
            WHERE \(entity) IN (\(names))
            """)
    }

    // MARK: Links

    private func stashTable(_ number: Int) -> SQL { "temp.\(name: "_links.\(number)")" }

    private func stash(_ link: LinkMigration, _ number: Int) throws {
        let table = stashTable(number)
        let columns = LinkMigration.columns.map { "\(name: $0) INTEGER" as SQL }
        try connection.execute("CREATE TABLE \(table) (\(columns))")
        for origin in link.origins {
            try connection.execute("INSERT INTO \(table) \(origin)")
        }
        guard case .column = link.link else { return }
        try checkSingle("own", "other", of: link, in: table)
        if link.isOneToOne { try checkSingle("other", "own", of: link, in: table) }
    }

    /// Reports the objects that have several objects where the new relationship takes one.
    private func checkSingle(
        _ side: SQL, _ other: SQL, of link: LinkMigration, in table: SQL
    ) throws {
        let rows = try connection.prepare(
            """
            SELECT \(side), count(DISTINCT \(other)) FROM \(table) GROUP BY \(side) \
            HAVING count(DISTINCT \(other)) > 1 ORDER BY \(side)
            """)
        let entityName = String(link.name.prefix { $0 != "." })
        while try rows.step() {
            let count = rows.int64(at: 1)
            faults.report(
                entityName, key: rows.int64(at: 0),
                "\(link.name) takes one object, and there are \(count)")
        }
    }

    private func fill(_ link: LinkMigration, from table: SQL) throws {
        try connection.execute(link.fillStatement(from: table))
        try connection.execute("DROP TABLE \(table)")
    }

    private func assignPositions(_ list: MigrationPlan.NewList) throws {
        let (table, key): (SQL, SQL) = ("\(name: list.table)", "\(name: Layout.keyColumn)")
        let (owner, position): (SQL, SQL) = (
            "\(name: list.keyColumn)", "\(name: list.positionColumn)"
        )
        try connection.execute(
            """
            UPDATE \(table) SET \(position) = item.place FROM (SELECT \(key) AS item_key, \
            row_number() OVER (PARTITION BY \(owner) ORDER BY \(key)) * \(ListPosition.gap) \
            AS place FROM \(table) WHERE \(owner) IS NOT NULL AND \(position) IS NULL) AS item \
            WHERE item.item_key = \(table).\(key)
            """)
    }
}
