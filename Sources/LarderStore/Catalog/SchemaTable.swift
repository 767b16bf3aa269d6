import LarderModel

/// The content of SQLite's schema table, compared with the tables and indexes of the layout.
///
/// A file that someone else has changed may have views, triggers, virtual tables and expressions in
/// tables. SQLite would evaluate them without any limit, so a store with any of them is refused
/// before another table is read. Two statements are equal if they differ only in white space and
/// quotation marks, which earlier versions of this program wrote differently.
struct SchemaTable {
    private struct Object {
        let type: String
        let name: String
        let table: String
        /// nil for an index that SQLite created for a constraint.
        let sql: String?
    }

    /// The texts together, for all objects. The longest schema file has 16 MiB.
    private static let bytesMax = 64 << 20

    private let objects: [Object]

    init(reading connection: Connection) throws(SQLiteError) {
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
                throw SQLiteError(.corrupt, "its schema is larger than \(Self.bytesMax) bytes")
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
        if catalog?.sql.map(Self.normalized) != Self.normalized(Catalog.createCatalog.text) {
            problems.append("table _larder is missing or is not the one of a store")
        }
        return problems
    }

    /// What differs from the layout of a store of a format.
    func differences(from layout: Layout, format: Int64) -> [String] {
        var missing: [String: SQL] = [:]
        for sql in Self.statements(of: layout, format: format) {
            missing[Self.normalized(sql.text)] = sql
        }
        var tables: Set<String> = ["sqlite_sequence"]
        for text in missing.keys { tables.insert(Self.table(ofStatement: text)) }
        var problems: [String] = []
        for object in objects {
            if let sql = object.sql {
                let text = Self.normalized(sql)
                let isKnown = missing.removeValue(forKey: text) != nil
                if isKnown || Self.tablesOfSQLite.contains(text) { continue }
            } else if object.type == "index", tables.contains(object.table) {
                continue
            }
            problems.append("\(object.type) \(object.name) is not part of this store")
        }
        for sql in layout.createOrderIndexes { missing[Self.normalized(sql.text)] = nil }
        problems += missing.keys.sorted().map { "it lacks what this creates: \($0)" }
        return problems
    }

    /// The statements that create a store of a format; see ``Catalog/upgrade(_:from:)``.
    private static func statements(of layout: Layout, format: Int64) -> [SQL] {
        var statements = [Catalog.createCatalog] + layout.createStatements
        switch format {
        case 1: break
        case 2: statements += Layout.formerHistoryStatements
        default: statements += Layout.historyStatements + Layout.outcomeStatements
        }
        return statements
    }

    /// SQLite creates the first for AUTOINCREMENT, and the others for ANALYZE.
    private static let tablesOfSQLite: Set<String> = [
        "CREATE TABLE sqlite_sequence(name,seq)",
        "CREATE TABLE sqlite_stat1(tbl,idx,stat)",
        "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)",
    ]

    /// The table that a normalized statement creates, or whose index it creates.
    private static func table(ofStatement text: String) -> String {
        let words = text.split(separator: " ", maxSplits: 6)
        let name = words.firstIndex(of: "ON").map { $0 + 1 } ?? 2
        return name < words.count ? String(words[name]) : ""
    }

    /// A statement as SQLite stores it, with single spaces and without quotation marks.
    private static func normalized(_ text: String) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for byte in text.utf8 where byte != UInt8(ascii: "\"") {
            let isSpace = byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\n")
            if isSpace, bytes.last == UInt8(ascii: " ") { continue }
            bytes.append(isSpace ? UInt8(ascii: " ") : byte)
        }
        let normalized = String(decoding: bytes, as: UTF8.self)
        let condition = "CREATE INDEX IF NOT EXISTS "
        guard normalized.hasPrefix(condition) else { return normalized }
        return "CREATE INDEX " + normalized.dropFirst(condition.count)
    }
}
