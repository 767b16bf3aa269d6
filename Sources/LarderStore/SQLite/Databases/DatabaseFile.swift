import CSQLite
import LarderModel
import LarderSQL

/// The structure of a table of an SQLite file that is not a store.
package struct DatabaseTable: Sendable {
    package struct Column: Sendable {
        package let name: String
        /// The type as declared, in upper case; empty if there is none.
        package let declaredType: String
        package let isRequired: Bool
    }

    /// A foreign key of one column or several.
    package struct ForeignKey: Sendable {
        package let table: String
        /// The columns of this table, and those of the other one; the latter are empty if they are
        /// its primary key.
        package fileprivate(set) var columns: [String]
        package fileprivate(set) var destinations: [String]
        /// Such as `CASCADE`.
        package let onDelete: String
    }

    package let name: String
    package fileprivate(set) var columns: [Column] = []
    package fileprivate(set) var primaryKey: [String] = []
    /// Lists of columns that are unique together, besides the primary key.
    package fileprivate(set) var unique: [[String]] = []
    package fileprivate(set) var foreignKeys: [ForeignKey] = []
}

/// An SQLite file of another program, which is only read.
package final class DatabaseFile {
    /// The tables that are read.
    package static let tablesMax = Limits.entitiesMax

    private let path: String
    private let connection: Connection

    /// - Throws: `storageFailed` if the file cannot be read, and `malformedValue` if it is not an
    ///   SQLite file.
    package init(path: String) throws(LarderError) {
        self.path = path
        do throws(SQLError) {
            connection = try Connection(readingForeign: path)
        } catch {
            throw Self.failure(error, path)
        }
    }

    /// The tables in the order of their names, without views, virtual tables and SQLite's own.
    ///
    /// - Throws: `resourceExhausted` if there are too many.
    package func tables() throws(LarderError) -> [DatabaseTable] {
        do throws(SQLError) {
            let statement = try connection.prepare(
                """
                SELECT name FROM pragma_table_list
                WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite~_%' ESCAPE '~'
                ORDER BY name LIMIT 1001
                """)
            var tables: [DatabaseTable] = []
            while try statement.step() {
                tables.append(DatabaseTable(name: statement.string(at: 0)))
            }
            for index in tables.indices.prefix(Self.tablesMax) { try describe(&tables[index]) }
            guard tables.count <= Self.tablesMax else {
                throw SQLError(.tooLarge, "too many tables")
            }
            return tables
        } catch {
            throw Self.failure(error, path)
        }
    }

    /// The values of a column in numbers: rows, nils, and each kind of value.
    package func kinds(
        of column: String, in table: String
    ) throws(LarderError) -> (rows: Int64, nils: Int64, distinct: Int64, kinds: Set<String>) {
        do throws(SQLError) {
            let counts = try connection.prepare(
                """
                SELECT count(*), count(*) - count(\(name: column)), count(DISTINCT \(name: column))
                FROM \(name: table)
                """)
            guard try counts.step() else { return (0, 0, 0, []) }
            let kinds = try connection.prepare(
                "SELECT DISTINCT typeof(\(name: column)) FROM \(name: table)")
            var found: Set<String> = []
            while try kinds.step() { found.insert(kinds.string(at: 0)) }
            return (
                counts.int64(at: 0), counts.int64(at: 1), counts.int64(at: 2),
                found.subtracting(["null"])
            )
        } catch {
            throw Self.failure(error, path)
        }
    }

    /// The rows of a table.
    ///
    /// - Throws: `unknownEntity` if there is no such table.
    package func rows(of name: String) throws(LarderError) -> DatabaseRows {
        let tables = try tables()
        guard let table = tables.first(where: { $0.name == name }) else {
            let names = tables.map(\.name)
            throw LarderError(
                .unknownEntity, "\(path) has no table \"\(LarderError.printable(name))\"",
                hint: NameSuggestion.hint(for: name, among: names)
                    ?? "its tables are \(names.joined(separator: ", "))")
        }
        do throws(SQLError) {
            let columns = table.columns.map(\.name)
            let list = columns.map { "\(name: $0)" as SQL }.joined(separator: ", ")
            let statement = try connection.prepare("SELECT \(list) FROM \(name: name)")
            return DatabaseRows(self, statement, columns: columns)
        } catch {
            throw failure(error)
        }
    }

    func failure(_ error: SQLError) -> LarderError { Self.failure(error, path) }

    private func describe(_ table: inout DatabaseTable) throws(SQLError) {
        let columns = try connection.prepare(
            """
            SELECT name, upper(type), "notnull", pk FROM pragma_table_xinfo(?) WHERE hidden <> 1
            """)
        try columns.bind(.text(table.name), at: 1)
        var keys: [(Int64, String)] = []
        while try columns.step() {
            let name = columns.string(at: 0)
            let position = columns.int64(at: 3)
            if position > 0 { keys.append((position, name)) }
            table.columns.append(
                DatabaseTable.Column(
                    name: name, declaredType: columns.string(at: 1),
                    isRequired: columns.int64(at: 2) != 0))
        }
        table.primaryKey = keys.sorted { $0.0 < $1.0 }.map(\.1)
        try describeIndexes(of: &table)
        let keysOfTable = try connection.prepare(
            """
            SELECT id, "table", "from", coalesce("to", ''), on_delete
            FROM pragma_foreign_key_list(?) ORDER BY id, seq
            """)
        try keysOfTable.bind(.text(table.name), at: 1)
        var lastID: Int64?
        while try keysOfTable.step() {
            let (from, to) = (keysOfTable.string(at: 2), keysOfTable.string(at: 3))
            let destinations = to.isEmpty ? [] : [to]
            if keysOfTable.int64(at: 0) == lastID {
                table.foreignKeys[table.foreignKeys.count - 1].columns.append(from)
                table.foreignKeys[table.foreignKeys.count - 1].destinations += destinations
            } else {
                table.foreignKeys.append(
                    DatabaseTable.ForeignKey(
                        table: keysOfTable.string(at: 1), columns: [from],
                        destinations: destinations, onDelete: keysOfTable.string(at: 4)))
            }
            lastID = keysOfTable.int64(at: 0)
        }
    }

    /// Unique indexes of whole columns. A partial index, and one of expressions, is none.
    private func describeIndexes(of table: inout DatabaseTable) throws(SQLError) {
        let indexes = try connection.prepare(
            """
            SELECT name FROM pragma_index_list(?)
            WHERE "unique" AND NOT partial AND origin <> 'pk' ORDER BY seq DESC
            """)
        try indexes.bind(.text(table.name), at: 1)
        while try indexes.step() {
            let parts = try connection.prepare(
                "SELECT coalesce(name, '') FROM pragma_index_info(?) ORDER BY seqno")
            try parts.bind(.text(indexes.string(at: 0)), at: 1)
            var names: [String] = []
            while try parts.step() { names.append(parts.string(at: 0)) }
            if !names.contains("") { table.unique.append(names) }
        }
    }

    private static func failure(_ error: SQLError, _ path: String) -> LarderError {
        switch error.condition {
        case .notADatabase, .corrupt:
            LarderError(
                .malformedValue, "\(path) is not a readable SQLite file (\(error.message))")
        case .tooLarge:
            LarderError(
                .resourceExhausted, "\(path) has more than the maximum of \(tablesMax) tables")
        default: LarderError(.storageFailed, "cannot read \(path): \(error.message)")
        }
    }
}
