import LarderModel

/// The objects that a change by predicate is about, with what was computed of them.
///
/// They wait in a temporary table, which SQLite keeps in a file when it grows: so all are known
/// before the first is changed, however many they are. There is one such table for each number of
/// values; one change at a time uses it.
struct SelectedObjects {
    private static let keyColumn = "key"

    private let statements: StatementCache
    private let table: String
    private let insert: Statement
    private(set) var count: Int64 = 0

    init(valueCount: Int, _ statements: StatementCache) throws(SQLiteError) {
        self.statements = statements
        // No entity's name begins so.
        let name = "_selected_\(valueCount)"
        table = "temp.\(name)"
        let columns =
            ["\(Self.keyColumn) INTEGER PRIMARY KEY"] + (0..<valueCount).map { "value_\($0)" }
        let list = columns.joined(separator: ", ")
        try statements.statement("CREATE TEMP TABLE IF NOT EXISTS \(name) (\(list))").run()
        let places = Array(repeating: "?", count: 1 + valueCount).joined(separator: ", ")
        insert = try statements.statement("INSERT INTO \(table) VALUES (\(places))")
    }

    mutating func append(_ row: [SQLBinding]) throws(SQLiteError) {
        try insert.run(row)
        count += 1
    }

    /// Key and values, in the order of the keys. The statement stays in use until it is reset.
    func rows() throws(SQLiteError) -> Statement {
        try statements.statement("SELECT * FROM \(table) ORDER BY \(Self.keyColumn)")
    }

    /// The keys, in their order. The statement stays in use until it is reset.
    func keys() throws(SQLiteError) -> Statement {
        try statements.statement(
            "SELECT \(Self.keyColumn) FROM \(table) ORDER BY \(Self.keyColumn)")
    }

    /// Makes a column nil in all these objects.
    func clear(_ column: String, of entity: StoredEntity) throws(SQLiteError) {
        let column = SQL.quoted(column)
        try statements.statement(
            "UPDATE \(entity.table) SET \(column) = NULL "
                + "WHERE \(SQL.quoted(Layout.keyColumn)) IN "
                + "(SELECT \(Self.keyColumn) FROM \(table))"
        ).run()
    }

    /// Forgets them.
    func remove() throws(SQLiteError) {
        try statements.statement("DELETE FROM \(table)").run()
    }
}
