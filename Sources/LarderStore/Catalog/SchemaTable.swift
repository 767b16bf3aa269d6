import LarderModel
import LarderSQL

/// The content of SQLite's schema table, compared with the tables and indexes of the layout.
///
/// A file that someone else has changed may have views, triggers, virtual tables and expressions in
/// tables. SQLite would evaluate them without any limit, so a store with any of them is refused
/// before another table is read. Statements are compared by their ``StatementForm``.
struct SchemaTable {
    struct Object {
        let type: String
        let name: String
        let table: String
        /// nil for an index that SQLite created for a constraint.
        let sql: String?
    }

    /// The texts together, for all objects. The longest schema file has 16 MiB.
    private static let bytesMax = 64 << 20

    let objects: [Object]

    init(reading connection: Connection) throws(SQLError) {
        var objects: [Object] = []
        var byteCount = 0
        let rows = try connection.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema")
        while try rows.step() {
            let object = Object(
                type: rows.string(at: 0), name: rows.string(at: 1), table: rows.string(at: 2),
                sql: rows.isNull(at: 3) ? nil : rows.string(at: 3))
            byteCount += object.name.utf8.count + object.table.utf8.count
            byteCount += object.sql?.utf8.count ?? 0
            guard byteCount <= Self.bytesMax else {
                throw SQLError(.corrupt, "its schema is larger than \(Self.bytesMax) bytes")
            }
            objects.append(object)
        }
        self.objects = objects
    }

    /// Everything that no store has, and a catalog that is not the one of a store. The catalog may
    /// be read if there is nothing.
    var foreignObjects: [String] {
        var problems = objects.filter { $0.type != "table" && $0.type != "index" }.map {
            "\($0.type) \($0.name) is not part of a store"
        }
        let catalog = objects.first { $0.type == "table" && $0.name == "_larder" }
        if catalog?.sql.map(StatementForm.init) != StatementForm(Catalog.createCatalog.text) {
            problems.append("table _larder is missing or is not the one of a store")
        }
        return problems
    }

    /// The differences from the layout of a store of a format.
    func differences(from layout: Layout, format: Int64) -> [String] {
        var missing: [StatementForm: Int] = [:]
        for sql in Self.statements(of: layout, format: format) {
            missing[StatementForm(sql.text), default: 0] += 1
        }
        let tables = Set(missing.keys.map(\.table)).union(["sqlite_sequence"])
        var problems: [String] = []
        for object in objects {
            if let sql = object.sql {
                let form = StatementForm(sql)
                if let count = missing[form] {
                    missing[form] = count == 1 ? nil : count - 1
                    continue
                }
                if Self.tablesOfSQLite.contains(form) { continue }
            } else if object.type == "index", tables.contains(object.table) {
                continue
            }
            problems.append("\(object.type) \(object.name) is not part of this store")
        }
        for index in layout.orderIndexes { missing[index.form] = nil }
        problems += missing.keys.map(\.text).sorted().map {
            "it lacks what this creates: \($0)"
        }
        return problems
    }

    /// The statements that create those of some indexes that the file has not, under names that it
    /// has not either.
    func missing(_ indexes: [IndexDefinition]) -> [(index: IndexDefinition, statement: SQL)] {
        var present: [StatementForm: Int] = [:]
        var names = Set(objects.map { $0.name.lowercased() })
        for object in objects where object.type == "index" {
            if let sql = object.sql { present[StatementForm(sql), default: 0] += 1 }
        }
        return indexes.compactMap { index in
            if let count = present[index.form], count > 0 {
                present[index.form] = count - 1
                return nil
            }
            var name = index.name
            var number = 1
            while !names.insert(name.lowercased()).inserted {
                number += 1
                name = "\(index.name).\(number)"
            }
            return (index, index.statement(named: name))
        }
    }

    /// The statements that create a store of a format; see ``Catalog/upgrade(_:from:)``.
    private static func statements(of layout: Layout, format: Int64) -> [SQL] {
        // SQLite creates the tables of a virtual table.
        var statements = [Catalog.createCatalog] + layout.createStatements
        statements += layout.searchTables.flatMap(\.createStorage)
        switch format {
        case 1: break
        case 2: statements += Layout.formerHistoryStatements
        case 3...5: statements += Layout.historyStatements + Layout.formerOutcomeStatements
        default: statements += Layout.historyStatements + Layout.outcomeStatements
        }
        return statements
    }

    /// SQLite creates the first for AUTOINCREMENT, and the others for ANALYZE.
    private static let tablesOfSQLite = Set(
        [
            "CREATE TABLE sqlite_sequence(name,seq)",
            "CREATE TABLE sqlite_stat1(tbl,idx,stat)",
            "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)",
        ].map(StatementForm.init))
}
