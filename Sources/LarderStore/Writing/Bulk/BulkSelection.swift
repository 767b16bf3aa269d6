import LarderModel
import LarderSQL

/// The objects of a bulk update or delete, with the values that were computed for them.
///
/// They are in a temporary table, which SQLite keeps in a file when it grows. So all objects are
/// known before the first is changed, in little memory. There is one such table for each number of
/// values; one change at a time uses it.
struct BulkSelection {
    private static let keyColumn: SQL = "key"

    private let statements: StatementCache
    private let table: SQL
    private let insert: Statement
    private(set) var count: Int64 = 0

    init(valueCount: Int, _ statements: StatementCache) throws(SQLiteError) {
        self.statements = statements
        // No entity's name begins with an underscore.
        let name: SQL = "_selected_\(valueCount)"
        table = "temp.\(name)"
        let columns: [SQL] =
            ["\(Self.keyColumn) INTEGER PRIMARY KEY"] + (0..<valueCount).map { "value_\($0)" }
        try statements.statement("CREATE TEMP TABLE IF NOT EXISTS \(name) (\(columns))").run()
        let parameters = Array(repeating: "?" as SQL, count: 1 + valueCount)
        insert = try statements.statement("INSERT INTO \(table) VALUES (\(parameters))")
    }

    mutating func append(_ row: [SQLValue]) throws(SQLiteError) {
        try insert.run(row)
        count += 1
    }

    /// Reads key and values, in the order of the keys. The caller resets the statement.
    func rows() throws(SQLiteError) -> Statement {
        try statements.statement("SELECT * FROM \(table) ORDER BY \(Self.keyColumn)")
    }

    /// Reads the keys in ascending order. The caller resets the statement.
    func keys() throws(SQLiteError) -> Statement {
        try statements.statement(
            "SELECT \(Self.keyColumn) FROM \(table) ORDER BY \(Self.keyColumn)")
    }

    /// Sets a column of all selected objects to nil.
    func clear(_ column: String, of entity: StoredEntity) throws(SQLiteError) {
        try statements.statement(
            """
            UPDATE \(entity.table) SET \(name: column) = NULL \
            WHERE \(name: Layout.keyColumn) IN (SELECT \(Self.keyColumn) FROM \(table))
            """
        ).run()
    }

    /// Empties the table.
    func remove() throws(SQLiteError) {
        try statements.statement("DELETE FROM \(table)").run()
    }
}
